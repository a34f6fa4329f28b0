"""What a reward prefers among known motions."""

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.paid import Paid
from p2p.analysis.reward_audit import audit
from p2p.contracts.env import EnvSpec
from p2p.envs import catalog
from p2p.rewards.features import measure_trajectory
from p2p.worker.engine.environment import compiled_model
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.reward.evaluator import RewardEvaluator
from p2p.worker.reward.motions import TrialMotion, known_motions
from p2p.worker.reward.preferences import pay
from p2p.worker.reward_source.loader import LoadedReward

SENTENCES = (
    ("HalfCheetah-v5", "run forward as fast as you can"),
    ("HalfCheetah-v5", "run backward"),
    ("HalfCheetah-v5", "do a backflip and land on your feet"),
    ("HalfCheetah-v5", "do a front flip"),
    ("HalfCheetah-v5", "stand on your hind legs"),
    ("HalfCheetah-v5", "stand still"),
    ("HalfCheetah-v5", "jump as high as you can"),
    ("Hopper-v5", "hop forward"),
    ("Hopper-v5", "hop in place"),
    ("Walker2d-v5", "walk forward at 1 m/s"),
    ("Ant-v5", "walk forward"),
    ("Ant-v5", "spin to the left"),
    ("Ant-v5", "jump"),
    ("Humanoid-v5", "walk forward"),
)
RUN = """
def reward_fn(obs, action, next_obs, info):
    terms = {"speed": SIGN * info["x_velocity"], "effort": -0.01 * float((action**2).sum())}
    return sum(terms.values()), terms
"""
LIE = """
def reward_fn(obs, action, next_obs, info):
    terms = {"speed": 0.1 * info["x_velocity"], "calm": -float((info["up"] + 1.0) ** 2)}
    return sum(terms.values()), terms
"""
SPIKE = RUN.replace("SIGN * info", "info").replace('["x_velocity"]', '["x_velocity"] ** 3')
IDLE = """
def reward_fn(obs, action, next_obs, info):
    terms = {"upright": max(0.0, info["up"]), "speed": 0.01 * info["x_velocity"]}
    return sum(terms.values()), terms
"""


def paid_for(env_id: str, sentence: str, source: str | None = None) -> list[Paid]:
    spec = catalog.load(env_id)
    author = BuiltinAuthor()
    intent = author.elicit(sentence, spec)
    motions = known_motions(spec, compiled_model(spec, {}))
    simulation = make_simulation(spec, len(motions))
    reward = LoadedReward(source if source is not None else author.write(intent, spec).source)
    return pay(motions, simulation, RewardEvaluator(reward, simulation, 0), intent)


@pytest.mark.parametrize(("env_id", "sentence"), SENTENCES)
def test_rewards_of_the_built_in_author_prefer_what_was_asked(env_id: str, sentence: str) -> None:
    assert audit(paid_for(env_id, sentence), "") == []


@pytest.mark.parametrize(
    ("env_id", "sentence", "shown"),
    [
        ("HalfCheetah-v5", "do a backflip and land on your feet", "a backflip"),
        ("HalfCheetah-v5", "do a front flip", "a front flip"),
        ("HalfCheetah-v5", "stand on your hind legs", "rearing up"),
        ("Hopper-v5", "hop in place", "hopping in place"),
        ("Walker2d-v5", "walk backward", "moving backward at 1 m/s"),
        ("Ant-v5", "spin to the right", "turning right on the spot"),
    ],
)
def test_a_motion_shows_what_its_name_says(env_id: str, sentence: str, shown: str) -> None:
    """By the judge's own criteria, written for sentences and not for these motions."""
    paid = {motion.name: motion.score for motion in paid_for(env_id, sentence)}
    assert paid.pop(shown) > 0.9
    assert max(paid.values()) < 0.8


def test_a_reward_with_the_wrong_sign_is_told_which_motion_it_prefers() -> None:
    assert audit(paid_for("HalfCheetah-v5", "run forward", RUN.replace("SIGN", "1.0")), RUN) == []
    (issue,) = audit(paid_for("HalfCheetah-v5", "run forward", RUN.replace("SIGN", "-1.0")), RUN)
    assert issue.line == 3
    assert issue.severity == "error"
    assert issue.message.startswith("It pays 'moving backward at 2 m/s'")
    assert " forward" in issue.message.split("only")[0]
    assert "the term 'speed'" in issue.message


def test_a_reward_that_prefers_lying_on_the_back_is_told_so() -> None:
    (issue,) = audit(paid_for("HalfCheetah-v5", "run forward", LIE), LIE, severity="warning")
    assert issue.severity == "warning"
    assert "'lying on its back'" in issue.message
    assert "'calm'" in issue.message


def test_a_reward_that_pays_for_a_spike_is_told_which_term_does() -> None:
    (issue,) = audit(paid_for("HalfCheetah-v5", "run forward", SPIKE), SPIKE)
    assert issue.severity == "warning"
    assert "'speed' pays" in issue.message
    assert "a dash of 6 m forward" in issue.message
    assert issue.line == 3


def test_a_reward_that_is_content_with_standing_still_is_told_so() -> None:
    (issue,) = audit(paid_for("HalfCheetah-v5", "run forward", IDLE), IDLE)
    assert issue.message.startswith("Standing still earns 1 per step, almost as much as")


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5"])
def test_motions_touch_the_floor_and_go_as_fast_as_they_say(env_id: str) -> None:
    spec = catalog.load(env_id)
    motions = {motion.name: motion for motion in known_motions(spec, compiled_model(spec, {}))}
    fast = _features(spec, motions["moving forward at 2 m/s"])
    assert fast["velocity_x"].mean() == pytest.approx(2.0, abs=0.05)
    assert np.abs(fast["clearance"]).max() < 0.02
    flip = _features(spec, motions["a backflip"])
    assert flip["pitch_turns"][-1] == pytest.approx(1.0, abs=0.05)
    assert flip["clearance"].max() == pytest.approx(1.2, abs=0.1)


@pytest.mark.parametrize("env_id", ["Reacher-v5", "Pusher-v5", "InvertedPendulum-v5", "Swimmer-v5"])
def test_a_robot_that_stands_fast_or_swims_shows_nothing(env_id: str) -> None:
    spec = catalog.load(env_id)
    assert known_motions(spec, compiled_model(spec, {})) == []
    assert audit([], "") == []


def _features(spec: EnvSpec, motion: TrialMotion) -> dict[str, np.ndarray]:
    states = Kinematics(compiled_model(spec, {}), spec).read(motion.qpos, motion.qvel)
    return measure_trajectory(spec, states, motion.actions)
