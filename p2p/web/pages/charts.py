"""Geometry of the small charts that pages draw as SVG: they are there without scripts too."""

from collections.abc import Sequence
from typing import NamedTuple

GAP = 4.0
"""Between a chart's edge and what is drawn [px]."""
LEFT = 44.0
"""The same on the left, where the numbers of the axis are [px]."""


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
            round(LEFT + x / right * (width - LEFT - GAP), 1),
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
        drawn.append(Line(name, "".join(path), end, last))
    return LineChart(tuple(drawn), low, high, right, None if threshold is None else at(0, threshold)[1])


class ScorePoint(NamedTuple):
    """The score of one iteration."""

    iteration: int
    x: float
    y: float
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
    found: Sequence[tuple[int, float | None, float | None, float | None, bool]],
    threshold: float,
    width: float,
    height: float,
) -> ScoreChart:
    """Scores in [0, 1] with the intervals of their success.

    Args:
        found: Number, score, lower and upper end of the interval, and whether it passed, of each iteration.
        threshold: Score needed to pass.
        width: Of the drawing [px].
        height: Of the drawing [px].
    """
    step = (width - 40) / max(len(found), 1)

    def y_of(value: float) -> float:
        return round(height - 20 - value * (height - 30), 1)

    points = tuple(
        ScorePoint(
            number,
            round(30 + step * (place + 0.5), 1),
            y_of(score),
            None if low is None else y_of(low),
            None if high is None else y_of(high),
            passed,
        )
        for place, (number, score, low, high, passed) in enumerate(found)
        if score is not None
    )
    path = "".join(f"{'L' if place else 'M'}{point.x} {point.y}" for place, point in enumerate(points))
    return ScoreChart(points, path, y_of(threshold), step)
