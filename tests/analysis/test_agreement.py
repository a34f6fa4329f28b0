import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.analysis.agreement import agreement, kappa, spearman

scores = st.floats(0, 1)


def test_judges_that_say_the_same_agree_wholly() -> None:
    found = agreement([0.1, 0.5, 0.9], [0.1, 0.5, 0.9], 0.8)
    assert (found.n, found.spearman, found.kappa, found.same_side) == (3, pytest.approx(1.0), 1.0, 1.0)


def test_the_order_is_what_spearman_looks_at_and_ties_share_a_rank() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 4000]) == pytest.approx(1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)  # by hand: 4.5 / sqrt(4.5 * 5)


def test_kappa_counts_what_chance_would_not_do() -> None:
    """The table of twenty pairs with 15 the same and marginals of one half and 0.6: (0.75 - 0.5) / (1 - 0.5)."""
    pairs = [(True, True)] * 8 + [(True, False)] * 2 + [(False, True)] * 4 + [(False, False)] * 6
    assert kappa(pairs) == pytest.approx((0.7 - 0.5) / 0.5)


def test_what_cannot_be_said_is_not_said() -> None:
    assert agreement([], [], 0.5).same_side is None
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert kappa([(True, True)] * 5) is None
    with pytest.raises(ValueError, match="got 1 and 2"):
        agreement([1], [1, 0], 0.5)


@given(st.lists(st.tuples(scores, scores), max_size=30))
def test_neither_judge_comes_first(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one, other = agreement(first, second, 0.5), agreement(second, first, 0.5)
    assert one.same_side == other.same_side
    assert one.kappa == (None if other.kappa is None else pytest.approx(other.kappa))
    assert one.spearman == (None if other.spearman is None else pytest.approx(other.spearman))
    assert one.spearman is None or -1.0000001 <= one.spearman <= 1.0000001
