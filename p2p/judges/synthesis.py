"""One judgment from two judges: what code measured, and what eyes saw.

A measured criterion is decided by its measurement, whatever eyes say. A criterion that code cannot measure is decided
by eyes. A policy that meets all of them still fails when eyes say that it is not what was meant, or that it exploits
the numbers: both judges must be content.
"""

from collections.abc import Sequence

from p2p.analysis.intervals import wilson_interval
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Comparison, Criterion, Intent
from p2p.contracts.judgment import CriterionScore, Judgment, Verdict
from p2p.contracts.observation import Observation

MET_SHARE_NEEDED = 0.8
"""Share of rollouts that must succeed, as for the judge without eyes."""
SLACK = 1e-9
DISAGREE = "judges_disagree"
EXPLOIT = "suspected_exploit"


def unseen(intent: Intent) -> tuple[Criterion, ...]:
    """The criteria that only eyes can judge: those without a predicate, and those that come after one of them."""
    found: dict[str, Criterion] = {}
    for criterion in intent.criteria:
        if criterion.predicate is None or criterion.after in found:
            found[criterion.key] = criterion
    return tuple(found.values())


def combine(intent: Intent, code: Judgment, observation: Observation) -> Judgment:
    """The judgment of both.

    Args:
        intent: What was asked.
        code: By code alone, over the report rollouts.
        observation: What eyes saw of the same rollouts. Where it decides a measured criterion, that is left out.

    Returns:
        The score is the weighted mean over all criteria, where one judged by eyes counts 1 or 0. A rollout succeeds
        when it meets everything required that is measured, and eyes are content with the policy as a whole: if not,
        none does, so that an exploit is never the best attempt. Where code could not measure what it should have
        measured, eyes do not replace it, and there is no verdict.

    Raises:
        InvalidInput: the observation says nothing of a criterion that only eyes can judge.
        UnknownName: it decides a criterion that there is not.
    """
    _check(intent, observation)
    measured, for_eyes = {score.key: score for score in code.criteria}, unseen(intent)
    if any(criterion not in for_eyes and criterion.key not in measured for criterion in intent.criteria):
        return _signed(code, observation)
    scores = tuple(measured.get(c.key) or _by_eyes(c, observation.criteria[c.key]) for c in intent.criteria)
    content = observation.is_what_was_meant and not observation.suspected_exploit.strip()
    accepted = content and all(score.met for score in scores if score.by_eyes and score.required)
    by_numbers = _score(scores)
    score = by_numbers if content else min(by_numbers, observation.score)
    n, successes = len(code.rollouts), sum(rollout.success for rollout in code.rollouts)
    rate = (successes / n if n else 1.0) if accepted else 0.0
    low, high = wilson_interval(successes if accepted else 0, n) if n else (None, None)
    passed = accepted and rate >= MET_SHARE_NEEDED and score >= code.pass_threshold - SLACK
    good_numbers = _good_numbers(scores, by_numbers, successes / n if n else 1.0, code.pass_threshold)
    verdict = Verdict.PASSED if passed else Verdict.FAILED
    combined = code.model_copy(
        update={
            "verdict": verdict,
            "intent_score": score,
            "success_rate": rate,
            "success_low": low,
            "success_high": high,
            "criteria": scores,
            "failure_tags": () if passed else _tags(code, scores, observation, good_numbers and not content),
        }
    )
    return _signed(combined.model_copy(update={"diagnosis": _describe(combined, code, observation)}), observation)


def _check(intent: Intent, observation: Observation) -> None:
    keys = [criterion.key for criterion in intent.criteria]
    for key in observation.criteria:
        if key not in keys:
            raise UnknownName("criterion", key, keys)
    missing = [criterion for criterion in unseen(intent) if criterion.key not in observation.criteria]
    if missing:
        named = "; ".join(f"{criterion.key} ({criterion.title})" for criterion in missing)
        raise InvalidInput(
            f"Only eyes can judge {named}, and the observation does not say whether it is met. "
            f"Add to its `criteria`: {', '.join(f'{c.key}: true or false' for c in missing)}."
        )


