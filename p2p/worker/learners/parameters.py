"""Actor-critic parameters as one vector, laid out so that one matrix product serves both networks.

The hidden layers of the policy and of the value network have equal shapes. The first layer's weights lie side by side,
(obs_dim + 1, 2 * units), with the biases in the last row, for observations end in a 1; the deeper ones are a pair of
matrices, (2, inputs, units); the outputs are one matrix of shape (action_dim + 1, 2 * units), the value in the last
row, whose off-diagonal blocks stay zero.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from p2p.worker.learners.learner import Networks

Array = NDArray[np.floating]
Layers = list[tuple[Array, Array]]
"""Weights, shape (inputs, outputs), and biases, shape (outputs,), of one network, as views."""

HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = 2**0.5, 0.01, 1.0
"""Of the orthogonal initialisation, as in stable-baselines3."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """Sizes of an actor-critic."""

    observation_dim: int
    action_dim: int
    net_arch: tuple[int, ...]
    """Units of the hidden layers, the same in both networks."""
    activation: Literal["relu", "tanh"]


class Parameters:
    """All learnt parameters, or their gradient: one vector with named views.

    Args:
        architecture: Of the networks.
        dtype: Of the vector, which begins with zeros.
    """

    def __init__(self, architecture: Architecture, dtype: DTypeLike) -> None:
        sizes, outputs = architecture.net_arch, architecture.action_dim + 1
        shapes: list[tuple[int, ...]] = []
        if sizes:
            shapes += [(architecture.observation_dim + 1, 2 * sizes[0])]
        for inputs, units in pairwise(sizes):
            shapes += [(2, inputs, units), (2 * units,)]
        width = 2 * sizes[-1] if sizes else architecture.observation_dim
        shapes += [(outputs, width), (outputs,), (architecture.action_dim,)]
        lengths = [math.prod(shape) for shape in shapes]
        self.vector: Array = np.zeros(sum(lengths), dtype)
        pieces = np.split(self.vector, np.cumsum(lengths)[:-1])
        *hidden, self.head, self.head_bias, self.log_std = map(np.reshape, pieces, shapes)
        self.first: Array | None = hidden[0] if hidden else None
        """Of the first hidden layer, biases included; None where there is no hidden layer."""
        self.deeper = list(zip(hidden[1::2], hidden[2::2], strict=True))
        """Weights and biases of the other hidden layers."""
        self.policy = self._network(0)
        """Of the network that gives the mean action."""
        self.value = self._network(1)
        """Of the network that gives the predicted return."""

    def initialize(self, generator: np.random.Generator, log_std: float) -> None:
        """Draw orthogonal weights; biases are zero."""
        for layers, gain in ((self.policy, POLICY_GAIN), (self.value, VALUE_GAIN)):
            for weights, _ in layers[:-1]:
                weights[:] = _orthogonal(generator, weights.shape, HIDDEN_GAIN)
            weights, _ = layers[-1]
            weights[:] = _orthogonal(generator, weights.shape, gain)
        self.log_std[:] = log_std

    def copies(self) -> Networks:
        """Current values, float32."""
        return Networks(
            weights=tuple(weights.astype(np.float32) for weights, _ in self.policy),
            biases=tuple(biases.astype(np.float32) for _, biases in self.policy),
            value_weights=tuple(weights.astype(np.float32) for weights, _ in self.value),
            value_biases=tuple(biases.astype(np.float32) for _, biases in self.value),
            log_std=self.log_std.astype(np.float32),
        )

    def load(self, networks: Networks) -> None:
        """Copy values in."""
        policy = zip(networks.weights, networks.biases, strict=True)
        value = zip(networks.value_weights, networks.value_biases, strict=True)
        for views, layers in ((self.policy, policy), (self.value, value)):
            for (weights, biases), (new_weights, new_biases) in zip(views, layers, strict=True):
                weights[:], biases[:] = new_weights, new_biases
        self.log_std[:] = networks.log_std

    def _network(self, which: int) -> Layers:
        layers: Layers = []
        outputs = slice(None, -1) if which == 0 else slice(-1, None)
        head = self.head[outputs]
        if self.first is not None:
            first, head = np.split(self.first, 2, axis=1)[which], np.split(head, 2, axis=1)[which]
            layers.append((first[:-1], first[-1]))
        layers += [(weights[which], np.split(biases, 2)[which]) for weights, biases in self.deeper]
        return [*layers, (head.T, self.head_bias[outputs])]

    def clear_off_diagonal(self) -> None:
        """Zero the head's blocks that would connect one network's units to the other's output."""
        if self.first is not None:
            half = self.head.shape[1] // 2
            self.head[:-1, half:] = 0.0
            self.head[-1, :half] = 0.0


def _orthogonal(generator: np.random.Generator, shape: tuple[int, ...], gain: float) -> NDArray[np.float64]:
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al. 2014)."""
    rows, columns = shape
    normal = generator.standard_normal((max(shape), min(shape)))
    q, r = np.linalg.qr(normal)
    q *= np.sign(np.diag(r))
    matrix: NDArray[np.float64] = gain * (q if rows >= columns else q.T)
    return matrix
