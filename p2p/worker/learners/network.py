"""Policy and value network of equal sizes, run side by side, with a hand-written backward pass.

Activations have shape (B, 2 * units), the policy's in the left half; the layout of the weights is told in `parameters`.
"""

import numpy as np
from numpy.typing import DTypeLike

from p2p.worker.learners.parameters import Architecture, Array, Layers, Parameters

ROWS_AT_ONCE = 1024
"""Of a whole rollout, whose activations would else be its largest arrays."""


class HiddenLayer:
    """Buffers of one hidden layer.

    Args:
        rows: Of a batch.
        units: Of each network.
        dtype: As the parameters.
    """

    def __init__(self, rows: int, units: int, dtype: DTypeLike) -> None:
        self.outputs = np.empty((rows, 2 * units), dtype)
        self.gradients = np.empty((rows, 2 * units), dtype)
        self.paired_outputs = self.outputs.reshape(rows, 2, units).transpose(1, 0, 2)
        """As (2, B, units)."""
        self.paired_gradients = self.gradients.reshape(rows, 2, units).transpose(1, 0, 2)
        self.active = np.empty((rows, 2 * units), np.bool_)
        self.zeros = np.zeros((rows, 2 * units), dtype)


class Activations:
    """Buffers for a forward and a backward pass over batches of one size.

    Args:
        architecture: Of the networks.
        rows: Of a batch.
        dtype: As the parameters.
    """

    def __init__(self, architecture: Architecture, rows: int, dtype: DTypeLike) -> None:
        self.hidden = [HiddenLayer(rows, units, dtype) for units in architecture.net_arch]
        self.outputs = np.empty((architecture.action_dim + 1, rows), dtype)
        """Mean action and, in the last row, the predicted return."""
        self.output_gradients = np.empty_like(self.outputs)
        """Of the loss, to be filled in before the backward pass."""
        self.ones = np.ones(rows, dtype)


class ActorCritic:
    """Both networks and the gradient of their parameters.

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
        self.parameters.initialize(generator, log_std_init)

    def activations(self, rows: int) -> Activations:
        """Buffers for batches of `rows` rows."""
        return Activations(self.architecture, rows, self._dtype)

    def mean_actions(self, observations: Array) -> Array:
        """Mean actions, shape (B, action_dim)."""
        return self._run(self.parameters.policy, observations)

    def values(self, observations: Array) -> Array:
        """Predicted returns, shape (B,)."""
        values = np.empty(len(observations), self._dtype)
        for start in range(0, len(observations), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            values[rows] = self._run(self.parameters.value, observations[rows])[:, 0]
        return values

    def _run(self, layers: Layers, inputs: Array) -> Array:
        for weights, biases in layers[:-1]:
            inputs = inputs @ weights
            inputs += biases
            if self._relu:
                np.maximum(inputs, 0.0, out=inputs)
            else:
                np.tanh(inputs, out=inputs)
        weights, biases = layers[-1]
        outputs: Array = inputs @ weights
        outputs += biases
        return outputs

    def forward(self, observations: Array, buffers: Activations) -> None:
        """Compute `buffers.outputs` for observations of shape (B, obs_dim + 1), which end in a 1."""
        parameters, hidden = self.parameters, buffers.hidden
        inputs = observations[:, :-1]
        if parameters.first is not None:
            np.matmul(observations, parameters.first, out=hidden[0].outputs)
            inputs = self._activated(hidden[0])
        for (weights, biases), before, layer in zip(parameters.deeper, hidden, hidden[1:], strict=False):
            np.matmul(before.paired_outputs, weights, out=layer.paired_outputs)
            layer.outputs += biases
            inputs = self._activated(layer)
        np.matmul(parameters.head, inputs.T, out=buffers.outputs)
        buffers.outputs += parameters.head_bias[:, None]

    def backward(self, observations: Array, buffers: Activations) -> None:
        """Compute `gradient` from `buffers.output_gradients` after a forward pass; overwrites the activations."""
        parameters, gradient, hidden = self.parameters, self.gradient, buffers.hidden
        inputs = hidden[-1].outputs if hidden else observations[:, :-1]
        np.matmul(buffers.output_gradients, inputs, out=gradient.head)
        gradient.clear_off_diagonal()
        np.matmul(buffers.output_gradients, buffers.ones, out=gradient.head_bias)
        if gradient.first is None:
            return
        np.matmul(buffers.output_gradients.T, parameters.head, out=hidden[-1].gradients)
        for i in range(len(hidden) - 1, 0, -1):
            layer, before = hidden[i], hidden[i - 1]
            self._apply_derivative(layer)
            weight_gradient, bias_gradient = gradient.deeper[i - 1]
            np.matmul(before.paired_outputs.swapaxes(1, 2), layer.paired_gradients, out=weight_gradient)
            np.matmul(buffers.ones, layer.gradients, out=bias_gradient)
            weights = _transposed(parameters.deeper[i - 1][0])
            np.matmul(layer.paired_gradients, weights, out=before.paired_gradients)
        self._apply_derivative(hidden[0])
        np.matmul(observations.T, hidden[0].gradients, out=gradient.first)

    def _activated(self, layer: HiddenLayer) -> Array:
        if self._relu:
            # with an array of zeros numpy is twice as fast as with the number
            np.maximum(layer.outputs, layer.zeros, out=layer.outputs)
        else:
            np.tanh(layer.outputs, out=layer.outputs)
        return layer.outputs

    def _apply_derivative(self, layer: HiddenLayer) -> None:
        """Multiply a layer's gradient by the activation's derivative, computed from its outputs."""
        if self._relu:
            np.greater(layer.outputs, layer.zeros, out=layer.active)
            layer.gradients *= layer.active
        else:
            layer.outputs *= layer.outputs
            np.subtract(1.0, layer.outputs, out=layer.outputs)
            layer.gradients *= layer.outputs


def _transposed(weights: Array) -> Array:
    """A pair of matrices of shape (2, outputs, inputs); a copy where that pays.

    OpenBLAS multiplies by a transposed view a third slower than by a matrix in order; copying two 64 x 64 matrices
    costs half of the difference, larger ones all of it and more.
    """
    view = weights.swapaxes(1, 2)
    return np.ascontiguousarray(view) if weights.size <= 2 * 64 * 64 else view
