"""Reward term for a criterion that no term serves."""

from math import inf

from p2p.agents.builtin.edits import NewTerm
from p2p.contracts.intent import CONDITIONAL, Bound, Comparison, Criterion, Predicate, Statistic

WEIGHT = 0.3
_INSTEAD = {
    "yaw_turns": ("yaw_rate",),
    "pitch_turns": ("pitch_rate",),
    "roll_turns": ("roll_rate",),
    "displacement": ("speed", "velocity_x", "velocity_y"),
    "displacement_x": ("velocity_x",),
    "displacement_y": ("velocity_y",),
    "position_x": ("velocity_x",),
    "position_y": ("velocity_y",),
    "flight_rise": ("clearance",),
}
"""Feature -> what a reward may read in its stead: the rates of a sum, and the clearance where the torso is to rise."""

_OF_NO_STEP = frozenset({Statistic.RANGE, Statistic.STD, Statistic.STEADINESS, Statistic.RATE, Statistic.EVENT_RATE})
"""Statistics that the value at a step does not come nearer to."""


def features_read(predicate: Predicate) -> tuple[str, ...]:
    """Features a criterion depends on, and those that a reward may read in their stead."""
    own = (*((predicate.feature,) if predicate.feature else ()), *(bound.feature for bound in predicate.where))
    return (*own, *(other for name in own for other in _INSTEAD.get(name, ())))


def remedy(criterion: Criterion) -> NewTerm | None:
    """Bounded term that pays for the criterion, or penalises what it forbids; None if no single step shows it."""
    predicate = criterion.predicate
    if predicate is None or predicate.versus is not None or predicate.statistic in _OF_NO_STEP:
        return None
    own = () if predicate.feature is None else (_as_bound(predicate),)
    bounds = (*predicate.where, *own)
    expression = " * ".join(_credit(bound, predicate.margin) for bound in bounds)
    forbids = predicate.statistic in CONDITIONAL and predicate.comparison is Comparison.AT_MOST
    title = criterion.title[:1].lower() + criterion.title[1:]
    return NewTerm(criterion.key, WEIGHT, expression, title.replace('"', "'"), sign=-1 if forbids else 1)


def _as_bound(predicate: Predicate) -> Bound:
    assert predicate.feature is not None, "the contract gives it a feature"
    return Bound(
        feature=predicate.feature,
        comparison=predicate.comparison,
        threshold=predicate.threshold,
        upper=predicate.upper,
        absolute=predicate.absolute,
    )


def _credit(bound: Bound, margin: float) -> str:
    low = -inf
    high = inf
    if bound.comparison is not Comparison.AT_MOST:
        low = bound.threshold
    if bound.comparison is Comparison.AT_MOST:
        high = bound.threshold
    elif bound.upper is not None:
        high = bound.upper
    value = f'abs(info["{bound.feature}"])' if bound.absolute else f'info["{bound.feature}"]'
    return f"tolerance({value}, {_text(low)}, {_text(high)}, {round(margin, 3)!r})"


def _text(value: float) -> str:
    return f'float("{value}")' if abs(value) == inf else repr(round(value, 4))
