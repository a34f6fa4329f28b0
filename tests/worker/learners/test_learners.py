import subprocess
import sys
from dataclasses import fields

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

from p2p.contracts.errors import UnknownName
from p2p.contracts.training import TrainConfig
from p2p.worker.learners.learner import LEARNERS, RolloutBatch, make_learner
from p2p.worker.learners.normalizer import ObservationNormalizer, RewardNormalizer
from p2p.worker.learners.ppo import generalized_advantages

OBSERVATIONS, ACTIONS = Box(-np.inf, np.inf, (5,), np.float64), Box(-1.0, 1.0, (2,), np.float32)
CONFIG = TrainConfig(n_envs=4, n_steps=16, batch_size=32, n_epochs=2, net_arch=(16, 8), log_std_init=-0.5)
SCALARS = {
    *("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction"),
    *("policy_std", "grad_norm", "n_updates"),
}
every = pytest.mark.parametrize("name", LEARNERS)


def learner(name, **changes):
    return make_learner(name, CONFIG.model_copy(update=changes), OBSERVATIONS, ACTIONS)


def observations(rows, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, 5)).astype(np.float32)


def batch(acting):
    shown = observations(64)
    actions, log_probs = acting.act(shown)
    advantages, returns = np.random.default_rng(1).normal(size=(2, 64)).astype(np.float32)
    return RolloutBatch(shown, actions, log_probs, advantages, returns, acting.values(shown))


def arrays(networks):
    groups = [getattr(networks, field.name) for field in fields(networks)]
    return [array for group in groups for array in (group if isinstance(group, tuple) else (group,))]


def equal(a, b):
    return all(np.array_equal(x, y) for x, y in zip(arrays(a), arrays(b), strict=True))


@every
def test_a_learner_gives_float32_arrays_of_the_right_shapes(name):
    acting = learner(name)
    actions, log_probs = acting.act(observations(4))
    values = acting.values(observations(9))
    assert (actions.shape, log_probs.shape, values.shape) == ((4, 2), (4,), (9,))
    networks = acting.networks()
    assert [w.shape for w in networks.weights] == [(5, 16), (16, 8), (8, 2)]
    assert [w.shape for w in networks.value_weights] == [(5, 16), (16, 8), (8, 1)]
    assert [b.shape for b in networks.biases] == [(16,), (8,), (2,)]
    assert [b.shape for b in networks.value_biases] == [(16,), (8,), (1,)]
    assert networks.log_std == pytest.approx([-0.5, -0.5])
    assert all(array.dtype == np.float32 for array in (actions, log_probs, values, *arrays(networks)))


@every
def test_actions_are_samples_of_the_gaussian_that_the_networks_say(name):
    acting = learner(name)
    n = 20_000
    actions, log_probs = acting.act(np.repeat(observations(1), n, axis=0))
    networks = acting.networks()
    hidden = observations(1)
    for weights, biases in zip(networks.weights[:-1], networks.biases[:-1], strict=True):
        hidden = np.maximum(hidden @ weights + biases, 0.0)
    mean, std = (hidden @ networks.weights[-1] + networks.biases[-1])[0], np.exp(networks.log_std)
    assert actions.mean(axis=0) == pytest.approx(mean, abs=5 * float(std[0]) / n**0.5)
    assert actions.std(axis=0) == pytest.approx(std, rel=5 / (2 * n) ** 0.5)
    assert np.corrcoef(actions.T)[0, 1] == pytest.approx(0.0, abs=5 / n**0.5)
    assert log_probs.mean() == pytest.approx(-np.log(2 * np.pi * np.e) - 2 * -0.5, abs=5 / n**0.5)


def test_log_probabilities_and_values_are_those_of_stable_baselines3():
    ours, theirs = learner("fast"), learner("sb3")
    ours.load(theirs.networks())
    shown = observations(200)
    actions, log_probs = ours.act(shown)
    values, expected, _ = theirs.model.policy.evaluate_actions(torch.tensor(shown), torch.tensor(actions))
    assert log_probs == pytest.approx(expected.detach().numpy(), rel=0, abs=1e-6)
    assert ours.values(shown) == pytest.approx(values.detach().numpy()[:, 0], rel=0, abs=1e-6)


@every
def test_an_update_changes_the_networks_not_the_rollout_and_reports_the_same_scalars(name):
    acting = learner(name)
    rollout, again = batch(acting), batch(acting)
    kept = [getattr(rollout, field.name).copy() for field in fields(rollout)]
    before = acting.networks()
    scalars = acting.update(rollout, 1e-3)
    assert scalars.keys() == SCALARS
    assert all(np.isfinite(value) for value in scalars.values())
    assert scalars["n_updates"] == 2
    assert acting.update(again, 1e-3)["n_updates"] == 4
    assert not any(np.array_equal(a, b) for a, b in zip(arrays(before), arrays(acting.networks()), strict=True))
    assert all(np.array_equal(a, getattr(rollout, f.name)) for a, f in zip(kept, fields(rollout), strict=True))


