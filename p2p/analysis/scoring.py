"""Scores of a checkpoint from measurements of single rollouts."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from p2p.analysis.intervals import mean_interval, share_interval, wilson_interval
from p2p.analysis.predicates import Measurement
from p2p.contracts.intent import CONDITIONAL, Criterion, Intent, Statistic
from p2p.contracts.judgment import MET_SHARE_NEEDED, CriterionScore, RolloutScore
from p2p.contracts.training import Rollout

Measurements = Sequence[tuple[Measurement, ...]]


@dataclass(frozen=True, slots=True)
class Scores:
    """Measured scores of one checkpoint's rollouts against the intent."""

    criteria: tuple[CriterionScore, ...]
    """Those that code can measure."""
    rollouts: tuple[RolloutScore, ...]
    intent_score: float | None
    """Weighted mean of the criteria's scores in [0, 1]; None when code can measure none of them."""
    success_rate: float | None
    """Share of rollouts that met every required criterion at once; None as above."""
    low: float | None
    """Lower end of its 95 % Wilson interval."""
    high: float | None


def score(
    intent: Intent,
    measurements: Measurements,
    rollouts: Sequence[Rollout],
    met_share_needed: float = MET_SHARE_NEEDED,
) -> Scores:
    """Aggregate measurements over rollouts, without criteria that only eyes can judge.

    Args:
        intent: What was asked.
        measurements: One tuple per rollout, as `measure` returns it.
        rollouts: The rollouts, in the same order.
        met_share_needed: Share of rollouts that must meet a criterion, in [0, 1].

    Raises:
        ValueError: the two sequences differ in length.
    """
    if len(measurements) != len(rollouts):
        raise ValueError(f"{len(measurements)} measurements do not belong to {len(rollouts)} rollouts")
    visual = {m.key for row in measurements for m in row if m.visual}
    criteria = [criterion for criterion in intent.criteria if criterion.key not in visual]
    if not criteria or not rollouts:
        return Scores((), (), None, None, None, None)
    tables = [{m.key: m for m in row} for row in measurements]
    aggregated = tuple(_criterion(c, [table[c.key] for table in tables], met_share_needed) for c in criteria)
    scored = []
    for table, rollout in zip(tables, rollouts, strict=True):
        one = RolloutScore(
            seed=rollout.seed,
            episode_return=rollout.episode_return,
            label=rollout.label,
            intent_score=_weighted_mean(criteria, [table[c.key].score for c in criteria]),
            success=all(table[c.key].met for c in criteria if c.required),
            values={key: measurement.value for key, measurement in table.items()},
        )
        scored.append(one)
    successes = sum(rollout.success for rollout in scored)
    low, high = wilson_interval(successes, len(scored))
    return Scores(
        criteria=aggregated,
        rollouts=tuple(scored),
        intent_score=_weighted_mean(criteria, [criterion.score for criterion in aggregated]),
        success_rate=successes / len(scored),
        low=low,
        high=high,
    )


def _criterion(criterion: Criterion, measured: Sequence[Measurement], met_share_needed: float) -> CriterionScore:
    predicate = criterion.predicate
    assert predicate is not None, "criteria without a predicate are visual"
    values = [m.value for m in measured if m.value is not None]
    interval = _interval(predicate.statistic, values)
    met_share = sum(m.met for m in measured) / len(measured)
    return CriterionScore(
        key=criterion.key,
        title=criterion.title,
        required=criterion.required,
        weight=criterion.weight,
        value=fmean(values) if values else None,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        comparison=predicate.comparison,
        threshold=predicate.threshold,
        upper=predicate.upper,
        unit=predicate.unit,
        score=fmean(m.score for m in measured),
        met_share=met_share,
        met=met_share >= met_share_needed,
    )


def _interval(statistic: Statistic, values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the mean of a statistic, clipped to the statistic's range."""
    low, high = min(values, default=0.0), max(values, default=0.0)  # differences and ratios may leave the usual range
    if statistic is Statistic.FRACTION and low >= 0 and high <= 1:
        return share_interval(values)
    interval = mean_interval(values)
    if interval is None or statistic not in CONDITIONAL or low < 0:
        return interval
    return max(0.0, interval[0]), interval[1]


def _weighted_mean(criteria: Sequence[Criterion], scores: Sequence[float]) -> float:
    weights = [criterion.weight for criterion in criteria]
    return min(1.0, sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights))
