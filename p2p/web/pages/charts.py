"""Geometry of the small charts that pages draw as SVG: they are there without scripts too."""

from collections.abc import Sequence
from typing import NamedTuple

GAP = 4.0
"""Between a chart's edge and what is drawn [px]."""
LEFT = 44.0
"""The same on the left, where the numbers of the axis are [px]."""


RIGHT = 96.0
"""The same on the right of lines, where their names are [px]."""
NAMES_APART = 14.0
"""Between two names at the ends of lines [px]."""


class Spark(NamedTuple):
    """Bars of scores with a threshold, each (x, y, width, height, whether it reaches the threshold)."""

    bars: tuple[tuple[float, float, float, float, bool], ...]
    threshold_y: float
    width: float


def spark(scores: Sequence[float | None], threshold: float, height: float = 20.0) -> Spark:
    """A sparkline of scores in [0, 1]; one that could not be measured leaves its place empty.

    Args:
        scores: Oldest first.
        threshold: Score needed to pass.
        height: Of the drawing [px].
    """
    step, bar = 7.0, 5.0
    bars = []
    for place, score in enumerate(scores):
        if score is not None:
            tall = max(1.5, score * (height - 2))
            bars.append((step * place + 1, round(height - tall, 1), bar, round(tall, 1), score >= threshold))
    return Spark(tuple(bars), round(height - threshold * (height - 2), 1), step * max(len(scores), 1) + 1)


class Line(NamedTuple):
    """One line of a chart."""

    name: str
    path: str
    """`d` of an SVG path, in pieces where values are missing."""
    end: tuple[float, float] | None
    """Where it ends; None without a value."""
    last: float | None
    name_y: float
    """Height of its name, which stands right of the chart; names do not cover each other."""


class LineChart(NamedTuple):
    """Lines over a common axis."""

    lines: tuple[Line, ...]
    low: float
    high: float
    x_high: float
    threshold_y: float | None


def lines(
    series: Sequence[tuple[str, Sequence[float], Sequence[float | None]]],
    width: float,
    height: float,
    x_high: float = 0.0,
    span: tuple[float, float] | None = None,
    threshold: float | None = None,
) -> LineChart | None:
    """Lines of some series; None where none has a value.

    Args:
        series: Name, x and y of each.
        width: Of the drawing [px].
        height: Of the drawing [px].
        x_high: Right end of the axis, at least; the left one is 0.
        span: Lower and upper end of the y axis; None takes them from the values.
        threshold: Drawn as a line across.
    """
    values = [y for _, _, ys in series for y in ys if y is not None]
    if not values:
        return None
    low, high = span or (min(values), max(values))
    if threshold is not None:
        low, high = min(low, threshold), max(high, threshold)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    right = max(x_high, *(max(xs) for _, xs, _ in series if xs), 1e-9)

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            round(LEFT + x / right * (width - LEFT - RIGHT), 1),
            round(height - GAP - (y - low) / (high - low) * (height - 2 * GAP), 1),
        )

    drawn = []
    for name, xs, ys in series:
        path, pen_down, end, last = [], False, None, None
        for x, y in zip(xs, ys, strict=True):
            if y is None:
                pen_down = False
                continue
            end, last = at(x, y), y
            path.append(f"{'L' if pen_down else 'M'}{end[0]} {end[1]}")
            pen_down = True
        drawn.append(Line(name, "".join(path), end, last, 0.0))
    heights = _apart([None if line.end is None else line.end[1] for line in drawn], height)
    named = tuple(line._replace(name_y=y) for line, y in zip(drawn, heights, strict=True))
    return LineChart(named, low, high, right, None if threshold is None else at(0, threshold)[1])


def _apart(wanted: Sequence[float | None], height: float) -> list[float]:
    """Heights near those wanted, `NAMES_APART` from each other where there is room; None has none and gets 0.

    Args:
        wanted: Where each line ends [px].
        height: Of the drawing [px].
    """
    order = sorted((y, place) for place, y in enumerate(wanted) if y is not None)
    step = min(NAMES_APART, (height - 2 * GAP) / max(1, len(order)))
    found = [0.0] * len(wanted)
    above = GAP
    for rank, (y, place) in enumerate(order):
        lowest = height - GAP - step * (len(order) - rank - 1)
        found[place] = round(min(max(y + 4, above + step), lowest), 1)
        above = found[place]
    return found


class ScorePoint(NamedTuple):
    """The score of one iteration."""

    iteration: int
    x: float
    y: float
    success_y: float | None
    """Share of rollouts that met everything required; None where that was not measured."""
    low_y: float | None
    high_y: float | None
    passed: bool


class ScoreChart(NamedTuple):
    """Scores by iteration."""

    points: tuple[ScorePoint, ...]
    path: str
    threshold_y: float
    step: float


def scores(
    found: Sequence[tuple[int, float | None, tuple[float, float, float] | None, bool]],
    threshold: float,
    width: float,
    height: float,
) -> ScoreChart:
    """Scores in [0, 1], and beside each the share of rollouts that met everything required, with its interval.

    Args:
        found: Of each iteration its number, score, success (share, lower and upper end of its 95 % interval), and
            whether it passed.
        threshold: Score needed to pass.
        width: Of the drawing [px].
        height: Of the drawing [px].
    """
    step = (width - 40) / max(len(found), 1)

    def y_of(value: float) -> float:
        return round(height - 20 - value * (height - 30), 1)

    points = []
    for place, (number, score, success, passed) in enumerate(found):
        if score is None:
            continue
        at = round(30 + step * (place + 0.5), 1)
        share, low, high = (None, None, None) if success is None else map(y_of, success)
        points.append(ScorePoint(number, at, y_of(score), share, low, high, passed))
    path = "".join(f"{'L' if place else 'M'}{point.x} {point.y}" for place, point in enumerate(points))
    return ScoreChart(tuple(points), path, y_of(threshold), step)
