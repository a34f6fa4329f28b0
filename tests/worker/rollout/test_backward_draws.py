"""Which states a curriculum that moves back from a goal draws."""

import numpy as np
import pytest

from p2p.contracts.curriculum import StartCurriculum
from p2p.worker.rollout.backward_draws import EXPLORED, BackwardDraws

BACK = StartCurriculum(goal=("time >= 1",), reverse=True, success=0.8, episodes=5)
EACH = 12


def drawn(draws):
    """States that are drawn more often than all alike."""
    return np.flatnonzero(draws.chances()[0] > 1.01 * EXPLORED / EACH).tolist()


def test_it_begins_at_the_end_and_all_states_are_tried_now_and_then():
    draws = BackwardDraws(1, EACH, BACK)
    assert drawn(draws) == [9, 10, 11]
    assert draws.present == 11
    chances = draws.chances()
    assert chances.sum() == pytest.approx(1.0)
    assert chances.min() == pytest.approx(EXPLORED / EACH)
    counts = np.bincount([draws.draw(np.random.default_rng(seed)) for seed in range(2000)], minlength=EACH)
    assert counts / 2000 == pytest.approx(chances[0], abs=0.04)


def test_it_moves_to_the_neighbours_of_what_succeeds_and_leaves_what_is_mastered():
    draws = BackwardDraws(1, EACH, BACK)
    draws.count(9, True)  # a fifth
    assert drawn(draws) == [7, 8, 9, 10, 11]
    for _ in range(4):
        draws.count(9, True)  # two thirds
    before = draws.chances()[0, 11]
    for _ in range(20):
        draws.count(11, True)
    assert draws.present == 11
    assert draws.chances()[0, 11] < 0.3 * before
    for _ in range(20):
        draws.count(11, False)
    assert draws.chances()[0, 11] == pytest.approx(before)


def test_half_of_the_draws_go_to_where_it_has_come():
    draws = BackwardDraws(1, EACH, BACK)
    assert draws.chances()[0, 9:].sum() > 0.9
    for _ in range(5):
        draws.count(6, True)
    chances = draws.chances()[0]
    assert chances[4:7].sum() > 0.5 + 0.1
    assert chances[4] == pytest.approx(chances[6])
    assert chances[7] < 0.5 * chances[6]


def test_what_lies_behind_a_hard_moment_is_found():
    draws = BackwardDraws(1, EACH, BACK)
    for state in (2, 11):
        draws.count(state, True)
    assert drawn(draws) == [0, 1, 2, 3, 4, 9, 10, 11]


def test_motions_do_not_meet():
    draws = BackwardDraws(2, EACH, BACK)
    draws.count(EACH, True)  # the first state of the second
    more = draws.chances() > 1.01 * EXPLORED / (2 * EACH)
    assert np.flatnonzero(more[0]).tolist() == [9, 10, 11]
    assert np.flatnonzero(more[1]).tolist() == [0, 1, 2, 9, 10, 11]
