"""Interface of a learner: act, predict returns, learn from one rollout at a time; and the learners by name."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from p2p import registry
from p2p.contracts.training import TrainConfig
from p2p.worker.saved_state import State

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RolloutBatch:
    """One rollout of T steps in n environments, flattened to B = T * n rows."""

    observations: Floats
    """Normalised, shape (B, obs_dim)."""
    actions: Floats
    """As sampled, not yet clipped to the action space, shape (B, action_dim)."""
    log_probs: Floats
    """Of these actions under the policy that took them, shape (B,) [nats]."""
    advantages: Floats
    """Shape (B,); each minibatch normalises its own."""
    returns: Floats
    """What the value network is to predict, shape (B,)."""
    values: Floats
    """What it predicted during the rollout, shape (B,)."""

    def __len__(self) -> int:
        return len(self.observations)


@dataclass(frozen=True, slots=True)
class Networks:
    """Copies of an actor-critic's parameters, float32."""

    weights: tuple[Floats, ...]
    """Of the policy, one per layer, shape (inputs, outputs); the last layer gives the mean action."""
    biases: tuple[Floats, ...]
    value_weights: tuple[Floats, ...]
    """Of the value network, likewise; its last layer has one output."""
    value_biases: tuple[Floats, ...]
    log_std: Floats
    """Logarithm of the Gaussian's standard deviation, the same in every state, shape (action_dim,)."""


class Learner(Protocol):
    """PPO with a diagonal Gaussian policy and a separate value network."""

    def act(self, observations: Floats) -> tuple[Floats, Floats]:
        """Sampled actions, shape (n, action_dim), and their log-probabilities, shape (n,) [nats]."""
        ...

    def log_probs(self, observations: Floats, actions: Floats) -> Floats:
        """Log-probabilities, shape (B,) [nats], of actions, shape (B, action_dim), in normalised observations."""
        ...

    def values(self, observations: Floats) -> Floats:
        """Predicted returns, shape (B,), of normalised observations, shape (B, obs_dim)."""
        ...

    def update(self, batch: RolloutBatch, learning_rate: float) -> dict[str, float]:
        """Learn from one rollout.

        Returns:
            policy_loss, value_loss, entropy [nats], clip_fraction: means over all minibatches.
            approx_kl [nats]: mean over the minibatches of the last epoch.
            grad_norm: mean over the minibatches that were learnt from, before clipping.
            policy_std: mean over the action's dimensions, after the update.
            n_updates: epochs since the learner was made.
        """
        ...

    def networks(self) -> Networks:
        """Current parameters."""
        ...

    def load(self, networks: Networks, optimizer: State | None = None) -> None:
        """Continue from these parameters, with a fresh optimiser or that of a learner of the same kind and sizes.

        Raises:
            ValueError: they are of other sizes, or the optimiser is of another learner.
        """
        ...

    def optimizer(self) -> State:
        """State of the optimiser, for `load`."""
        ...

    def state(self) -> State:
        """State of parameters, optimiser and generators: all that later updates and actions depend on."""
        ...

    def restore(self, state: State) -> None:
        """Continue from the state of a learner of the same kind and sizes.

        Raises:
            ValueError: the state is of other sizes.
        """
        ...


# By name, so that torch is imported for the one that needs it alone.
LEARNERS: dict[str, str] = {
    "fast": "p2p.worker.learners.ppo:FastLearner",
    "sb3": "p2p.worker.learners.sb3:Sb3Learner",
}


def make_learner(
    name: str, config: TrainConfig, observation_space: Box, action_space: Box, privileged: int = 0
) -> Learner:
    """New learner for these spaces.

    Args:
        name: Of the learner.
        config: Its hyperparameters.
        observation_space: Of what it is shown.
        action_space: Of what it does.
        privileged: Last entries of an observation that its value network alone sees; only "fast" takes some.

    Raises:
        UnknownName: nothing is registered under `name`.
        MissingExtra: what it needs is not installed.
    """
    kind = registry.load("learner", LEARNERS, name)
    more = (privileged,) if privileged else ()
    learner: Learner = kind.for_spaces(config, observation_space, action_space, *more)
    return learner
