"""What the end of a training means."""

import pytest

from p2p.analysis.plateau import advise
from p2p.contracts.advice import CheckpointPoint, Lever, TrainingCourse

STEADY = {"plateau": 1.0, "return_slope": 0.0, "policy_std_ratio": 0.8, "explained_variance": 0.9, "return_last": 12.3}

RISING = {"plateau": 0.0, "return_slope": 0.2}


def course(*successes, **fields):
    points = tuple(
        CheckpointPoint(step=50_000 * n, success_rate=success, score=0.5 + success / 2)
        for n, success in enumerate(successes, 1)
    )
    known = {"total_timesteps": 50_000 * len(points), "episode_s": 5.0, "judged_s": 5.0, "dynamics": STEADY}
    return TrainingCourse(**{**known, "checkpoints": points, **fields})


def levers(*successes, **fields):
    return [advice.lever for advice in advise(course(*successes, **fields))]


@pytest.mark.parametrize(
    ("successes", "fields", "expected"),
    [
        ((0.0, 0.5, 0.9, 0.95), {}, []),
        ((0.0, 0.1, 0.3, 0.5), {}, [Lever.MORE_STEPS]),
        ((0.0, 0.0), {"dynamics": {"plateau": 0.0, "return_slope": 0.2}}, [Lever.MORE_STEPS]),
        ((0.0, 0.0), {"dynamics": {"plateau": 0.0, "return_slope": -0.2}}, []),
        ((0.0, 0.7, 0.6, 0.1), {}, [Lever.STEADIER_UPDATES]),
        ((0.0, 0.7, 0.0), {"dynamics": {"plateau": 0.0, "return_slope": 0.35}}, [Lever.STEADIER_UPDATES]),
        ((0.0, 0.0), {"dynamics": {**STEADY, "policy_std_ratio": 0.1}}, [Lever.MORE_EXPLORATION]),
        ((0.0, 0.0), {"dynamics": {**STEADY, "explained_variance": 0.05}}, [Lever.ANOTHER_NETWORK]),
        ((0.0, 0.0), {}, [Lever.ANOTHER_REWARD]),
        ((0.0, 0.0), {"silent_terms": ("hold",), "judged_s": 6.0}, [Lever.LONGER_EPISODES]),
        ((0.0, 0.0), {"silent_terms": ("hold",)}, [Lever.START_STATES]),
        ((0.0, 0.0), {"silent_terms": ("hold",), "has_start_states": True}, [Lever.ANOTHER_REWARD]),
        ((0.0, 0.1), {"dynamics": {**RISING, "assistance_first": 1.2, "assistance_last": 0.6}}, [Lever.MORE_STEPS]),
        ((0.0, 0.0), {"dynamics": {**STEADY, "assistance_first": 1.2, "assistance_last": 0.0}}, [Lever.ANOTHER_REWARD]),
        ((0.0, 1.0), {"seed_success": (1.0, 0.0)}, [Lever.MORE_SEEDS]),
        ((0.0, 1.0), {"seed_success": (1.0, 0.9)}, []),
    ],
)
def test_each_course_has_its_lever(successes, fields, expected):
    assert levers(*successes, **fields) == expected


def test_steps_are_extrapolated_from_the_rise_and_bounded():
    steps = [advise(course(0.0, 0.2, 0.4, last))[0].config["total_timesteps"] for last in (0.6, 0.46)]
    assert steps[0] == 260_000  # 50,000 more would do, and 1.3 times as many are the least
    assert steps[1] == pytest.approx(483_333, abs=2)
    (slow,) = advise(course(0.3, 0.36))
    assert slow.config["total_timesteps"] == 300_000  # at most three times as many


def test_a_robot_that_is_still_held_up_asks_for_the_steps_that_the_rest_would_take():
    (half,) = advise(course(0.0, 0.0, dynamics={**RISING, "assistance_first": 1.2, "assistance_last": 0.6}))
    (none,) = advise(course(0.0, 0.0, dynamics={**RISING, "assistance_first": 1.2, "assistance_last": 1.2}))
    assert half.config["total_timesteps"] == 200_000
    assert "Of 120% of the robot's weight, 60% were held at the end" in half.finding
    assert none.config["total_timesteps"] == 300_000


def test_the_number_of_new_seeds_follows_from_how_many_were_good():
    (half,) = advise(course(0.0, 1.0, seed_success=(1.0, 0.0)))
    (third,) = advise(course(0.0, 1.0, seed_success=(1.0, 0.0, 0.1)))
    assert "of 4 further ones" in half.text
    assert "of 6 further ones" in third.text


def test_what_a_finding_rests_on_stands_in_it():
    fall, *_ = advise(course(0.0, 0.7, 0.1))
    assert fall.finding == "The success fell from 70% at step 100,000 to 10% at the end."
    (left,) = advise(course(0.0, 0.0, unreached=("holds still",)))
    assert "12.3" in left.finding
    assert "holds still: met in no rollout" in left.finding
