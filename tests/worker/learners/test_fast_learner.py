from dataclasses import fields

import gymnasium
import numpy as np
import pytest

from p2p.contracts.training import TrainConfig
from p2p.worker.learners.learner import Networks, RolloutBatch
from p2p.worker.learners.ppo import FastLearner, generalized_advantages
from p2p.worker.learners.sb3 import Sb3Learner

N_ENVS, N_STEPS = 5, 40
CONFIG = TrainConfig(
    n_envs=N_ENVS, n_steps=N_STEPS, batch_size=64, n_epochs=3, learning_rate=1e-3, target_kl=None, log_std_init=-0.7
)
"""200 rows: three whole minibatches and one of 8 rows."""
WHOLE = {"batch_size": N_ENVS * N_STEPS, "n_epochs": 1, "max_grad_norm": 1e9}
"""One minibatch, whose gradient is not clipped."""
VARIANTS = {
    "relu": {},
    "tanh": {"activation": "tanh"},
    "wide": {"net_arch": (256, 256)},
    "wide tanh": {"net_arch": (256, 256), "activation": "tanh"},
    "one layer": {"net_arch": (32,)},
    "unequal layers": {"net_arch": (24, 16, 8), "activation": "tanh"},
    "no hidden layer": {"net_arch": ()},
    "entropy": {"ent_coef": 0.01, "vf_coef": 0.7},
    "value clipping": {"clip_range_vf": 0.1},
    "target_kl": {"target_kl": 0.03, "n_epochs": 10},
    "large gradients": {"max_grad_norm": 1e9},
    "a last minibatch of one row": {"batch_size": 199},
}
variants = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)


@pytest.fixture(scope="module")
def env():
    envs = gymnasium.make_vec("HalfCheetah-v5", N_ENVS, vectorization_mode="sync")
    yield envs
    envs.close()


@pytest.fixture(scope="module")
def rollout(env):
    """Recorded with another policy than the ones that learn from it, so that some probability ratios are clipped."""
    actor = Sb3Learner(CONFIG, env.single_observation_space, env.single_action_space)
    observations, actions, log_probs, rewards = [], [], [], []
    latest, _ = env.reset(seed=0)
    for _ in range(N_STEPS):
        observations.append(np.clip(latest, -10, 10).astype(np.float32))
        action, log_prob = actor.act(observations[-1])
        actions.append(action)
        log_probs.append(log_prob)
        latest, reward, *_ = env.step(np.clip(action, -1, 1))
        rewards.append(reward)
    noise = np.random.default_rng(0).normal(0, 0.2, (N_STEPS, N_ENVS)).astype(np.float32)
    values = np.array([actor.values(o) for o in [*observations, latest.astype(np.float32)]])
    dones = np.zeros((N_STEPS, N_ENVS), dtype=np.bool_)
    advantages, returns = generalized_advantages(np.array(rewards), values, dones, 0.99, 0.95)
    recorded = (observations, actions, np.array(log_probs) + noise, advantages, returns, values[:-1])
    return RolloutBatch(*(np.array(array).reshape(N_ENVS * N_STEPS, *np.shape(array)[2:]) for array in recorded))


def learners(env, **changes):
    config = CONFIG.model_copy(update=changes)
    theirs = Sb3Learner(config, env.single_observation_space, env.single_action_space)
    ours = FastLearner(config, 17, 6, permutation=np.random.permutation)
    ours.load(theirs.networks())
    return theirs, ours


def update(learner, rollout):
    np.random.seed(3)
    return learner.update(rollout, CONFIG.learning_rate)


def numbers(networks: Networks):
    arrays = [getattr(networks, field.name) for field in fields(networks)]
    return np.concatenate([np.ravel(a) for group in arrays for a in (group if isinstance(group, tuple) else [group])])


def torch_gradients(learner):
    policy, value = learner._policy_layers(), learner._value_layers()
    return Networks(
        tuple(layer.weight.grad.numpy().T for layer in policy),
        tuple(layer.bias.grad.numpy() for layer in policy),
        tuple(layer.weight.grad.numpy().T for layer in value),
        tuple(layer.bias.grad.numpy() for layer in value),
        learner.model.policy.log_std.grad.numpy(),
    )


@variants
def test_losses_and_gradient_of_a_minibatch_are_those_of_stable_baselines3(env, rollout, variant):
    theirs, ours = learners(env, **variant | WHOLE)
    expected, got = update(theirs, rollout), update(ours, rollout)
    norm, expected_norm = got.pop("grad_norm"), expected.pop("grad_norm")
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert norm == pytest.approx(expected_norm, rel=1e-5)  # as the gradient itself: a sum of float32 over all weights
    if expected["clip_fraction"]:
        assert 0 < expected["clip_fraction"] < 1
    gradient = numbers(torch_gradients(theirs))
    assert numbers(ours.network.gradient.copies()) == pytest.approx(gradient, rel=1e-5, abs=1e-6)


@variants
def test_parameters_after_one_minibatch_are_those_of_stable_baselines3(env, rollout, variant):
    changes = variant | WHOLE | {"max_grad_norm": variant.get("max_grad_norm", 0.5)}
    theirs, ours = learners(env, **changes)
    before = numbers(theirs.networks())
    update(theirs, rollout), update(ours, rollout)
    after = numbers(theirs.networks())
    assert np.abs(after - before).max() > 1e-4
    assert numbers(ours.networks()) == pytest.approx(after, rel=0, abs=1e-6)


@variants
def test_losses_and_parameters_after_two_updates_are_those_of_stable_baselines3(env, rollout, variant):
    theirs, ours = learners(env, **variant)
    before = numbers(theirs.networks())
    for _ in range(2):
        expected, got = update(theirs, rollout), update(ours, rollout)
        assert got == pytest.approx(expected, rel=1e-5, abs=1e-5)
    after = numbers(theirs.networks())
    # Adam divides by the gradient's size, so that rounding, which differs between processors, grows with the way made
    moved = float(np.abs(after - before).max())
    assert numbers(ours.networks()) == pytest.approx(after, rel=0, abs=max(1e-6, 1e-4 * moved))


def test_target_kl_ends_an_update_where_it_ends_that_of_stable_baselines3(env, rollout):
    theirs, ours = learners(env, **VARIANTS["target_kl"])
    epochs = update(ours, rollout)["n_updates"]
    assert 1 < epochs < 10
    assert epochs == update(theirs, rollout)["n_updates"]
