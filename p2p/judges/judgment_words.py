"""A judgment of code and eyes, in words."""

from p2p.contracts.intent import interval_in_words, score_in_words, share_in_words
from p2p.contracts.judgment import Judgment, Observation, Observer, Sight, Verdict
from p2p.judges.agreement import apart, measured_score, sight

OBSERVERS: dict[Observer, str] = {
    "api": "a model",
    "client_sampling": "the client's model",
    "calling_agent": "the calling agent",
    "person": "a person",
}


def describe(judgment: Judgment, code: Judgment, observation: Observation) -> str:
    """Describe it: one line for the whole, one per criterion, then the observation."""
    lines = [_opening(judgment, observation)]
    decided = {score.title for score in judgment.criteria if score.by_eyes}
    lines += [
        line
        for line in code.diagnosis.splitlines()[1:]
        if not any(line.startswith(f"- {title}: needs eyes") for title in decided)
    ]
    evidence = {finding.key: finding.evidence.strip() for finding in observation.findings}
    for score in judgment.criteria:
        if score.by_eyes:
            said = sight(observation, score.key)
            state = {Sight.MET: "met", Sight.PARTIALLY_MET: "partially met"}.get(said or Sight.NOT_MET, "not met")
            why = f" {evidence[score.key]}" if evidence.get(score.key) else ""
            lines.append(f"- {score.title} ({score.key}): {state}, by eyes.{why}")
        elif observation.criteria.get(score.key, score.met) != score.met:
            lines.append(f"- {score.key}: eyes see it otherwise; the measurement counts.")
    if observation.suspected_exploit.strip():
        lines.append(f"Suspected exploit: {observation.suspected_exploit.strip()}")
    elif not observation.is_what_was_meant:
        lines.append("Eyes: this is not what was meant.")
    if apart(code, observation):
        again = ", also after a second look" if len(observation.scores) > 1 else ""
        lines.append(
            f"The judges disagree: eyes score it {score_in_words(observation.score)}, "
            f"code {score_in_words(measured_score(code))}{again}."
        )
    lines += [f"Different from usual: {observation.fallback}"] if observation.fallback else []
    return "\n".join([*lines, f"Eyes: {observation.diagnosis.strip()}"])


def _opening(judgment: Judgment, observation: Observation) -> str:
    if judgment.verdict is Verdict.NO_VERDICT:
        return f"No verdict: {_who(observation)} cannot tell from the pictures what only eyes can judge."
    opening = "Passed" if judgment.passed else "Not passed"
    threshold = score_in_words(judgment.pass_threshold)
    reached = f"score {score_in_words(judgment.intent_score)}, {threshold} is needed"
    if judgment.measured_success_rate is not None:
        met = round(judgment.measured_success_rate * judgment.n_rollouts)
        interval = interval_in_words(judgment.measured_success_low, judgment.measured_success_high)
        return (
            f"{opening}: {reached}; {_who(observation)} looked and did not accept it. By code alone {met} of "
            f"{judgment.n_rollouts} rollouts met everything required that is measured (95 % interval "
            f"{interval})."
        )
    return (
        f"{opening}: {reached}; {share_in_words(judgment.success_rate)} of {judgment.n_rollouts} rollouts do what was "
        f"asked, measured by code and looked at by {_who(observation)}."
    )


def _who(observation: Observation) -> str:
    """Words for an observer, with the model where it is known."""
    named = "/".join(name for name in (observation.provider, observation.model) if name)
    who = OBSERVERS[observation.observer]
    return f"{who} ({named})" if named else who
