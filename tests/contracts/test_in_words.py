"""Scores and shares as every door shows them."""

import pytest

from p2p.contracts.env import without_hash
from p2p.contracts.intent import interval_in_words, score_in_words, share_in_words


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.9989, "0.998"), (0.9996, "0.999"), (1.0, "1"), (0.69999, "0.699"), (0.7, "0.7"), (0.29, "0.29"), (None, "–")],
)
def test_a_score_is_rounded_down_so_that_it_never_seems_to_pass(score: float | None, shown: str) -> None:
    assert score_in_words(score) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.996, "99%"), (0.9999, "99%"), (1.0, "100%"), (0.29, "29%"), (0.5799999, "57%"), (0.0, "0%"), (None, "–")],
)
def test_a_share_is_rounded_down_so_that_it_never_seems_to_be_all(share: float | None, shown: str) -> None:
    assert share_in_words(share) == shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.8116, 0.9684, "81% to 97%"), (0.9286, 1.0, "92% to 100%"), (0.0, 0.07, "0% to 7%"), (None, None, "–")],
)
def test_an_interval_of_a_share_is_rounded_outward(low: float | None, high: float | None, shown: str) -> None:
    assert interval_in_words(low, high) == shown


@pytest.mark.parametrize(
    ("env_id", "shown"),
    [
        ("my_rover-0a1b2c3d", "my_rover"),
        ("Hopper-v5", "Hopper-v5"),
        ("mine:Hopper-0a1b2c3d-v1", "mine:Hopper-0a1b2c3d-v1"),
        ("Rover-0a1b2c3d", "Rover-0a1b2c3d"),
    ],
)
def test_a_robot_from_a_model_file_is_shown_by_its_name(env_id: str, shown: str) -> None:
    assert without_hash(env_id) == shown
