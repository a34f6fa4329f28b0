"""Curves thinned out for readers who pay by the number."""

import math

import pytest

from p2p.service.progress.curves import curve, thinned


@pytest.mark.parametrize("points", range(2, 51))
@pytest.mark.parametrize("length", [1, 2, 3, 50, 51, 52, 997])
def test_a_curve_has_few_points_with_the_first_and_the_last(length, points):
    kept = thinned([math.sin(index) for index in range(length)], points)
    assert len(kept) <= points
    assert kept == sorted(set(kept))
    assert {0, length - 1} <= set(kept)
    assert length > points or len(kept) == length


def test_a_single_peak_among_a_thousand_rows_is_kept():
    rows = [{"global_step": 64 * index, "approx_kl": 0.01} for index in range(1000)]
    rows[333]["approx_kl"] = 0.9
    rows[666]["approx_kl"] = -0.9
    found = curve("a_seed_1", "approx_kl", rows, "approx_kl", 20)
    assert len(found.steps) <= 20
    assert (max(found.values), min(found.values)) == (0.9, -0.9)
    assert found.steps[found.values.index(0.9)] == 64 * 333


def test_rows_without_a_value_are_left_out_and_infinite_ones_are_none():
    rows = [{"global_step": 1}, {"global_step": 2, "x": None}, {"global_step": 3, "x": 1.23456}, {"x": 4.0}]
    rows += [{"global_step": 4, "x": math.inf}, {"global_step": 5, "x": math.nan}]
    found = curve("a_seed_1", "x", rows, "x", 50)
    assert (found.steps, found.values) == ((3, 4, 5), (1.235, None, None))
    assert curve("a_seed_1", "y", rows, "y", 50) is None


def test_stretches_without_any_number_do_no_harm():
    kept = thinned([None] * 500, 20)
    assert kept[0] == 0
    assert kept[-1] == 499
