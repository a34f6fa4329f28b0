"""Verdicts counted against the truth, by hand."""

import pytest

from p2p.analysis.auroc import auroc
from p2p.analysis.intervals import wilson_interval
from p2p.contracts.known_motions import Claim, ClaimKind, Clip
from p2p.lab.contracts.calibration import ClipVerdict, on_target
from p2p.lab.judges.tally import JudgedClaim, tally

K = ClaimKind


def answer(kind: ClaimKind, passed: bool | None, score: float | None, env_id: str = "Ant-v5") -> JudgedClaim:
    claim = Claim(sentence="jump", kind=kind)
    clip = Clip(clip_id="c", env_id=env_id, motion="m", parameters={}, seconds=6.0, claims=(claim,))
    return JudgedClaim(clip, claim, ClipVerdict(passed=passed, score=score))


ANSWERS = [
    answer(K.POSITIVE, True, 1.0),
    answer(K.POSITIVE, False, 0.6),
    answer(K.NEGATIVE, False, 0.1),
    answer(K.NEAR_MISS, True, 0.9),
    answer(K.NEAR_MISS, False, 0.6),
    answer(K.EXPLOIT, None, None, "Hopper-v5"),
]


def test_every_verdict_is_in_its_cell() -> None:
    found = tally("x", ANSWERS)
    assert found.verdicts == {
        K.POSITIVE: {"passed": 1, "failed": 1},
        K.NEGATIVE: {"failed": 1},
        K.NEAR_MISS: {"passed": 1, "failed": 1},
        K.EXPLOIT: {"no_verdict": 1},
    }


def test_the_costly_error_is_a_near_miss_or_exploit_that_passes() -> None:
    found = tally("x", ANSWERS)
    assert (found.costly.count, found.costly.of) == (1, 3)
    assert (found.costly.low, found.costly.high) == wilson_interval(1, 3)
    assert (found.false_fails.count, found.false_fails.of) == (1, 2)
    assert {name: (share.count, share.of) for name, share in found.by_robot.items()} == {
        "Ant-v5": (2, 5),
        "Hopper-v5": (1, 1),
    }


def test_no_verdict_is_a_mistake_but_no_score_of_0() -> None:
    found = tally("x", ANSWERS)
    assert [mistake.passed for mistake in found.mistakes] == [False, True, None]
    assert sum(found.scores[K.EXPLOIT]) == 0
    assert found.auroc == pytest.approx((3 + 2 * 0.5 - 0.5 + 1.0) / 6)  # 1.0 beats all three; 0.6 beats 0.1, ties 0.6


def test_a_judge_without_positives_has_no_auroc_and_no_target() -> None:
    found = tally("x", [answer(K.EXPLOIT, False, 0.2)])
    assert found.auroc is None
    assert found.false_fails.value is None
    assert not on_target(found)


def test_the_targets_are_one_percent_0_995_and_no_variance() -> None:
    right = [answer(K.POSITIVE, True, 1.0)] * 10 + [answer(K.EXPLOIT, False, 0.1)] * 99
    perfect = tally("x", right).model_copy(update={"score_variance": 0.0})
    assert on_target(perfect)
    assert on_target(tally("x", [*right, answer(K.EXPLOIT, True, 0.1)]).model_copy(update={"score_variance": 0.0}))
    two = tally("x", [*right, *[answer(K.EXPLOIT, True, 0.1)] * 2]).model_copy(update={"score_variance": 0.0})
    assert not on_target(two)
    assert not on_target(perfect.model_copy(update={"score_variance": 1e-6}))
    assert not on_target(perfect.model_copy(update={"unsteady": 1}))


@pytest.mark.parametrize(
    ("positives", "negatives", "area"),
    [([1.0], [0.0], 1.0), ([0.0], [1.0], 0.0), ([0.5], [0.5], 0.5), ([1, 0.5], [0.5, 0.0], 0.875), ([], [1.0], None)],
)
def test_auroc_is_the_share_of_pairs_in_the_right_order(positives, negatives, area) -> None:
    assert auroc(positives, negatives) == area
