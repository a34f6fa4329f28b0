"""A policy and a value network of the same hidden sizes, run side by side, with a hand-written backward pass.

The two networks share nothing but the observation. Their hidden layers have equal shapes, so one call serves both:
the first layer's weights lie side by side, (inputs, 2 * units); the deeper ones are a pair of matrices,
(2, inputs, units); the outputs are one matrix of shape (action_dim + 1, 2 * units), the value in the last row, whose
off-diagonal blocks stay zero. Activations have shape (B, 2 * units), the policy's in the left half.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

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
    """Everything that is learnt, or its gradient: one vector, and views of it.

    Args:
        architecture: Of the networks.
        dtype: Of the vector, which begins with zeros.
    """

    def __init__(self, architecture: Architecture, dtype: DTypeLike) -> None:
        sizes, outputs = architecture.net_arch, architecture.action_dim + 1
        self._action_dim = architecture.action_dim
        shapes: list[tuple[int, ...]] = []
        if sizes:
            shapes += [(architecture.observation_dim, 2 * sizes[0]), (2 * sizes[0],)]
        for inputs, units in pairwise(sizes):
            shapes += [(2, inputs, units), (2 * units,)]
        width = 2 * sizes[-1] if sizes else architecture.observation_dim
        shapes += [(outputs, width), (outputs,), (architecture.action_dim,)]
        lengths = [int(np.prod(shape)) for shape in shapes]
        self.vector: Array = np.zeros(sum(lengths), dtype)
        pieces = np.split(self.vector, np.cumsum(lengths)[:-1])
        views = [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]
        *hidden, self.head, self.head_bias, self.log_std = views
        self.weights, self.biases = hidden[::2], hidden[1::2]

    @property
    def policy(self) -> Layers:
        """Of the network that gives the mean action."""
        return self._network(0, self.head[:-1], self.head_bias[:-1])

    @property
    def value(self) -> Layers:
        """Of the network that gives the predicted return."""
        return self._network(1, self.head[-1:], self.head_bias[-1:])

    def copies(self) -> Networks:
        """The current numbers, in float32."""
        return Networks(
            weights=tuple(weights.astype(np.float32) for weights, _ in self.policy),
            biases=tuple(biases.astype(np.float32) for _, biases in self.policy),
            value_weights=tuple(weights.astype(np.float32) for weights, _ in self.value),
            value_biases=tuple(biases.astype(np.float32) for _, biases in self.value),
            log_std=self.log_std.astype(np.float32),
        )

    def load(self, networks: Networks) -> None:
        """Take over these numbers."""
        policy = zip(networks.weights, networks.biases, strict=True)
        value = zip(networks.value_weights, networks.value_biases, strict=True)
        for views, layers in ((self.policy, policy), (self.value, value)):
            for (weights, biases), (new_weights, new_biases) in zip(views, layers, strict=True):
                weights[:], biases[:] = new_weights, new_biases
        self.log_std[:] = networks.log_std

    def _network(self, which: int, head: Array, head_bias: Array) -> Layers:
        layers: Layers = []
        for weights, biases in zip(self.weights, self.biases, strict=True):
            half = slice(None, len(biases) // 2) if which == 0 else slice(len(biases) // 2, None)
            layers.append((weights[which] if weights.ndim == 3 else weights[:, half], biases[half]))
        if self.weights:
            head = head[:, half]
        return [*layers, (head.T, head_bias)]

    def clear_off_diagonal(self) -> None:
        """Zero where the head would join one network's units to the other's output."""
        if self.weights:
            half = self.head.shape[1] // 2
            self.head[:-1, half:] = 0.0
            self.head[-1, :half] = 0.0


class Activations:
    """Buffers for a forward and a backward pass over batches of one size.

    Args:
        architecture: Of the networks.
        rows: Of a batch.
        dtype: As the parameters.
    """

    def __init__(self, architecture: Architecture, rows: int, dtype: DTypeLike) -> None:
        widths = [2 * units for units in architecture.net_arch]
        self.hidden = [np.empty((rows, width), dtype) for width in widths]
        self.hidden_gradients = [np.empty((rows, width), dtype) for width in widths]
        self.active = [np.empty((rows, width), np.bool_) for width in widths]
        self.outputs = np.empty((architecture.action_dim + 1, rows), dtype)
        """Mean action and, in the last row, the predicted return."""
        self.output_gradients = np.empty_like(self.outputs)
        """Of the loss, to be filled in before the backward pass."""
        self.ones = np.ones(rows, dtype)


class ActorCritic:
    """The networks and the gradient of their parameters.

    Args:
        architecture: Their sizes.
        generator: Draws the first weights.
        log_std_init: First logarithm of the Gaussian's standard deviation.
        dtype: Of all numbers.
    """

    def __init__(
        self,
        architecture: Architecture,
        generator: np.random.Generator,
        log_std_init: float,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self.architecture = architecture
        self._dtype = dtype
        self._relu = architecture.activation == "relu"
        self.parameters = Parameters(architecture, dtype)
        self.gradient = Parameters(architecture, dtype)
        for layers, gain in ((self.parameters.policy, POLICY_GAIN), (self.parameters.value, VALUE_GAIN)):
            for weights, _ in layers[:-1]:
                weights[:] = orthogonal(generator, weights.shape, HIDDEN_GAIN)
            layers[-1][0][:] = orthogonal(generator, layers[-1][0].shape, gain)
        self.parameters.log_std[:] = log_std_init

    def activations(self, rows: int) -> Activations:
        """Buffers for batches of this many rows."""
        return Activations(self.architecture, rows, self._dtype)

    def mean_actions(self, observations: Array) -> Array:
        """Shape (B, action_dim)."""
        return self._run(self.parameters.policy, observations)

    def values(self, observations: Array) -> Array:
        """Shape (B,)."""
        return self._run(self.parameters.value, observations)[:, 0]

    def _run(self, layers: Layers, inputs: Array) -> Array:
        for weights, biases in layers[:-1]:
            inputs = inputs @ weights
            inputs += biases
            self._activate(inputs)
        weights, biases = layers[-1]
        return inputs @ weights + biases

    def forward(self, observations: Array, buffers: Activations) -> None:
        """Compute `buffers.outputs` for observations of shape (B, obs_dim)."""
        inputs, parameters = observations, self.parameters
        for weights, biases, outputs in zip(parameters.weights, parameters.biases, buffers.hidden, strict=True):
            if weights.ndim == 2:
                np.matmul(inputs, weights, out=outputs)
            else:
                np.matmul(_pair(inputs), weights, out=_pair(outputs))
            outputs += biases
            self._activate(outputs)
            inputs = outputs
        np.matmul(parameters.head, inputs.T, out=buffers.outputs)
        buffers.outputs += parameters.head_bias[:, None]

    def backward(self, observations: Array, buffers: Activations) -> None:
        """Compute `gradient` from `buffers.output_gradients` after a forward pass; spoils the activations."""
        inputs = [observations, *buffers.hidden]
        np.matmul(buffers.output_gradients, inputs[-1], out=self.gradient.head)
        self.gradient.clear_off_diagonal()
        np.matmul(buffers.output_gradients, buffers.ones, out=self.gradient.head_bias)
        if buffers.hidden:
            np.matmul(buffers.output_gradients.T, self.parameters.head, out=buffers.hidden_gradients[-1])
        for i in range(len(buffers.hidden) - 1, -1, -1):
            gradient = buffers.hidden_gradients[i]
            self._apply_derivative(gradient, buffers.hidden[i], buffers.active[i])
            np.matmul(buffers.ones, gradient, out=self.gradient.biases[i])
            if i == 0:
                np.matmul(observations.T, gradient, out=self.gradient.weights[0])
                continue
            pair = _pair(gradient)
            np.matmul(_pair(inputs[i]).swapaxes(1, 2), pair, out=self.gradient.weights[i])
            np.matmul(pair, self.parameters.weights[i].swapaxes(1, 2), out=_pair(buffers.hidden_gradients[i - 1]))

    def _activate(self, hidden: Array) -> None:
        if self._relu:
            np.maximum(hidden, 0.0, out=hidden)
        else:
            np.tanh(hidden, out=hidden)

    def _apply_derivative(self, gradient: Array, hidden: Array, active: NDArray[np.bool_]) -> None:
        """Multiply a gradient by the activation's derivative, which follows from its outputs `hidden`."""
        if self._relu:
            np.greater(hidden, 0.0, out=active)
            gradient *= active
        else:
            hidden *= hidden
            np.subtract(1.0, hidden, out=hidden)
            gradient *= hidden


def orthogonal(generator: np.random.Generator, shape: tuple[int, ...], gain: float) -> NDArray[np.float64]:
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al. 2014)."""
    rows, columns = shape
    normal = generator.standard_normal((max(shape), min(shape)))
    q, r = np.linalg.qr(normal)
    q *= np.sign(np.diag(r))
    matrix: NDArray[np.float64] = gain * (q if rows >= columns else q.T)
    return matrix


def _pair(hidden: Array) -> Any:
    """Activations of shape (B, 2 * units) as (2, B, units)."""
    rows, width = hidden.shape
    return hidden.reshape(rows, 2, width // 2).transpose(1, 0, 2)
