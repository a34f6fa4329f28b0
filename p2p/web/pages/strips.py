"""Geometry of strip plots: every judged rollout as a dot on a criterion's axis."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from p2p.contracts.judgment import CriterionScore, RolloutScore

WIDTH, HEIGHT = 300.0, 52.0
"""Of a drawing [px]."""
EDGE = 8.0
"""Left free at both ends [px]."""
BEYOND = 0.12
"""Of the range of values and thresholds, shown beyond both of its ends."""
APART = 48.0
"""Numbers below the axis are at least this far from each other [px]."""
BIN = 5.0
"""Dots closer than this lie above one another [px]."""
LANES = 7
"""So many lie above one another; more cover each other."""
MIDDLE = 18.0
"""Height at which the dots lie [px]."""


class Dot(NamedTuple):
    """One rollout."""

    x: float
    y: float
    label: str | None
    """Which of the recorded ones it is; None for the others."""
    value: float
    seed: int


class Strip(NamedTuple):
    """The rollouts on one axis."""

    dots: tuple[Dot, ...]
    """Those that are recorded last, and so above the others."""
    thresholds: tuple[float, ...]
    """Where the thresholds lie [px]."""
    ticks: tuple[tuple[float, float], ...]
    """Numbers below the axis: where [px], and the value."""
    allowed: tuple[float, float]
    """Between which values meet the criterion [px]."""
    interval: tuple[float, float] | None
    """95 % interval of the mean [px]."""
    mean: float | None
    low: float
    """Smallest of the values and thresholds."""
    high: float
    missing: int
    """Rollouts that could not be measured."""


def strip(criterion: CriterionScore, rollouts: Sequence[RolloutScore]) -> Strip | None:
    """A criterion's values in all judged rollouts; None where none could be measured."""
    values = {place: one.values.get(criterion.key) for place, one in enumerate(rollouts)}
    known = {place: value for place, value in values.items() if value is not None}
    if not known:
        return None
    levels = [level for level in (criterion.threshold, criterion.upper) if level is not None]
    ends = min(*known.values(), *levels), max(*known.values(), *levels)
    wide = (ends[1] - ends[0]) or 1.0
    low, high = ends[0] - BEYOND * wide, ends[1] + BEYOND * wide

    def x_of(value: float) -> float:
        return round(EDGE + (min(high, max(low, value)) - low) / (high - low) * (WIDTH - 2 * EDGE), 1)

    taken = Counter[int]()
    dots = []
    for place, value in sorted(known.items(), key=lambda item: (rollouts[item[0]].label is None, item[0])):
        x = x_of(value)
        lane = taken[round(x / BIN)] % LANES
        taken[round(x / BIN)] += 1
        up = (lane + 1) // 2 * (4 if lane % 2 else -4)
        dots.append(Dot(x, MIDDLE + up, rollouts[place].label, value, rollouts[place].seed))
    bounds = (criterion.low, criterion.high)
    ticks: list[tuple[float, float]] = []
    for level in (*levels, *ends):
        if all(abs(x_of(level) - x) >= APART for x, _ in ticks):
            ticks.append((x_of(level), level))
    return Strip(
        dots=tuple(reversed(dots)),
        thresholds=tuple(x_of(level) for level in levels),
        ticks=tuple(ticks),
        allowed=_allowed(criterion, [x_of(level) for level in levels]),
        interval=(x_of(bounds[0]), x_of(bounds[1])) if bounds[0] is not None and bounds[1] is not None else None,
        mean=None if criterion.value is None else x_of(criterion.value),
        low=ends[0],
        high=ends[1],
        missing=len(rollouts) - len(known),
    )


def _allowed(criterion: CriterionScore, levels: Sequence[float]) -> tuple[float, float]:
    if criterion.upper is not None:
        return levels[0], levels[-1]
    return (levels[0], WIDTH) if criterion.comparison == "at_least" else (0.0, levels[0])
