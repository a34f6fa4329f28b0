import numpy as np
import pytest

from p2p.contracts.training import TrainConfig
from p2p.worker.learners.ppo import ActorCritic, Minibatch, Parameters, differentiate

ROWS = 40


def double_precision_rows(random):
    normal = random.normal
    slopes = normal(size=ROWS) / ROWS
    return Minibatch(
        observations=np.hstack([normal(size=(ROWS, 3)), np.ones((ROWS, 1))]),
        actions=normal(size=(2, ROWS)),
        log_probs=normal(-2.0, 0.5, ROWS),
        returns=normal(size=ROWS),
        values=normal(size=ROWS),
        slopes=slopes,
        clipped=slopes * (1 - 0.2 * np.sign(slopes)),
        log_ratios=np.empty(ROWS),
        policy_losses=np.empty(ROWS),
        value_errors=np.empty(ROWS),
    )


def loss(network, rows, config):
    """Written out anew, from the definition."""
    observations = rows.observations[:, :-1]
    log_std = network.parameters.log_std
    mean, values = network.mean_actions(observations), network.values(observations)
    z = (rows.actions.T - mean) / np.exp(log_std)
    log_probs = (-0.5 * z**2 - log_std - 0.5 * np.log(2 * np.pi)).sum(axis=1)
    ratios = np.exp(log_probs - rows.log_probs)
    policy_loss = np.maximum(rows.slopes * ratios, rows.slopes * np.clip(ratios, 0.8, 1.2)).sum()
    if config.clip_range_vf is not None:
        values = rows.values + np.clip(values - rows.values, -config.clip_range_vf, config.clip_range_vf)
    entropy = (log_std + 0.5 * np.log(2 * np.pi * np.e)).sum()
    return policy_loss + config.vf_coef * np.mean((values - rows.returns) ** 2) - config.ent_coef * entropy


@pytest.mark.parametrize("clip_range_vf", [None, 0.5])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(
    ("net_arch", "privileged"), [((), 0), ((6,), 0), ((5, 4), 0), ((5, 5, 3), 0), ((6,), 2), ((5, 4), 1)]
)
def test_the_gradient_is_that_of_finite_differences(net_arch, privileged, activation, clip_range_vf):
    random = np.random.default_rng(5)
    network = ActorCritic(3, 2, net_arch, activation, random, -0.3, np.float64, privileged)
    vector = network.parameters.vector
    vector += random.normal(0, 0.1, len(vector))
    network.parameters.clear_off_diagonal()
    network.parameters.clear_unseen()
    rows, config = double_precision_rows(random), TrainConfig(ent_coef=0.01, clip_range_vf=clip_range_vf)
    buffers = network.activations(ROWS)
    network.forward(rows.observations, buffers)
    differentiate(rows, network, buffers, config)
    network.backward(rows.observations, buffers)
    learnt = Parameters(3, 2, net_arch, np.float64, privileged)
    learnt.vector[:] = 1.0
    learnt.clear_off_diagonal()
    learnt.clear_unseen()
    for i in range(len(vector)):
        value, around = vector[i], []
        for step in (1e-6, -1e-6):
            vector[i] = value + step
            around.append(loss(network, rows, config))
        vector[i] = value
        expected = learnt.vector[i] * (around[0] - around[1]) / 2e-6
        assert network.gradient.vector[i] == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_first_weights_are_orthogonal_with_the_gains_of_stable_baselines3():
    network = ActorCritic(17, 6, (64, 32), "relu", np.random.default_rng(0), log_std_init=-0.5)
    first = network.parameters.copies()
    for weights in (first.weights, first.value_weights):
        assert weights[0] @ weights[0].T == pytest.approx(2 * np.eye(17), abs=1e-5)
        assert weights[1].T @ weights[1] == pytest.approx(2 * np.eye(32), abs=1e-5)
    assert first.weights[2].T @ first.weights[2] == pytest.approx(1e-4 * np.eye(6), abs=1e-9)
    assert first.value_weights[2].T @ first.value_weights[2] == pytest.approx(np.eye(1), abs=1e-5)
    assert not any(biases.any() for biases in (*first.biases, *first.value_biases))
    assert first.log_std == pytest.approx(-0.5)
    assert not np.array_equal(first.weights[0], first.value_weights[0])


def test_values_of_many_rows_are_those_of_few():
    random = np.random.default_rng(0)
    network = ActorCritic(3, 2, (8,), "tanh", random, log_std_init=0.0)
    observations = random.normal(size=(2500, 3)).astype(np.float32)
    few = np.concatenate([network.values(observations[i : i + 100]) for i in range(0, 2500, 100)])
    assert network.values(observations) == pytest.approx(few, abs=1e-6)


def test_what_the_critic_alone_sees_moves_no_action():
    random = np.random.default_rng(0)
    network = ActorCritic(5, 2, (8,), "tanh", random, log_std_init=0.0, privileged=2)
    observations = random.normal(size=(10, 5)).astype(np.float32)
    other = observations.copy()
    other[:, 3:] += 1.0
    buffers = network.activations(10)
    for shown in (observations, other):
        network.forward(np.concatenate([shown, np.ones((10, 1), np.float32)], axis=1), buffers)
        assert pytest.approx(network.mean_actions(observations), abs=1e-6) == buffers.outputs[:2].T
        assert buffers.outputs[2] == pytest.approx(network.values(shown), abs=1e-6)
    assert not np.allclose(network.values(observations), network.values(other))
    assert network.parameters.copies().weights[0].shape == (3, 8)
    assert network.parameters.copies().value_weights[0].shape == (5, 8)
