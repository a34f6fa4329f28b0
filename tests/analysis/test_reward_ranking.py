import pytest

from p2p.analysis.paid import Paid
from p2p.analysis.reward_ranking import audit_ranking, rank_correlation, ranking


def paid(name: str, score: float, total: float, **more: object) -> Paid:
    return Paid(name, score, total, {"speed": total}, **more)  # type: ignore[arg-type]


def motions(run: float, stand: float, fall: float, back: float, **more: object) -> list[Paid]:
    return [
        paid("moving forward at 2 m/s", 0.9, run),
        paid("standing still", 0.4, stand, idle=True),
        paid("falling on its nose", 0.1, fall, fallen=True, **more),
        paid("moving backward at 2 m/s", 0.3, back),
    ]


def test_rank_correlation_counts_ties_at_their_mean_rank() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9487, abs=1e-4)  # by hand
    assert rank_correlation([1, 1], [1, 2]) is None


@pytest.mark.parametrize(
    ("pays", "words"),
    [
        ((2.0, 0.0, 0.0, 0.0), "pays the same for 'standing still' as for"),
        ((1.0, 1.0, 1.0, 1.0), "pays the same (1 per step) for every motion"),
        ((2.0, -1.0, -0.5, -2.0), "pays more for 'falling on its nose'"),
        ((-2.0, 0.0, -0.5, 2.0), "ranks known motions differently"),
        ((2.0, 0.0, -1.0, 2.0), "pays 'moving backward at 2 m/s' as much as anything"),
    ],
)
def test_what_a_ranking_says_against_a_reward(pays: tuple[float, ...], words: str) -> None:
    messages = [issue.message for issue in audit_ranking(motions(*pays), terminates=True)]
    assert any(words in message for message in messages), messages


def test_a_slope_below_standing_is_enough() -> None:
    assert audit_ranking(motions(2.0, 0.0, -0.3, -2.0), terminates=False) == []
    assert audit_ranking(motions(2.0, 0.0, 0.0, -2.0), terminates=True) == []
    assert audit_ranking(motions(2.0, 0.0, 0.0, 0.0), terminates=False) == [], "a fallen robot goes on"


def test_the_end_of_an_episode_tells_falling_from_standing() -> None:
    """A bonus per step is the same for both, and is paid for a part of the time alone to one that falls."""
    issues = audit_ranking(motions(3.0, 1.0, 1.0, -1.0, kept=0.2), terminates=True)
    assert issues == []
    found = ranking(motions(3.0, 1.0, 1.0, -1.0, kept=0.2))
    assert found is not None
    assert [one.name for one in found.motions][-2:] == ["falling on its nose", "moving backward at 2 m/s"]


def test_random_actions_that_cost_more_than_the_asked_gains_are_told() -> None:
    noisy = paid("standing still with random actions", 0.4, -3.0, noise_on="standing still")
    (issue,) = audit_ranking([*motions(2.0, 0.0, -0.3, -2.0), noisy], terminates=False)
    assert "holding still is learnt first" in issue.message
    assert audit_ranking([*motions(4.0, 0.0, -0.3, -2.0), noisy], terminates=False) == []