@every
def test_the_learning_rate_is_the_one_given(name):
    acting = learner(name)
    before = acting.networks()
    acting.update(batch(acting), 0.0)
    assert equal(acting.networks(), before)


@every
def test_the_same_seed_gives_the_same_networks_to_the_bit_and_another_seed_others(name):
    results = []
    for seed in (1, 1, 2):
        acting = learner(name, seed=seed)
        for _ in range(3):
            acting.update(batch(acting), 1e-3)
        results.append(acting.networks())
    assert equal(results[0], results[1])
    assert not equal(results[0], results[2])


@every
@pytest.mark.parametrize("other", LEARNERS)
def test_networks_of_one_learner_go_on_in_another(name, other):
    first, second = learner(name), learner(other, seed=7)
    first.update(batch(first), 1e-2)
    networks = first.networks()
    second.load(networks)
    assert equal(second.networks(), networks)
    assert second.values(observations(20)) == pytest.approx(first.values(observations(20)), abs=1e-6)
    second.update(batch(second), 1e-2)
    assert equal(first.networks(), networks)


@every
def test_networks_are_copies(name):
    acting = learner(name)
    networks = acting.networks()
    kept = [array.copy() for array in arrays(networks)]
    acting.update(batch(acting), 1e-2)
    assert all(np.array_equal(a, b) for a, b in zip(kept, arrays(networks), strict=True))


def test_the_fast_learner_needs_no_torch():
    source = (
        "import sys; from gymnasium.spaces import Box; from p2p.contracts.training import TrainConfig\n"
        "from p2p.worker.learners.learner import make_learner\n"
        "make_learner('fast', TrainConfig(), Box(-1, 1, (5,)), Box(-1, 1, (2,)))\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 0


def test_an_unknown_learner_is_refused_with_those_that_are_known():
    with pytest.raises(UnknownName, match="fast, sb3"):
        learner("slow")


def episode_returns(name, seed, steps):
    """Returns of the finished episodes of a training on InvertedPendulum-v5, oldest first."""
    config = TrainConfig(seed=seed, n_envs=8, n_steps=64, batch_size=64, n_epochs=5, learning_rate=1e-3)
    env = gymnasium.make_vec(
        "InvertedPendulum-v5", 8, vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
    )
    acting = make_learner(name, config, env.single_observation_space, env.single_action_space)
    normalizer = ObservationNormalizer(4, config.clip_obs, enabled=True)
    rewarder = RewardNormalizer(8, config.gamma, config.clip_reward, enabled=True)
    latest = normalizer.update_and_apply(env.reset(seed=seed)[0])
    running, finished = np.zeros(8), []
    for _ in range(steps // 512):
        rows = []
        for _ in range(64):
            actions, log_probs = acting.act(latest)
            shown, reward, terminated, truncated, _ = env.step(np.clip(actions, -3.0, 3.0))
            rows.append((latest, actions, log_probs, reward, terminated | truncated))
            latest = normalizer.update_and_apply(shown)
            running += reward
            finished += running[rows[-1][-1]].tolist()
            running[rows[-1][-1]] = 0.0
        recorded, actions, log_probs, rewards, dones = map(np.array, zip(*rows, strict=True))
        values = acting.values(np.concatenate([recorded, latest[None]]).reshape(-1, 4)).reshape(65, 8)
        normal = rewarder.apply(rewards, dones)
        advantages, returns = generalized_advantages(normal, values, dones, config.gamma, config.gae_lambda)
        columns = (recorded, actions, log_probs, advantages, returns, values[:-1])
        acting.update(
            RolloutBatch(*(column.reshape(512, *column.shape[2:]) for column in columns)), config.learning_rate
        )
    env.close()
    return finished


@pytest.mark.nightly
def test_both_learners_learn_to_balance_a_pendulum_equally():
    returns = {name: [episode_returns(name, seed, 25_000) for seed in (1, 2, 3)] for name in LEARNERS}
    for runs in returns.values():
        assert np.mean([run[:20] for run in runs]) < 20
        assert np.mean([run[-10:] for run in runs]) > 500
    falls = {name: sum(len(run) for run in runs) for name, runs in returns.items()}
    assert falls["fast"] == pytest.approx(falls["sb3"], rel=0.3)
