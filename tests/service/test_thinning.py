"""Thinned curves against definitions that are slow and plain."""

import math
import random
from itertools import pairwise

import pytest

from p2p.service.progress.thinning import largest_triangles, thin
from p2p.store.scalar_columns import MISSING, NOT_FINITE, Column, Extremes

NONE = Extremes((), (), (), ())


def by_definition(steps: list[float], values: list[float], points: int) -> list[int]:
    """Largest triangles as the thesis words them: areas from the corner points, one bucket after the other."""
    count = len(values)
    buckets = [[0]]
    size = (count - 2) / (points - 2)
    inner = list(range(1, count - 1))
    edges = [int(part * (count - 2) // (points - 2)) for part in range(points - 1)]
    assert abs(edges[1] - size) <= 1
    buckets += [inner[a:b] for a, b in pairwise(edges)] + [[count - 1]]
    kept = [0]
    for place in range(1, len(buckets) - 1):
        after = buckets[place + 1]
        mean = sum(steps[i] for i in after) / len(after), sum(values[i] for i in after) / len(after)
        ax, ay = steps[kept[-1]], values[kept[-1]]

        def area(i: int, ax: float = ax, ay: float = ay, mean: tuple[float, float] = mean) -> float:
            return 0.5 * abs(ax * (values[i] - mean[1]) + steps[i] * (mean[1] - ay) + mean[0] * (ay - values[i]))

        kept.append(max(buckets[place], key=lambda i: (round(area(i), 9), -i)))
    return [*kept, count - 1]


@pytest.mark.parametrize(("count", "points"), [(3, 3), (10, 3), (50, 7), (100, 99), (1000, 50), (997, 100)])
def test_the_largest_triangles_are_those_of_the_definition(count: int, points: int) -> None:
    chance = random.Random(count)
    steps = [float(step) for step in range(0, 64 * count, 64)]
    values = [chance.gauss(0, 1) + 5 * math.sin(step / 5000) for step in steps]
    if count == points:
        assert largest_triangles(steps, values, points) == list(range(count))
    else:
        assert largest_triangles(steps, values, points) == by_definition(steps, values, points)


@pytest.mark.parametrize("points", [2, 3, 4, 10])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 11, 100])
def test_few_points_hold_the_first_and_the_last(count: int, points: int) -> None:
    kept = largest_triangles(list(range(count)), [math.sin(n) for n in range(count)], points)
    assert kept == sorted(set(kept))
    assert len(kept) == min(count, points)
    assert set(kept) >= ({0, count - 1} if count else set())


def test_a_peak_of_one_row_is_kept_whole_or_not() -> None:
    values = [0.0] * 5000
    values[3333], values[4444] = 9.0, -9.0
    steps = [float(n) for n in range(5000)]
    assert {(3333, 9), (4444, -9)} <= set(thin(Column(NONE, steps, values, (0, 0)), 100))
    parts = [range(begin, begin + 50) for begin in range(0, 5000, 50)]
    low = [min(values[n] for n in part) for part in parts]
    high = [max(values[n] for n in part) for part in parts]
    low_step = [float(min(part, key=lambda n: values[n])) for part in parts]
    high_step = [float(max(part, key=lambda n: values[n])) for part in parts]
    kept = thin(Column(Extremes(low, low_step, high, high_step), [5000.0], [1.0], (0.0, 0.0)), 40)
    assert {(3333, 9), (4444, -9), (0, 0), (5000, 1)} <= set(kept)
    assert len(kept) <= 44
    assert kept == sorted(kept)


def test_missing_values_are_left_out_and_gaps_begin_with_none() -> None:
    steps = [float(n) for n in range(8)]
    values = [1.0, MISSING, NOT_FINITE, NOT_FINITE, 2.0, MISSING, NOT_FINITE, 3.0]
    assert thin(Column(NONE, steps, values, (0, 1)), 50) == [
        (0, 1),
        (2, None),
        (3, None),
        (4, 2),
        (6, None),
        (7, 3),
    ]
    long = [NOT_FINITE if 400 <= n < 500 else float(n % 7) for n in range(1000)]
    kept = thin(Column(NONE, [float(n) for n in range(1000)], long, (0, 0)), 60)
    assert [step for step, value in kept if value is None] == [400]
    assert len(kept) <= 60
    assert not any(400 < step < 500 for step, _ in kept)


def test_a_column_that_is_nowhere_finite_does_no_harm() -> None:
    steps = [float(n) for n in range(1000)]
    assert thin(Column(NONE, steps, [NOT_FINITE] * 1000, (0, NOT_FINITE)), 10) == [(0, None)]
    assert thin(Column(NONE, steps, [MISSING] * 1000, None), 10) == []
    mixed = [NOT_FINITE if n % 2 else 1.0 for n in range(1000)]
    assert len(thin(Column(NONE, steps, mixed, (0, 1)), 40)) <= 45
    void = Extremes([math.inf] * 3, [math.nan, 70.0, math.nan], [-math.inf] * 3, [math.nan, 70.0, math.nan])
    assert thin(Column(void, [200.0], [4.0], None), 40) == [(70, None), (200, 4)]
