import math

import numpy as np
import pytest

from p2p.rewards.tolerance import tolerance


@pytest.mark.parametrize(
    ("x", "low", "high", "margin", "credit"),
    [
        (1.0, 0.8, 1.2, 1.0, 1.0),
        (0.8, 0.8, 1.2, 1.0, 1.0),
        (0.3, 0.8, 1.2, 1.0, 0.5),
        (1.7, 0.8, 1.2, 1.0, 0.5),
        (-0.2, 0.8, 1.2, 1.0, 0.0),
        (-9.0, 0.8, 1.2, 1.0, 0.0),
        (5.0, 2.0, math.inf, 1.0, 1.0),
        (1.5, 2.0, math.inf, 1.0, 0.5),
        (-5.0, -math.inf, 0.0, 2.0, 1.0),
        (1.0, -math.inf, 0.0, 2.0, 0.5),
        (1.0, 1.0, 1.0, 0.0, 1.0),
        (1.1, 1.0, 1.0, 0.0, 0.0),
        (math.inf, 0.0, math.inf, 1.0, 1.0),
        (-math.inf, -math.inf, 0.0, 1.0, 1.0),
        (math.inf, 0.0, 1.0, 1.0, 0.0),
    ],
)
def test_credit_is_full_inside_and_falls_linearly_outside(x, low, high, margin, credit):
    assert tolerance(x, low, high, margin) == pytest.approx(credit)
    assert tolerance(np.array([x, x]), low, high, margin) == pytest.approx([credit, credit])


def test_numbers_give_numbers_and_arrays_give_arrays_of_their_shape():
    assert type(tolerance(np.float64(0.5), 0.0, 1.0, 1.0)) is float
    assert tolerance(np.zeros((2, 3)), 0.0, 1.0, 1.0).shape == (2, 3)


def test_an_empty_interval_is_refused():
    with pytest.raises(ValueError, match="low must not be above high, got 2 and 1"):
        tolerance(0.0, 2, 1, 1)


def test_a_negative_margin_is_refused():
    with pytest.raises(ValueError, match="margin must not be negative, got -1"):
        tolerance(0.0, 0, 1, -1)
