"""Thresholds of criteria as lines in a chart of the features they read."""

from collections.abc import Iterable, Iterator

from p2p.contracts.feature_mark import FeatureMark, MarkKind
from p2p.contracts.intent import Criterion, Predicate, Statistic, needed

IN_ITS_UNIT = frozenset(
    {Statistic.MEAN, Statistic.MIN, Statistic.MAX, Statistic.START, Statistic.FINAL, Statistic.PERCENTILE}
)
"""Statistics that are values of the feature: their threshold has a place on its axis."""


def feature_marks(criteria: Iterable[Criterion]) -> tuple[FeatureMark, ...]:
    """Thresholds that can be drawn over a rollout, in the order of the criteria; what only eyes judge has none."""
    return tuple(
        mark
        for criterion in criteria
        if criterion.predicate is not None
        for mark in _marks(criterion, criterion.predicate)
    )


def _marks(criterion: Criterion, predicate: Predicate) -> Iterator[FeatureMark]:
    alone = predicate.versus is None
    if alone and predicate.statistic in IN_ITS_UNIT and predicate.feature is not None:
        said = needed(predicate.comparison, predicate.threshold, predicate.upper, predicate.unit)
        yield FeatureMark(
            key=criterion.key,
            title=f"{predicate.statistic} {said}",
            feature=predicate.feature,
            kind=MarkKind.STATISTIC,
            comparison=predicate.comparison,
            threshold=predicate.threshold,
            upper=predicate.upper,
            absolute=predicate.absolute,
        )
    for bound in predicate.where:
        yield FeatureMark(
            key=criterion.key,
            title=needed(bound.comparison, bound.threshold, bound.upper, ""),
            feature=bound.feature,
            kind=MarkKind.STEP,
            comparison=bound.comparison,
            threshold=bound.threshold,
            upper=bound.upper,
            absolute=bound.absolute,
        )
