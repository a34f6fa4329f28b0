import math
from statistics import NormalDist, fmean

import numpy as np
import pytest

from p2p.analysis.intervals import mean_interval, share_interval, t_quantile, wilson_interval


def student_cdf(t, freedom):
    """By integrating the density, as an independent computation."""
    x = np.linspace(-t, t, 200_001)
    log_norm = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    density = np.exp(log_norm - (freedom + 1) / 2 * np.log1p(x * x / freedom))
    return 0.5 + 0.5 * float(np.sum((density[1:] + density[:-1]) / 2) * (x[1] - x[0]))


@pytest.mark.parametrize("freedom", [1, 2, 5, 10, 11, 12, 19, 49, 200])
def test_student_quantiles_hold_ninety_five_percent(freedom):
    assert student_cdf(t_quantile(freedom), freedom) == pytest.approx(0.975, abs=1e-5)


def test_student_quantiles_approach_the_normal_one():
    assert t_quantile(10**6) == pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-5)


def test_the_interval_of_a_mean_against_a_hand_computation():
    low, high = mean_interval([1.0, 2.0, 3.0])
    assert low == pytest.approx(2.0 - 4.30265 / math.sqrt(3))
    assert high == pytest.approx(2.0 + 4.30265 / math.sqrt(3))


def test_one_value_has_no_interval():
    assert mean_interval([3.0]) is None
    assert mean_interval([]) is None


def test_equal_values_have_an_interval_of_no_width():
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0), (16, 20, 0.5840, 0.9193), (1, 1, 0.2065, 1.0)],
)
def test_wilson_intervals_against_known_values(successes, n, low, high):
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_shares_that_cannot_be_are_refused(successes, n):
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(successes, n)


@pytest.mark.parametrize("values", [[1.0] * 49 + [0.9], [0.0] * 49 + [0.03], [1.0] * 50, [0.0] * 50, [0.5, 0.6, 0.4]])
def test_the_interval_of_shares_stays_inside_what_a_share_can_be(values: list[float]) -> None:
    low, high = share_interval(values) or (None, None)
    assert 0 <= low <= fmean(values) <= high <= 1
    assert (low, high) != (1.0, 1.0), "50 of 50 is not certain"
    assert (low, high) != (0.0, 0.0)


def test_shares_of_0_and_1_have_wilsons_interval_and_spread_ones_students() -> None:
    assert share_interval([1.0] * 8 + [0.0] * 2) == pytest.approx(wilson_interval(8, 10), abs=0.02)
    values = [0.4 + 0.004 * index for index in range(50)]
    assert share_interval(values) == pytest.approx(mean_interval(values), abs=0.003)
    with pytest.raises(ValueError, match="shares in"):
        share_interval([0.5, 1.2])
