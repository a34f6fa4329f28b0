"""Curves thinned to what a chart can show."""

import math
from collections.abc import Sequence

from p2p.store.scalar_columns import Column

Points = list[tuple[float, float | None]]
"""Steps and values; None for what is no finite number."""


def thin(column: Column, points: int) -> Points:
    """At most about `points` points of a column, by step; the first and the last that it has are kept.

    Of a column that is kept whole those that shape the curve most (largest triangles); of a longer one the smallest and
    the largest of even stretches. Where it is not finite it has a gap: the first of each stretch that is not is kept.
    """
    if len(column.extremes.low):
        return _extremes(column, points)
    known = [(step, value) for step, value in zip(column.steps, column.values, strict=True) if value == value]
    if len(known) <= points:
        return [(step, value if math.isfinite(value) else None) for step, value in known]
    finite = [point for point in known if math.isfinite(point[1])]
    gaps = [
        (step, None)
        for index, (step, value) in enumerate(known)
        if not math.isfinite(value) and (index == 0 or math.isfinite(known[index - 1][1]))
    ]
    gaps = gaps[:: 1 + 4 * len(gaps) // points]
    kept = largest_triangles([x for x, _ in finite], [y for _, y in finite], points - len(gaps))
    return sorted([*(finite[index] for index in kept), *gaps], key=lambda point: point[0])


def largest_triangles(steps: Sequence[float], values: Sequence[float], points: int) -> list[int]:
    """Indices of at most `points` points that keep the shape of a curve: the first, the last, and one of each part.

    Of every part the point is taken that makes the largest triangle with the one taken before it and the mean of the
    next part (Largest-Triangle-Three-Buckets, Sveinn Steinarsson 2013, http://hdl.handle.net/1946/15343).

    Args:
        steps: Ascending.
        values: Finite, as many.
        points: At least 2.
    """
    last = len(values) - 1
    if last < points:
        return list(range(last + 1))
    if points < 3:
        return [0, last][:points]
    parts = points - 2
    edges = [*(1 + part * (last - 1) // parts for part in range(parts + 1)), last + 1]
    kept = [0]
    for part in range(parts):
        begin, end, after = edges[part : part + 3]
        next_x = sum(steps[end:after]) / (after - end)
        next_y = sum(values[end:after]) / (after - end)
        x, y = steps[kept[-1]], values[kept[-1]]
        slope_x, slope_y = next_x - x, next_y - y
        areas = [
            abs(slope_x * (b - y) - slope_y * (a - x)) for a, b in zip(steps[begin:end], values[begin:end], strict=True)
        ]
        kept.append(begin + areas.index(max(areas)))
    return [*kept, last]


def _extremes(column: Column, points: int) -> Points:
    low, low_step, high, high_step = column.extremes
    tail = [(step, value) for step, value in zip(column.steps, column.values, strict=True) if value == value]
    finite = [(value, step) for step, value in tail if math.isfinite(value)]
    parts = len(low)
    groups = max(1, (points - 4) // 2)
    size = -(-parts // groups)
    kept: dict[float, float | None] = {}
    for begin in range(0, parts, size):
        lows, highs = low[begin : begin + size], high[begin : begin + size]
        smallest, largest = min(lows), max(highs)
        if math.isfinite(smallest):
            kept[low_step[begin + lows.index(smallest)]] = smallest
            kept[high_step[begin + highs.index(largest)]] = largest
        elif known := [step for step in low_step[begin : begin + size] if step == step]:
            kept[known[0]] = None
    if finite:
        for value, step in (min(finite), max(finite)):
            kept[step] = value
    for step, value in ([column.first] if column.first else []) + tail[-1:]:
        kept[step] = value if math.isfinite(value) else None
    return sorted(kept.items(), key=lambda point: point[0])
