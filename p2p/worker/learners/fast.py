"""PPO in numpy: no torch, no autograd, preallocated buffers; its tests hold it to stable-baselines3."""

from collections.abc import Callable
from typing import Self

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from p2p.contracts.training import TrainConfig
from p2p.worker.learners.adam import Adam, clip_gradient_norm
from p2p.worker.learners.learner import Batch, Floats, Networks
from p2p.worker.learners.minibatches import Rows, ShuffledRollout
from p2p.worker.learners.network import Activations, ActorCritic
from p2p.worker.learners.objective import ClippedObjective, gaussian_offset
from p2p.worker.learners.parameters import Architecture
from p2p.worker.saved_state import State, fill, generator_state, joined, part, restore_generator

Permutation = Callable[[int], NDArray[np.integer]]
"""The order of n rows in an epoch."""


class FastLearner:
    """See `Learner`. Bit-reproducible for equal seeds.

    Args:
        config: Hyperparameters, sizes of the networks, seed.
        obs_dim: Of an observation.
        action_dim: Of an action.
        permutation: Orders the rows of an epoch; by default the learner's own generator does.
    """

    def __init__(
        self, config: TrainConfig, obs_dim: int, action_dim: int, permutation: Permutation | None = None
    ) -> None:
        weights, noise, order = np.random.default_rng(config.seed).spawn(3)
        self._config = config
        self._dims = obs_dim, action_dim
        self._noise, self._order = noise, order
        self._permutation = permutation or order.permutation
        architecture = Architecture(obs_dim, action_dim, config.net_arch, config.activation)
        self.network = ActorCritic(architecture, weights, config.log_std_init)
        """Parameters, and the gradient of the last minibatch."""
        self._objective = ClippedObjective(config)
        self._adam = Adam(self.network.parameters.vector)
        self._buffers: dict[int, Activations] = {}
        self._rollout: ShuffledRollout | None = None
        self._n_updates = 0

    @classmethod
    def for_spaces(cls, config: TrainConfig, observation_space: Box, action_space: Box) -> Self:
        """Learner for these spaces."""
        return cls(config, observation_space.shape[0], action_space.shape[0])

    def act(self, observations: Floats) -> tuple[Floats, Floats]:
        """See `Learner.act`."""
        log_std = self.network.parameters.log_std
        actions = self._noise.standard_normal((len(observations), len(log_std)), dtype=np.float32)
        log_probs = np.add.reduce(actions * actions, axis=1)
        log_probs *= -0.5
        log_probs -= gaussian_offset(log_std)
        actions *= np.exp(log_std)
        actions += self.network.mean_actions(observations)
        return actions, log_probs

    def values(self, observations: Floats) -> Floats:
        """See `Learner.values`."""
        return self.network.values(observations)

    def update(self, batch: Batch, learning_rate: float) -> dict[str, float]:
        """See `Learner.update`."""
        rollout = self._rollout_of(len(batch))
        rollout.load(batch)
        losses: list[dict[str, NDArray[np.float64]]] = []
        grad_norms: list[float] = []
        for _ in range(self._config.n_epochs):
            rollout.shuffle(self._permutation(len(batch)))
            entropies, norms = self._epoch(rollout.minibatches, learning_rate)
            losses.append(rollout.losses(len(entropies)) | {"entropy": np.array(entropies)})
            grad_norms += norms
            self._n_updates += 1
            if len(norms) < len(entropies):
                break
        means = {name: float(np.concatenate([epoch[name] for epoch in losses]).mean()) for name in losses[0]}
        return means | {
            "approx_kl": float(losses[-1]["approx_kl"].mean()),
            "grad_norm": sum(grad_norms) / max(1, len(grad_norms)),
            "policy_std": float(np.exp(self.network.parameters.log_std).mean()),
            "n_updates": self._n_updates,
        }

    def networks(self) -> Networks:
        """See `Learner.networks`."""
        return self.network.parameters.copies()

    def load(self, networks: Networks) -> None:
        """See `Learner.load`."""
        self.network.parameters.load(networks)
        self._adam = Adam(self.network.parameters.vector)

    def state(self) -> State:
        """See `Learner.state`."""
        own = {"parameters": self.network.parameters.vector, "n_updates": np.array(self._n_updates)}
        generators = {"noise": generator_state(self._noise), "order": generator_state(self._order)}
        return own | joined({"adam": self._adam.state(), "generator": generators})

    def restore(self, state: State) -> None:
        """See `Learner.restore`."""
        fill(self.network.parameters.vector, state["parameters"])
        self._n_updates = int(state["n_updates"])
        self._adam.restore(part(state, "adam"))
        restore_generator(self._noise, state["generator.noise"])
        restore_generator(self._order, state["generator.order"])

    def _epoch(self, minibatches: list[Rows], learning_rate: float) -> tuple[list[float], list[float]]:
        """Train on each minibatch; stop at the first whose KL divergence is too large.

        Returns:
            Entropy of the policy at each minibatch seen, and the gradient's norm at each minibatch learnt from.
        """
        config, network = self._config, self.network
        max_kl = float("inf") if config.target_kl is None else 1.5 * config.target_kl
        entropies, norms = [], []
        for rows in minibatches:
            buffers = self._buffers_of(len(rows))
            network.forward(rows.observations, buffers)
            entropy, divergence = self._objective.differentiate(rows, network, buffers)
            entropies.append(entropy)
            if divergence > max_kl:
                break
            network.backward(rows.observations, buffers)
            norms.append(clip_gradient_norm(network.gradient.vector, config.max_grad_norm))
            self._adam.step(network.gradient.vector, learning_rate)
        return entropies, norms

    def _buffers_of(self, rows: int) -> Activations:
        if rows not in self._buffers:
            self._buffers[rows] = self.network.activations(rows)
        return self._buffers[rows]

    def _rollout_of(self, rows: int) -> ShuffledRollout:
        if self._rollout is None or len(self._rollout) != rows:
            self._rollout = ShuffledRollout(rows, self._dims, self._config.batch_size, self._config.clip_range)
        return self._rollout
