import math
from statistics import NormalDist

import numpy as np
import pytest

from p2p.analysis.intervals import mean_interval, t_quantile, wilson_interval


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
