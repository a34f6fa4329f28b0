"""The path from an environment to a policy, without jobs and files."""

from itertools import pairwise

import numpy as np
import pytest
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import tensor

from p2p.contracts.start_states import StartStates
from p2p.contracts.training import Purpose, TrainConfig, first_seed
from p2p.worker.engine.environment import make_environment
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.learners.learner import make_learner
from p2p.worker.reward.evaluator import RewardEvaluator
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.rollout.collector import Collector
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.rollout.starts import StartPlacer
from p2p.worker.rollout.training_env import EpisodeLog, TrainingEnv
from p2p.worker.training.train import learning_rate, policy_of

FORWARD = "def reward_fn(obs, action, next_obs, info):\n    v = info['velocity_x']\n    return v, {'v': v}\n"
OWN = "def reward_fn(obs, action, next_obs, info):\n    r = info['env_reward']\n    return r, {'own': r}\n"


def environments(spec, config, threads=1):
    env = VecEnv(config, spec, config.n_envs, training=True, threads=threads)
    placer = StartPlacer(env, config.start_states, 0) if config.start_states else None
    return TrainingEnv(env, PolicyInputs(config, env), first_seed(Purpose.TRAINING, config.seed), placer)


def prepared(spec, config, source=FORWARD, threads=1):
    env = environments(spec, config, threads)
    space = env.simulation.observation_space
    learner = make_learner(config.learner, config, space, env.simulation.action_space)
    reward = RewardEvaluator(LoadedReward(source), env.simulation, config.seed)
    return learner, Collector(config, env, learner, reward)


def trained(spec, config, source=FORWARD, threads=1):
    learner, collector = prepared(spec, config, source, threads)
    size = config.n_envs * config.n_steps
    for steps in range(size, config.total_timesteps + 1, size):
        learner.update(collector.collect(), learning_rate(config, steps))
    return policy_of(config, learner, collector)


def weights(policy):
    return [*policy.weights, *policy.biases, policy.mean, policy.variance]


@pytest.mark.parametrize("learner", ["fast", "sb3"])
def test_the_same_seed_gives_the_same_policy_to_the_bit_and_another_seed_another(cheetah, small, learner):
    starts = StartStates(share=0.5, pitch=(-1.0, 1.0))
    config = small.model_copy(update={"total_timesteps": 2048, "start_states": starts, "learner": learner})
    first, second = trained(cheetah, config), trained(cheetah, config, threads=2)
    other = trained(cheetah, config.model_copy(update={"seed": 2}))
    assert all(np.array_equal(a, b) for a, b in zip(weights(first), weights(second), strict=True))
    assert not np.array_equal(first.weights[0], other.weights[0])


