"""Ends of training episodes by bounds: where one first holds, never in evaluation, and after a resume as well."""

import numpy as np
import pytest
from pydantic import ValidationError

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.policy import NumpyPolicy
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.rollout.ending import EndRule
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.rollout.training_env import TrainingEnv

CHEETAH = catalog.load("HalfCheetah-v5")
N = 4
WAY = 0.03


def training_env(*texts, lost=(), n=N):
    config = TrainConfig(end_when=texts, end_when_lost=lost, episode_s=2.0)
    env = VecEnv(config, CHEETAH, n)
    rule = EndRule(config.end_when, config.end_when_lost, env.simulation)
    return TrainingEnv(env, PolicyInputs(config, env), 0, rule=rule)


def actions(t, n=N):
    return np.random.default_rng(t).uniform(-1, 1, (n, 6)).astype(np.float32)


def test_an_episode_ends_at_the_first_step_where_a_bound_holds():
    env = training_env(f"abs(displacement_x) >= {WAY}")
    origin, ends = np.zeros(N), 0
    for t in range(80):
        step = env.step(actions(t))
        origin[step.starts] = step.before.qpos[step.starts, 0]
        gone = np.abs(step.after.qpos[:, 0] - origin) >= WAY
        assert np.array_equal(step.terminated, gone)
        ends += gone.sum()
        assert np.array_equal(env.take_block().terminated[0], gone)
    assert ends > 10


def test_any_of_several_bounds_ends_it_and_expressions_and_parts_can_be_read():
    env = training_env("1000*up <= -2000", f"displacement_x + 0*height >= {WAY}", "clearance:bfoot >= 50")
    ended = np.array([env.step(actions(t)).terminated for t in range(80)])
    alone = training_env(f"displacement_x >= {WAY}")
    assert ended.any()
    assert np.array_equal(ended, [alone.step(actions(t)).terminated for t in range(80)])


def test_an_episode_ends_where_a_bound_that_has_held_is_lost():
    env = training_env(lost=(f"displacement_x >= {WAY}",))
    origin, held, ends = np.zeros(N), np.zeros(N, bool), 0
    for t in range(200):
        step = env.step(actions(t))
        origin[step.starts] = step.before.qpos[step.starts, 0]
        held[step.starts] = False
        there = step.after.qpos[:, 0] - origin >= WAY
        assert np.array_equal(step.terminated, held & ~there)
        ends += step.terminated.sum()
        held |= there
    assert ends > 10


@pytest.mark.parametrize(
    "rules",
    [{"texts": [f"abs(displacement_x) >= {WAY}"]}, {"texts": [], "lost": [f"displacement_x >= {WAY}"]}],
    ids=["reached", "lost"],
)
def test_what_goes_on_from_a_saved_state_ends_at_the_same_steps(rules):
    whole, begun, after = (training_env(*rules["texts"], lost=rules.get("lost", ())) for _ in range(3))
    expected = np.array([whole.step(actions(t)).terminated for t in range(60)])
    for t in range(25):
        begun.step(actions(t))
    after.restore(begun.state())
    assert expected[25:].any()
    assert np.array_equal(expected[25:], [after.step(actions(t)).terminated for t in range(25, 60)])


def test_evaluation_runs_its_whole_time():
    policy = NumpyPolicy(
        weights=(np.zeros((17, 6), np.float32),),
        biases=(np.zeros(6, np.float32),),
        activation="tanh",
        mean=np.zeros(17),
        variance=np.ones(17),
        clip=10.0,
        low=-np.ones(6, np.float32),
        high=np.ones(6, np.float32),
    )
    config = TrainConfig(end_when=("height <= 50",), episode_s=0.5)
    (episode,) = run_episodes(config, CHEETAH, policy, (0,))
    assert len(episode.features["height"]) == 10


def test_a_rule_that_ends_everything_at_once_and_what_the_robot_lacks_are_refused():
    with pytest.raises(
        InvalidConfig, match=r"ends every training episode at its first step.*height is 0\.\d+ to 0\.\d+ there"
    ):
        training_env("height <= 50").step(actions(0))
    with pytest.raises(
        InvalidConfig, match=r"end_when: 'hight', which HalfCheetah-v5 does not measure\. Did you mean 'height'"
    ):
        training_env("hight <= 0.1")
    with pytest.raises(InvalidConfig, match="end_when_lost: 'hight'"):
        training_env(lost=("hight >= 0.1",))


@pytest.mark.parametrize("text", ["height", "height < 1", "height >= high", ">= 1", "height >= 1 <= 2"])
def test_what_is_no_comparison_is_refused(text):
    with pytest.raises(ValidationError):
        TrainConfig(end_when=(text,))
