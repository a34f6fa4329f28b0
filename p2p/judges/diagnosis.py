"""A judgment in words, and its stable tags."""

from p2p.analysis.scoring import Scores
from p2p.analysis.windows import SLACK
from p2p.contracts.intent import (
    CONDITIONAL,
    Bound,
    Combination,
    Comparison,
    Criterion,
    Intent,
    Measure,
    Sampling,
    Statistic,
    interval_in_words,
    score_in_words,
)
from p2p.contracts.judgment import MET_SHARE_NEEDED, CriterionScore, Verdict

_OPENING = {Verdict.PASSED: "Passed", Verdict.FAILED: "Not passed", Verdict.NO_VERDICT: "No verdict"}
_VERB = {
    Statistic.MEAN: "mean of",
    Statistic.MIN: "minimum of",
    Statistic.MAX: "maximum of",
    Statistic.START: "first",
    Statistic.FINAL: "final",
    Statistic.CHANGE: "change of",
    Statistic.RANGE: "range of",
    Statistic.STD: "standard deviation of",
    Statistic.PERCENTILE: "percentile of",
    Statistic.STEADINESS: "steadiness of",
    Statistic.RATE: "change per second of",
    Statistic.COUNT_EVENTS: "number of times that",
    Statistic.COUNT_STEPS: "number of steps with",
    Statistic.EVENT_RATE: "times per second that",
    Statistic.FRACTION: "share of the time with",
    Statistic.LONGEST_HOLD: "longest time with",
}
_SAMPLED = {Sampling.WHILE: "while", Sampling.ONSET: "at each beginning of", Sampling.END: "at each end of"}
_JOINED = {
    Combination.DIFFERENCE: "minus",
    Combination.RATIO: "divided by",
    Combination.ASYMMETRY: "compared, as a share of the larger, with",
}
_SYMBOL = {Comparison.AT_LEAST: ">=", Comparison.AT_MOST: "<="}


def describe(intent: Intent, scores: Scores, verdict: Verdict, pass_threshold: float) -> str:
    """Describe the judgment: one line for the whole, then one per criterion, measured against required."""
    known = {criterion.key: criterion for criterion in scores.criteria}
    complete = len(known) == len(intent.criteria)
    successes = sum(rollout.success for rollout in scores.rollouts)
    text = (
        f"{_OPENING[verdict]}: score {score_in_words(scores.intent_score)}, "
        f"{score_in_words(pass_threshold)} is needed; "
        f"{successes} of {len(scores.rollouts)} rollouts met everything required"
        f"{'' if complete else ' that code can measure'} (95 % interval {interval_in_words(scores.low, scores.high)}), "
        f"{MET_SHARE_NEEDED:.0%} are needed."
    )
    if verdict is Verdict.NO_VERDICT:
        text += " What is left needs eyes."
    if _each_met_but_not_together(scores):
        text += " Each required criterion is met often enough, but not all of them in the same rollouts."
    lines = [text]
    for criterion in intent.criteria:
        lines.append("- " + _line(criterion, known.get(criterion.key), len(scores.rollouts)))
    return "\n".join(lines)


def failure_tags(intent: Intent, scores: Scores, verdict: Verdict, pass_threshold: float) -> tuple[str, ...]:
    """Stable snake_case tags of missed criteria, in their order; none if passed.

    `<key>_not_met` for a criterion, with `<key>_too_low`, `<key>_too_high`, `<key>_not_measured` or, when the mean
    is right and too many rollouts are not, `<key>_unsteady`; then `score_too_low` and `not_met_together`.
    """
    if verdict is Verdict.PASSED:
        return ()
    known = {criterion.key: criterion for criterion in scores.criteria}
    tags: list[str] = []
    for criterion in intent.criteria:
        result = known.get(criterion.key)
        if result is None:
            tags.append(f"{criterion.key}_needs_eyes")
        elif not result.met:
            tags += [f"{criterion.key}_not_met", f"{criterion.key}_{_how_it_misses(result)}"]
    if scores.intent_score is not None and scores.intent_score < pass_threshold - SLACK:
        tags.append("score_too_low")
    if _each_met_but_not_together(scores):
        tags.append("not_met_together")
    return tuple(tags)


def _line(criterion: Criterion, result: CriterionScore | None, n_rollouts: int) -> str:
    if result is None or criterion.predicate is None:
        return f"{criterion.title}: needs eyes, not measured."
    enough = "" if result.met else ": NOT enough"
    optional = "" if criterion.required else ", optional"
    met = round(result.met_share * n_rollouts)
    interval = _interval(result.comparison, result.threshold, result.upper)
    versus = criterion.predicate.versus
    second = "" if versus is None else f", {_JOINED[versus.combination]} the {_measure(versus)}"
    claim = _measure(criterion.predicate) + second
    wanted = f"{claim} wanted {interval}{_unit(result)}"
    if result.value is None:
        found = "could not be measured in any rollout: what must come first did not happen, or a value was not finite"
    else:
        spread = "" if result.low is None else f" (95 % interval {result.low:.3g} to {result.high:.3g})"
        found = f"measured {result.value:.3g}{_unit(result)}{spread}"
    return f"{criterion.title} ({criterion.key}{optional}): met in {met} of {n_rollouts}{enough}; {wanted}, {found}."


def _measure(measure: Measure) -> str:
    bounds = " and ".join(f"{_name(b)} {_interval(b.comparison, b.threshold, b.upper)}" for b in measure.where)
    if measure.least_s is not None:
        bounds += f" for at least {measure.least_s:g} s"
    verb = _VERB[measure.statistic]
    if measure.statistic in CONDITIONAL:
        return f"{verb} {bounds}"
    if measure.percent is not None:
        verb = f"{measure.percent:g} % {verb}"
    sampled = "" if measure.at is None else f" {_SAMPLED[measure.at]} {bounds}"
    return f"{verb} {_name(measure)}{sampled}"


def _name(claim: Measure | Bound) -> str:
    return f"|{claim.feature}|" if claim.absolute else str(claim.feature)


def _unit(result: CriterionScore) -> str:
    return "" if result.unit == "1" else f" {result.unit}"


def _interval(comparison: Comparison, threshold: float, upper: float | None) -> str:
    if comparison is Comparison.BETWEEN:
        return f"from {threshold:g} to {upper:g}"
    return f"{_SYMBOL[comparison]} {threshold:g}"


def _how_it_misses(result: CriterionScore) -> str:
    if result.value is None:
        return "not_measured"
    if result.comparison is not Comparison.AT_MOST and result.value < result.threshold - SLACK:
        return "too_low"
    highest = result.threshold if result.comparison is Comparison.AT_MOST else result.upper
    return "too_high" if highest is not None and result.value > highest + SLACK else "unsteady"


def _each_met_but_not_together(scores: Scores) -> bool:
    each = all(criterion.met for criterion in scores.criteria if criterion.required)
    return each and scores.success_rate is not None and scores.success_rate < MET_SHARE_NEEDED
