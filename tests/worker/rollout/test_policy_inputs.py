"""What policies see: the fast way and the plain way to the bit, through resets and saved states, and as replayed."""

from dataclasses import replace

import numpy as np
import pytest
from going_on import random_actions, stepped_on

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.observe import Counter, Milestone, Observe
from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.policy import NumpyPolicy
from p2p.worker.engine.environment import make_environment
from p2p.worker.engine.vec_env import Block, VecEnv
from p2p.worker.export.standalone import Progress
from p2p.worker.export.told import MeasuredProgress
from p2p.worker.features.progress import ProgressReader
from p2p.worker.reward.inputs import FeatureReader
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.rollout.policy_inputs import PolicyInputs

N = 4
IN_THE_AIR = StartStates(raised=(0.1, 0.3), pitch=(0.0, 2.0 * np.pi))
TURNS = Observe(
    features=("time", "yaw_turns", "pitch_turns"),
    milestones=(Milestone(feature="yaw_turns", amount=0.01, either=True),),
    clock_s=0.4,
)
JUMPS = Observe(
    milestones=(Milestone(feature="clearance", amount=0.02),),
    counter=Counter(feature="jump_height", low=0.005, high=0.01),
)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Ant-v5", "Swimmer-v5", "Humanoid-v5"])
def test_what_is_read_of_progress_alone_is_the_same_to_the_bit(env_id):
    spec = catalog.load(env_id)
    env = VecEnv(TrainConfig(env_id=env_id), spec, N)
    env.begun_turns = np.linspace(-0.5, 1.0, N)
    env.reset(range(N), range(N))
    common = sorted(ProgressReader.names.intersection(spec.feature_names))
    progress = ProgressReader(env.simulation.model, spec, N, common)
    everything = FeatureReader(env.simulation)
    assert len(common) >= 4
    for t in range(60):
        step = env.step(random_actions(spec, t, N))
        fast, plain = progress.read(step), everything.read(Block.of([step]))
        for name in common:
            assert np.array_equal(fast[name], plain[name]), name
        if t % 15 == 7:
            env.reset([t % 3, 3], [t, t + 1])


@pytest.mark.parametrize("observe", [TURNS, JUMPS])
def test_a_training_that_goes_on_from_a_saved_state_sees_the_same(observe):
    spec = catalog.load("Ant-v5")
    config = TrainConfig(env_id="Ant-v5", episode_s=0.5, observe=observe, start_states=IN_THE_AIR)

    env, _, seen = stepped_on(config, spec, N)
    assert env.observations.shape == (N, spec.obs_dim + len(observe.names))
    assert (np.std(seen[..., spec.obs_dim :], axis=(0, 1)) > 0.0).sum() >= 3, "it is told nothing that changes"


def told_policy(spec, observe):
    """A policy that acts by what it is told as much as by what it observes."""
    rng = np.random.default_rng(0)
    inputs = spec.obs_dim + len(observe.names)
    return NumpyPolicy(
        weights=(rng.normal(0.0, 0.5, (inputs, spec.action_dim)).astype(np.float32),),
        biases=(np.zeros(spec.action_dim, np.float32),),
        activation="tanh",
        mean=np.zeros(inputs),
        variance=np.ones(inputs),
        clip=10.0,
        low=np.array([one.low for one in spec.action], np.float32),
        high=np.array([one.high for one in spec.action], np.float32),
        observed=observe.names,
    )


@pytest.mark.parametrize("observe", [TURNS, JUMPS], ids=["by the torso alone", "by all features"])
def test_a_replay_in_gymnasiums_environment_tells_the_same(observe):
    spec = catalog.load("Ant-v5")
    config = TrainConfig(env_id="Ant-v5", episode_s=2.0, observe=observe)
    policy = told_policy(spec, observe)
    (rollout,) = run_episodes(config, spec, policy, [5])
    assert rollout.arrays["observed"].shape == (rollout.length, len(observe.names))
    env = make_environment(spec, {})
    observation, _ = env.reset(seed=5)
    body = {"torso": spec.morphology.torso, "upright": spec.morphology.upright}
    told = (
        Progress({"observe": observe.model_dump(mode="json"), **body})
        if observe is TURNS
        else MeasuredProgress(observe, spec)
    )
    told.begin(env)
    for t in range(rollout.length):
        assert told.values == pytest.approx(rollout.arrays["observed"][t], abs=1e-6)
        action = policy(np.concatenate([observation, told.values]))
        assert np.array_equal(action, rollout.arrays["action"][t])
        observation, *_ = env.step(action)
        told.follow(env, action)
    assert (np.std(rollout.arrays["observed"], axis=0) > 0.0).sum() >= 3, "it is told nothing that changes"
    env.close()


def test_without_it_a_rollout_is_as_it_was(cheetah):
    told = told_policy(cheetah, Observe(features=("time",)))
    n = cheetah.obs_dim
    plain = replace(told, weights=(told.weights[0][:n],), mean=told.mean[:n], variance=told.variance[:n], observed=())
    (rollout,) = run_episodes(TrainConfig(episode_s=0.5), cheetah, plain, [1])
    assert "observed" not in rollout.arrays


def test_a_robot_that_lacks_the_feature_is_refused(cheetah):
    config = TrainConfig(observe=TURNS)
    with pytest.raises(InvalidConfig, match=r"HalfCheetah-v5 cannot tell its policy that: .*yaw_turns"):
        PolicyInputs(config, VecEnv(config, cheetah, 1))
