"""Begin a training at a policy: its actor, its critic and its normalisers."""

from dataclasses import replace
from typing import cast

import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.start_policy import StartPolicy
from p2p.contracts.training import TrainConfig
from p2p.store.arrays import load_arrays
from p2p.store.policy import Floats, NumpyPolicy, load_policy
from p2p.store.start_policies import StartRecord
from p2p.worker.learners.learner import Learner, Networks
from p2p.worker.rollout.collector import Collector
from p2p.worker.rollout.policy_inputs import beyond_the_simulator

REWARD_ROLLOUTS = 10
"""Rollouts of the new training that the statistics of the old rewards count as at most. Another reward has another
scale, which a normaliser that has seen millions of the old ones would take as many steps to adopt."""


def go_on_from(files: StartRecord, config: TrainConfig, learner: Learner, collector: Collector) -> None:
    """Give a new training the networks and normalisers of the policy that lies in its directory, if one does.

    Raises:
        InvalidInput: its files are damaged, or it is of other sizes than the training.
    """
    start = files.read()
    if start is None:
        return
    files.check(start)
    policy = _told_more(load_policy(files.policy_path), config, collector.simulation.spec)
    if policy.observation != config.observation:
        raise InvalidInput(
            f'{start.words} acts on the observation "{policy.observation}" and the training shows it '
            f'"{config.observation}". Give both the same.'
        )
    _require_same_sizes(start, policy, learner.networks())
    try:
        learner.load(networks_of(policy), load_arrays(files.optimizer_path) if start.optimizer_sha256 else None)
    except ValueError as error:
        raise InvalidInput(
            f"The optimiser of {start.words} cannot be resumed by the learner {config.learner!r}: {error}. Train with "
            "the learner it was trained with, or with a fresh optimiser."
        ) from error
    seen = min(policy.reward_count, float(REWARD_ROLLOUTS * config.n_envs * config.n_steps))
    collector.normalize_as(
        {
            "mean": np.concatenate([policy.mean, policy.privileged_mean]),
            "var": np.concatenate([policy.variance, policy.privileged_variance]),
            "count": np.array(policy.observation_count),
        },
        {"mean": np.array(policy.reward_mean), "var": np.array(policy.reward_variance), "count": np.array(seen)},
    )


def _told_more(policy: NumpyPolicy, config: TrainConfig, spec: EnvSpec) -> NumpyPolicy:
    """The policy with further inputs, where it was told nothing and the training tells it more.

    Their weights are 0, so that it begins acting as it did; they are normalised by what the training sees.
    """
    names = tuple(one.name for one in beyond_the_simulator(config, spec)[1])
    if policy.observed or not names:
        return policy

    def wider(weights: tuple[Floats, ...]) -> tuple[Floats, ...]:
        return tuple(
            np.concatenate([layer, np.zeros((len(names), layer.shape[1]), layer.dtype)]) if i == 0 else layer
            for i, layer in enumerate(weights)
        )

    return replace(
        policy,
        weights=wider(policy.weights),
        value_weights=wider(policy.value_weights),
        mean=np.concatenate([policy.mean, np.zeros(len(names))]),
        variance=np.concatenate([policy.variance, np.ones(len(names))]),
        observed=names,
    )


def networks_of(policy: NumpyPolicy) -> Networks:
    """Parameters of actor and critic."""
    return Networks(
        weights=policy.weights,
        biases=policy.biases,
        value_weights=policy.value_weights,
        value_biases=policy.value_biases,
        log_std=cast("Floats", policy.log_std),
    )


def _require_same_sizes(start: StartPolicy, policy: NumpyPolicy, wanted: Networks) -> None:
    if policy.log_std is None or not policy.value_weights:
        raise InvalidInput(f"{start.words} was kept without its critic, as earlier versions did. Train from zero.")
    found = _sizes(networks_of(policy))
    if found != _sizes(wanted):
        raise InvalidInput(
            f"{start.words} does not fit this training: expected layers of {_sizes(wanted)}, got {found}. Leave "
            "net_arch as it is in that policy, and choose one of the same observation and action; or train from zero."
        )


def _sizes(networks: Networks) -> list[tuple[int, ...]]:
    layers = (*networks.weights, *networks.biases, *networks.value_weights, *networks.value_biases)
    return [layer.shape for layer in (*layers, networks.log_std)]