def test_a_rollout_is_what_stable_baselines3_collects_in_gymnasiums_environments(cheetah):
    """The actions of our rollout, played again through DummyVecEnv and VecNormalize into a RolloutBuffer."""
    config = TrainConfig(n_envs=4, n_steps=32, batch_size=64, episode_s=1.0, gamma=0.97)
    learner, collector = prepared(cheetah, config, OWN)
    batch = collector.collect()
    theirs = DummyVecEnv([_limited(cheetah, 20, config.episode_steps(cheetah.dt) * (i + 1) // 4) for i in range(4)])
    normal = VecNormalize(theirs, gamma=config.gamma, clip_obs=config.clip_obs, clip_reward=config.clip_reward)
    buffer = RolloutBuffer(32, normal.observation_space, normal.action_space, "cpu", 0.95, config.gamma, 4)
    first = first_seed(Purpose.TRAINING, config.seed)
    for i, env in enumerate(theirs.envs):
        env.first_seed = first + i
    observations, starts = normal.reset(), np.ones(4)
    actions, log_probs = batch.actions.reshape(32, 4, 6), batch.log_probs.reshape(32, 4)
    for t in range(32):
        values, shown = learner.values(observations.astype(np.float32)), observations
        observations, rewards, dones, infos = normal.step(np.clip(actions[t], -1.0, 1.0))
        for i in np.flatnonzero(dones):
            last = infos[i]["terminal_observation"].astype(np.float32)[None]
            rewards[i] += config.gamma * learner.values(last)[0]
        buffer.add(shown, actions[t], rewards, starts, tensor(values), tensor(log_probs[t]))
        starts = dones
    buffer.compute_returns_and_advantage(tensor(learner.values(observations.astype(np.float32))), starts)
    assert batch.observations == pytest.approx(buffer.observations.reshape(128, 17), abs=1e-6)
    assert batch.values == pytest.approx(buffer.values.ravel(), abs=1e-5)
    assert batch.advantages == pytest.approx(buffer.advantages.ravel(), abs=1e-4)
    assert batch.returns == pytest.approx(buffer.returns.ravel(), abs=1e-4)


def _limited(spec, whole, first):
    """A Gymnasium environment with a seeded first reset and a shorter first episode, as ours are staggered."""

    def make():
        env = make_environment(spec)
        reset, step = env.reset, env.step
        state = {"limit": first, "steps": 0, "begun": False}

        def limited_reset(*, seed=None, options=None):
            seed = None if state["begun"] else env.first_seed
            state.update(steps=0, limit=whole if state["begun"] else first, begun=True)
            return reset(seed=seed, options=options)

        def limited_step(action):
            observation, reward, terminated, _, info = step(action)
            state["steps"] += 1
            return observation, reward, terminated, state["steps"] >= state["limit"], info

        env.reset, env.step = limited_reset, limited_step
        return env

    return make


def test_a_finished_environment_is_reset_and_what_it_ended_in_is_kept(cheetah, small):
    env = environments(cheetah, small)
    ends = np.zeros(16, dtype=int)
    for _ in range(20):
        step = env.step(np.zeros((16, 6), dtype=np.float32))
        ended = step.truncated
        ends += ended
        changed = (step.after.observations != env.observations).any(axis=1)
        assert np.array_equal(changed, ended)
    assert (ends >= 1).all()


def test_first_episodes_are_staggered_and_do_not_count_as_whole_ones(cheetah, small):
    env = environments(cheetah, small)
    for _ in range(20):
        env.step(np.zeros((16, 6), dtype=np.float32))
    ends, log = env.take_block().ends, EpisodeLog(env.shortened)
    log.add(np.ones((20, 16)), ends)
    assert ends.sum(axis=1).max() <= 4
    assert [(episode.length, episode.episode_return) for episode in log.recent] == [(20, 20.0)]
    assert log.count == ends.sum() >= 16


def test_terms_are_averaged_per_step_of_the_rollout(cheetah, small):
    config = small.model_copy(update={"n_steps": 8, "batch_size": 64})
    _, collector = prepared(cheetah, config, "def reward_fn(o, a, n, i):\n    t = i['time']\n    return t, {'t': t}\n")
    assert collector.term_means == {}
    collector.collect()
    assert 0.05 < collector.term_means["t"] <= 0.05 * 8


def test_the_learning_rate_falls_linearly_to_its_end():
    config = TrainConfig(total_timesteps=1000)
    rates = [learning_rate(config, steps) for steps in (0, 500, 1000)]
    assert rates == pytest.approx([7e-4, 0.55 * 7e-4, 7e-5])


def test_the_policy_has_the_configured_shape(cheetah):
    config = TrainConfig(net_arch=(8, 8, 8), n_envs=2, n_steps=32, batch_size=32, log_std_init=-1.0)
    learner, collector = prepared(cheetah, config)
    policy = policy_of(config, learner, collector)
    assert [w.shape for w in policy.weights] == [*pairwise((17, 8, 8, 8, 6))]
    assert [w.shape for w in policy.value_weights] == [*pairwise((17, 8, 8, 8, 1))]
    assert policy.log_std == pytest.approx(-1.0)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_ppo_learns_what_the_reward_says_also_when_a_term_has_the_wrong_sign(cheetah, sign):
    config = TrainConfig(total_timesteps=24_000, episode_s=1.0)
    source = FORWARD.replace("= info", f"= {sign} * info")
    policy = trained(cheetah, config, source)
    rollouts = run_episodes(config, cheetah, policy, range(5))
    speed = np.mean([rollout.features["velocity_x"].mean() for rollout in rollouts])
    assert sign * speed > 0.3
