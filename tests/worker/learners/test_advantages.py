import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.utils import explained_variance as their_explained_variance

from p2p.worker.learners.ppo import explained_variance, generalized_advantages


def random_rollout(steps, n):
    random = np.random.default_rng(0)
    rewards = random.normal(size=(steps, n)).astype(np.float32)
    values = random.normal(size=(steps + 1, n)).astype(np.float32)
    return rewards, values, random.random((steps, n)) < 0.1


@pytest.mark.parametrize(("gamma", "lam"), [(0.99, 0.95), (0.9, 1.0), (1.0, 0.0)])
def test_advantages_and_returns_are_those_of_stable_baselines3_to_the_bit(gamma, lam):
    rewards, values, dones = random_rollout(64, 16)
    space = Box(-1.0, 1.0, (1,), np.float32)
    buffer = RolloutBuffer(64, space, space, device="cpu", gae_lambda=lam, gamma=gamma, n_envs=16)
    starts = np.vstack([np.ones(16), dones[:-1]])
    for t in range(64):
        empty = np.zeros((16, 1))
        buffer.add(empty, empty, rewards[t], starts[t], torch.tensor(values[t]), torch.zeros(16))
    buffer.compute_returns_and_advantage(torch.tensor(values[-1]), dones[-1])
    advantages, returns = generalized_advantages(rewards, values, dones, gamma, lam)
    assert advantages.dtype == returns.dtype == np.float32
    assert np.array_equal(advantages, buffer.advantages)
    assert np.array_equal(returns, buffer.returns)


def test_advantages_by_hand():
    rewards = np.array([[1.0], [2.0], [3.0]])
    values = np.array([[10.0], [20.0], [30.0], [40.0]], dtype=np.float32)
    dones = np.array([[False], [True], [False]])
    advantages, returns = generalized_advantages(rewards, values, dones, gamma=0.5, lam=0.5)
    # δ = 1 + 10 - 10, 2 - 20 (the episode ended), 3 + 20 - 30
    assert advantages[:, 0].tolist() == [1 + 0.25 * -18, -18, -7]
    assert returns[:, 0].tolist() == [10 - 3.5, 2, 23]


def test_explained_variance_is_that_of_stable_baselines3():
    random = np.random.default_rng(0)
    returns = random.normal(size=500).astype(np.float32)
    values = returns + random.normal(0, 0.5, 500).astype(np.float32)
    expected = their_explained_variance(values, returns)
    assert explained_variance(values, returns) == expected
    assert explained_variance(values.reshape(50, 10), returns.reshape(50, 10)) == pytest.approx(expected)


def test_explained_variance_of_returns_that_do_not_vary_is_not_a_number():
    assert np.isnan(explained_variance(np.arange(3.0), np.ones(3)))
