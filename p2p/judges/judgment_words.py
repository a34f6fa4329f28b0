"""A judgment of code and eyes, in words."""

from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.observation import Observation, Observer, Sight
from p2p.judges.agreement import apart, measured_score, sight

OBSERVERS: dict[Observer, str] = {
    "api": "a model",
    "client_sampling": "the client's model",
    "calling_agent": "the calling agent",
}


def describe(judgment: Judgment, code: Judgment, observation: Observation) -> str:
    """One line for the whole, one per criterion, then what eyes saw."""
    lines = [_opening(judgment, observation)]
    decided = {score.title for score in judgment.criteria if score.by_eyes}
    lines += [line for line in code.diagnosis.splitlines()[1:] if not _is_about(line, decided)]
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
            f"The judges disagree: eyes score it {observation.score:.2f}, code {measured_score(code):.2f}{again}."
        )
    lines += [f"Done otherwise than usual: {observation.fallback}"] if observation.fallback else []
    return "\n".join([*lines, f"Eyes: {observation.diagnosis.strip()}"])


def _opening(judgment: Judgment, observation: Observation) -> str:
    if judgment.verdict is Verdict.NO_VERDICT:
        return f"No verdict: {_who(observation)} cannot tell from the pictures what only eyes can judge."
    opening = "Passed" if judgment.passed else "Not passed"
    if judgment.measured_success_rate is not None:
        met = round(judgment.measured_success_rate * judgment.n_rollouts)
        low, high = judgment.measured_success_low or 0.0, judgment.measured_success_high or 0.0
        return (
            f"{opening}: score {judgment.intent_score:.2f}, {judgment.pass_threshold:.2f} is needed; "
            f"{_who(observation)} looked and did not accept it. By code alone {met} of "
            f"{judgment.n_rollouts} rollouts met everything required that is measured (95 % interval {low:.0%} to "
            f"{high:.0%})."
        )
    return (
        f"{opening}: score {judgment.intent_score:.2f}, {judgment.pass_threshold:.2f} is needed; "
        f"{judgment.success_rate:.0%} of {judgment.n_rollouts} rollouts do what was asked, measured by code and "
        f"looked at by {_who(observation)}."
    )


def _is_about(line: str, titles: set[str]) -> bool:
    return any(line.startswith(f"- {title}: needs eyes") for title in titles)


def _who(observation: Observation) -> str:
    """Words for an observer, with the model where it is known."""
    named = "/".join(name for name in (observation.provider, observation.model) if name)
    who = OBSERVERS[observation.observer]
    return f"{who} ({named})" if named else who
