import numpy as np
import pytest

from p2p.analysis.guardrails import hacking_warning
from p2p.analysis.term_statistics import term_statistics


def test_term_statistics_against_a_hand_computation():
    speed, cost = term_statistics({"speed": np.array([1.0, 2.0, 3.0]), "cost": np.array([-1.0, 0.0, 0.0, -1.0])})
    assert (speed.name, speed.mean, speed.minimum, speed.maximum) == ("speed", 2.0, 1.0, 3.0)
    assert speed.std == pytest.approx(np.sqrt(2 / 3))
    assert (speed.share, cost.share) == (0.8, 0.2)


def test_values_that_are_not_finite_are_left_out_of_the_statistics():
    [term] = term_statistics({"a": np.array([1.0, np.nan, np.inf]), "gone": np.array([np.nan]), "none": np.array([])})
    assert (term.name, term.mean, term.share) == ("a", 1.0, 1.0)


def test_terms_that_are_all_zero_share_nothing():
    assert [t.share for t in term_statistics({"a": np.zeros(3), "b": np.zeros(3)})] == [0.0, 0.0]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_a_return_that_rises_without_the_score_is_noticed_at_any_size(size):
    warning = hacking_warning([size * r for r in (1, 5, 8, 10)], [0.30, 0.28, 0.31, 0.29])
    assert warning is not None
    assert "not asked for" in warning


@pytest.mark.parametrize(
    ("returns", "scores"),
    [
        ([1, 5, 10], [0.1, 0.4, 0.6]),
        ([10, 5, 1], [0.5, 0.4, 0.3]),
        ([5, 5, 5], [0.3, 0.3, 0.3]),
        ([1, 5, 10], [0.95, 0.96, 0.95]),
        ([1, 10], [0.3, 0.3]),
        ([1, None, 10], [0.3, 0.3, 0.3]),
        ([], []),
    ],
)
def test_nothing_is_said_when_there_is_nothing_to_say(returns, scores):
    assert hacking_warning(returns, scores) is None