def _by_eyes(criterion: Criterion, met: bool) -> CriterionScore:
    return CriterionScore(
        key=criterion.key,
        title=criterion.title,
        required=criterion.required,
        weight=criterion.weight,
        value=float(met),
        low=None,
        high=None,
        comparison=Comparison.AT_LEAST,
        threshold=1.0,
        upper=None,
        unit="1",
        score=float(met),
        met_share=float(met),
        met=met,
        by_eyes=True,
    )


def _score(scores: Sequence[CriterionScore]) -> float:
    return min(1.0, sum(s.weight * s.score for s in scores) / sum(s.weight for s in scores))


def _good_numbers(scores: Sequence[CriterionScore], score: float, rate: float, threshold: float) -> bool:
    """Whether it would have passed if eyes had been content."""
    seen = all(one.met for one in scores if one.by_eyes and one.required)
    return seen and rate >= MET_SHARE_NEEDED and score >= threshold - SLACK


def _tags(
    code: Judgment, scores: Sequence[CriterionScore], observation: Observation, disagree: bool
) -> tuple[str, ...]:
    """Those of code, then of criteria that eyes decided, then of the observation; each once."""
    decided = {f"{score.key}_needs_eyes" for score in scores if score.by_eyes}
    tags = [tag for tag in code.failure_tags if tag not in decided]
    tags += [f"{score.key}_not_met" for score in scores if score.by_eyes and not score.met]
    tags += [EXPLOIT] if observation.suspected_exploit.strip() else []
    tags += [DISAGREE] if disagree else []
    return tuple(dict.fromkeys([*tags, *observation.failure_tags]))


def _describe(judgment: Judgment, code: Judgment, observation: Observation) -> str:
    """One line for the whole, one per criterion, then what eyes saw."""
    opening = "Passed" if judgment.passed else "Not passed"
    lines = [
        f"{opening}: score {judgment.intent_score:.2f}, {judgment.pass_threshold:.2f} is needed; "
        f"{judgment.success_rate:.0%} of {judgment.n_rollouts} rollouts do what was asked, measured by code and "
        f"looked at by {_who(observation)}."
    ]
    decided = {score.title for score in judgment.criteria if score.by_eyes}
    lines += [line for line in code.diagnosis.splitlines()[1:] if not _is_about(line, decided)]
    for score in judgment.criteria:
        if score.by_eyes:
            lines.append(f"- {score.title} ({score.key}): {'met' if score.met else 'NOT met'}, by eyes.")
        elif observation.criteria.get(score.key, score.met) != score.met:
            lines.append(f"- {score.key}: eyes see it otherwise; the measurement counts.")
    if observation.suspected_exploit.strip():
        lines.append(f"Suspected exploit: {observation.suspected_exploit.strip()}")
    elif not observation.is_what_was_meant:
        lines.append("Eyes: this is not what was meant.")
    return "\n".join([*lines, f"Eyes: {observation.diagnosis.strip()}"])


def _is_about(line: str, titles: set[str]) -> bool:
    return any(line.startswith(f"- {title}: needs eyes") for title in titles)


def _who(observation: Observation) -> str:
    """ "calling_agent", with the model where it is known."""
    named = "/".join(name for name in (observation.provider, observation.model) if name)
    return f"{observation.observer} ({named})" if named else observation.observer


def _signed(judgment: Judgment, observation: Observation) -> Judgment:
    provenance = judgment.provenance.model_copy(
        update={
            "judge": "code+eyes",
            "observer": observation.observer,
            "provider": observation.provider,
            "model": observation.model,
        }
    )
    return judgment.model_copy(
        update={"provenance": provenance, "observation": observation, "scoring_method": "code_and_eyes"}
    )
