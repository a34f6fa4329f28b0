"""PPO in numpy, whole: advantages, networks, loss, backward pass, optimiser, update. No torch, no autograd.

A rollout is T steps of n environments. One update learns from its B = T * n rows:

    advantages, returns = generalized_advantages(rewards, values, dones)     # how much better than expected was it?
    for epoch in range(n_epochs):
        shuffle the B rows and cut them into minibatches
        for each minibatch:
            forward            mean actions and predicted returns
            differentiate      the clipped loss, and its gradient at the networks' outputs
            backward           the gradient of all parameters, by the chain rule
            clip, Adam         one step down the gradient

The tests compare every part with stable-baselines3 or torch, the gradient also with finite differences.

Sources:
    PPO, the clipped objective: Schulman et al. 2017, https://arxiv.org/abs/1707.06347
    Advantages: Schulman et al. 2016, https://arxiv.org/abs/1506.02438
    Adam: Kingma & Ba 2015, https://arxiv.org/abs/1412.6980
    What implementations do beyond the papers: Huang et al. 2022,
    https://iclr-blog-track.github.io/2022/03/25/ppo-implementation-details/

Everything is float32. Most arrays are allocated once and written with `out=`: a minibatch takes about 100 us, of which
allocation would be a large part.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import DTypeLike, NDArray

from p2p.contracts.training import TrainConfig
from p2p.worker.learners.learner import Floats, Networks, RolloutBatch
from p2p.worker.saved_state import State, fill, generator_state, joined, part, require_parts, restore_generator

Array = NDArray[np.floating]
Layers = list[tuple[Array, Array]]
"""Weights, shape (inputs, outputs), and biases, shape (outputs,), of one network, as views."""
Permutation = Callable[[int], NDArray[np.integer]]
"""Order of n rows in an epoch."""


# ---------------------------------------------------------------------------------------------------------- advantages


def generalized_advantages(
    rewards: Array, values: Floats, dones: NDArray[np.bool_], gamma: float, lam: float
) -> tuple[Floats, Floats]:
    """Generalised advantage estimates (Schulman et al. 2016, eq. 16) and the returns that the value network learns.

    A_t = δ_t + γλ (1 - done_t) A_{t+1}, with δ_t = r_t + γ (1 - done_t) V_{t+1} - V_t. In float32 and in
    stable-baselines3's order of operations, so that the results are equal to the last bit.

    Args:
        rewards: Shape (T, n); where an episode was cut by its time limit, γ V(last state) is already added.
        values: Predicted returns, shape (T + 1, n); the last row belongs to the states after the rollout.
        dones: Whether step t ended an episode, shape (T, n).
        gamma: Discount, in [0, 1].
        lam: λ in [0, 1]; 1 gives Monte Carlo returns.

    Returns:
        Advantages and returns, each of shape (T, n).
    """
    goes_on = np.float32(1.0) - dones.astype(np.float32)
    deltas = rewards.astype(np.float32) + gamma * values[1:] * goes_on - values[:-1]
    decay = gamma * lam * goes_on
    advantages = deltas
    for t in range(len(deltas) - 2, -1, -1):
        advantages[t] += decay[t] * advantages[t + 1]
    return advantages, advantages + values[:-1]


def explained_variance(values: Array, returns: Array) -> float:
    """Share of the variance of `returns` that `values` predicted, at most 1; NaN where returns do not vary."""
    variance = np.var(returns)
    return float(1 - np.var(returns - values) / variance) if variance else float("nan")


# ------------------------------------------------------------------------------------------------------------ networks


class Parameters:
    """All parameters of both networks, or their gradient: one vector, and named views into it.

    The policy and the value network have hidden layers of equal sizes and run side by side, the policy in the left
    half: one matrix product does the work of two, and the optimiser sees one vector.

        first      (obs_dim + 1, 2 * units)      biases in the last row, because observations end in a 1; what the
                                                 policy does not see stays zero in its half
        deeper     [(2, inputs, units), (2 * units,)] for each further hidden layer: weights, biases
        head       (action_dim + 1, 2 * units)   mean action, and the value in the last row; the two blocks that
                                                 would connect one network to the other's output stay zero
        head_bias  (action_dim + 1,)
        log_std    (action_dim,)                 of the Gaussian policy, the same in every state

    Args:
        obs_dim: Of an observation.
        action_dim: Of an action.
        net_arch: Units of the hidden layers.
        dtype: Of the vector, which begins with zeros.
        privileged: Last entries of an observation that the value network alone sees; they need a hidden layer.
    """

    def __init__(
        self,
        obs_dim: int,
        action_dim: int,
        net_arch: tuple[int, ...],
        dtype: DTypeLike = np.float32,
        privileged: int = 0,
    ) -> None:
        self.seen = obs_dim - privileged
        """First entries of an observation that the policy sees."""
        outputs = action_dim + 1
        shapes: list[tuple[int, ...]] = []
        if net_arch:
            shapes.append((obs_dim + 1, 2 * net_arch[0]))
        for inputs, units in pairwise(net_arch):
            shapes += [(2, inputs, units), (2 * units,)]
        width = 2 * net_arch[-1] if net_arch else obs_dim
        shapes += [(outputs, width), (outputs,), (action_dim,)]
        lengths = [math.prod(shape) for shape in shapes]
        self.vector: Array = np.zeros(sum(lengths), dtype)
        pieces = np.split(self.vector, np.cumsum(lengths)[:-1])
        *hidden, self.head, self.head_bias, self.log_std = map(np.reshape, pieces, shapes)
        self.first: Array | None = hidden[0] if hidden else None
        """None where there is no hidden layer."""
        self.deeper = list(zip(hidden[1::2], hidden[2::2], strict=True))
        self.policy = self._layers_of(0)
        self.value = self._layers_of(1)

    def _layers_of(self, which: int) -> Layers:
        """Views of one network: 0 is the policy, 1 the value network."""
        outputs = slice(None, -1) if which == 0 else slice(-1, None)
        head = self.head[outputs]
        layers: Layers = []
        if self.first is not None:
            first = np.split(self.first, 2, axis=1)[which]
            head = np.split(head, 2, axis=1)[which]
            layers.append((first[: self.seen] if which == 0 else first[:-1], first[-1]))
        layers += [(weights[which], np.split(biases, 2)[which]) for weights, biases in self.deeper]
        return [*layers, (head.T, self.head_bias[outputs])]

    def initialize(self, generator: np.random.Generator, log_std: float) -> None:
        """Draw orthogonal weights with stable-baselines3's gains; biases are zero."""
        for layers, output_gain in ((self.policy, 0.01), (self.value, 1.0)):
            for weights, _ in layers[:-1]:
                weights[:] = orthogonal(generator, weights.shape, gain=2**0.5)
            weights, _ = layers[-1]
            weights[:] = orthogonal(generator, weights.shape, output_gain)
        self.log_std[:] = log_std

    def clear_off_diagonal(self) -> None:
        """Zero the head's blocks that would connect one network's units to the other's output."""
        if self.first is not None:
            half = self.head.shape[1] // 2
            self.head[:-1, half:] = 0.0
            self.head[-1, :half] = 0.0

    def clear_unseen(self) -> None:
        """Zero what would connect the policy to entries of the observation that it does not see."""
        if self.first is not None:
            self.first[self.seen : -1, : self.first.shape[1] // 2] = 0.0

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
        policy = zip(self.policy, networks.weights, networks.biases, strict=True)
        value = zip(self.value, networks.value_weights, networks.value_biases, strict=True)
        for (weights, biases), new_weights, new_biases in (*policy, *value):
            weights[:] = new_weights
            biases[:] = new_biases
        self.log_std[:] = networks.log_std


def orthogonal(generator: np.random.Generator, shape: tuple[int, ...], gain: float) -> NDArray[np.float64]:
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain`.

    Saxe et al. 2014, https://arxiv.org/abs/1312.6120
    """
    rows, columns = shape
    normal = generator.standard_normal((max(shape), min(shape)))
    q, r = np.linalg.qr(normal)
    q *= np.sign(np.diag(r))  # without it the distribution would not be uniform (Mezzadri 2007)
    matrix: NDArray[np.float64] = gain * (q if rows >= columns else q.T)
    return matrix


class HiddenLayer:
    """Buffers of one hidden layer of both networks for a minibatch of B rows."""

    def __init__(self, rows: int, units: int, dtype: DTypeLike) -> None:
        shape = (rows, 2 * units)
        self.outputs = np.empty(shape, dtype)
        self.gradients = np.empty(shape, dtype)
        """Of the loss by the outputs, then by the sums before the activation."""
        # the same memory as a pair of matrices, shape (2, B, units)
        self.paired_outputs = self.outputs.reshape(rows, 2, units).transpose(1, 0, 2)
        self.paired_gradients = self.gradients.reshape(rows, 2, units).transpose(1, 0, 2)
        self.active = np.empty(shape, np.bool_)
        self.zeros = np.zeros(shape, dtype)


class Activations:
    """Buffers for the forward and the backward pass over a minibatch of B rows."""

    def __init__(self, rows: int, net_arch: tuple[int, ...], action_dim: int, dtype: DTypeLike) -> None:
        self.hidden = [HiddenLayer(rows, units, dtype) for units in net_arch]
        self.outputs = np.empty((action_dim + 1, rows), dtype)
        """Mean action and, in the last row, the predicted return."""
        self.output_gradients = np.empty_like(self.outputs)
        """Of the loss by `outputs`; filled in before the backward pass."""
        self.ones = np.ones(rows, dtype)


class ActorCritic:
    """Policy and value network, and the gradient of their parameters.

    Args:
        obs_dim: Of an observation.
        action_dim: Of an action.
        net_arch: Units of the hidden layers, the same in both networks.
        activation: Of the hidden layers.
        generator: Draws the first weights.
        log_std_init: First logarithm of the Gaussian's standard deviation.
        dtype: Of all numbers.
        privileged: Last entries of an observation that the value network alone sees.
    """

    ROWS_AT_ONCE = 1024
    """Rows of a rollout evaluated at once: the activations of all would be the largest arrays of a training."""

    def __init__(  # noqa: PLR0913  (the numbers that make a network)
        self,
        obs_dim: int,
        action_dim: int,
        net_arch: tuple[int, ...],
        activation: Literal["relu", "tanh"],
        generator: np.random.Generator,
        log_std_init: float,
        dtype: DTypeLike = np.float32,
        privileged: int = 0,
    ) -> None:
        self._sizes = net_arch, action_dim, dtype
        self._dtype = dtype
        self._relu = activation == "relu"
        self.parameters = Parameters(obs_dim, action_dim, net_arch, dtype, privileged)
        self.gradient = Parameters(obs_dim, action_dim, net_arch, dtype, privileged)
        self.parameters.initialize(generator, log_std_init)

    def activations(self, rows: int) -> Activations:
        """Buffers for minibatches of `rows` rows."""
        return Activations(rows, *self._sizes)

    # While a rollout is recorded, one network is asked at a time and nothing is kept.

    def mean_actions(self, observations: Array) -> Array:
        """Mean actions, shape (B, action_dim)."""
        return self._run(self.parameters.policy, observations[:, : self.parameters.seen])

    def values(self, observations: Array) -> Array:
        """Predicted returns, shape (B,)."""
        values = np.empty(len(observations), self._dtype)
        for start in range(0, len(observations), self.ROWS_AT_ONCE):
            rows = slice(start, start + self.ROWS_AT_ONCE)
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

    # While it is learnt from, both networks run at once and everything the backward pass needs is kept.

    def forward(self, observations: Array, buffers: Activations) -> None:
        """Compute `buffers.outputs` for observations of shape (B, obs_dim + 1), which end in a 1."""
        parameters = self.parameters
        hidden = buffers.hidden
        inputs = observations[:, :-1]
        if parameters.first is not None:
            np.matmul(observations, parameters.first, out=hidden[0].outputs)
            inputs = self._activate(hidden[0])
        for (weights, biases), before, layer in zip(parameters.deeper, hidden, hidden[1:], strict=False):
            np.matmul(before.paired_outputs, weights, out=layer.paired_outputs)
            layer.outputs += biases
            inputs = self._activate(layer)
        np.matmul(parameters.head, inputs.T, out=buffers.outputs)
        buffers.outputs += parameters.head_bias[:, None]

    def backward(self, observations: Array, buffers: Activations) -> None:
        """Compute `gradient` from `buffers.output_gradients` after a forward pass; overwrites the activations."""
        parameters = self.parameters
        gradient = self.gradient
        hidden = buffers.hidden
        inputs = hidden[-1].outputs if hidden else observations[:, :-1]
        np.matmul(buffers.output_gradients, inputs, out=gradient.head)
        gradient.clear_off_diagonal()
        np.matmul(buffers.output_gradients, buffers.ones, out=gradient.head_bias)
        if gradient.first is None:
            return
        np.matmul(buffers.output_gradients.T, parameters.head, out=hidden[-1].gradients)
        for i in range(len(hidden) - 1, 0, -1):
            layer = hidden[i]
            before = hidden[i - 1]
            self._multiply_by_derivative(layer)
            weight_gradient, bias_gradient = gradient.deeper[i - 1]
            np.matmul(before.paired_outputs.swapaxes(1, 2), layer.paired_gradients, out=weight_gradient)
            np.matmul(buffers.ones, layer.gradients, out=bias_gradient)
            weights, _ = parameters.deeper[i - 1]
            transposed = weights.swapaxes(1, 2)
            if weights.size <= 2 * 64 * 64:
                # OpenBLAS is a third slower on a transposed view. Copying two 64 x 64 matrices costs half of that
                # difference, copying larger ones all of it and more.
                transposed = np.ascontiguousarray(transposed)
            np.matmul(layer.paired_gradients, transposed, out=before.paired_gradients)
        self._multiply_by_derivative(hidden[0])
        np.matmul(observations.T, hidden[0].gradients, out=gradient.first)
        gradient.clear_unseen()

    def _activate(self, layer: HiddenLayer) -> Array:
        if self._relu:
            np.maximum(layer.outputs, layer.zeros, out=layer.outputs)  # twice as fast as with the number 0
        else:
            np.tanh(layer.outputs, out=layer.outputs)
        return layer.outputs

    def _multiply_by_derivative(self, layer: HiddenLayer) -> None:
        """Multiply a layer's gradient by the activation's derivative, computed from its outputs."""
        if self._relu:
            np.greater(layer.outputs, layer.zeros, out=layer.active)
            layer.gradients *= layer.active
        else:  # tanh' = 1 - tanh²
            layer.outputs *= layer.outputs
            np.subtract(1.0, layer.outputs, out=layer.outputs)
            layer.gradients *= layer.outputs


# --------------------------------------------------------------------------------------------------------- minibatches


@dataclass(frozen=True, slots=True)
class Minibatch:
    """B rows of a shuffled rollout; vectors have shape (B,)."""

    observations: Floats
    """Shape (B, obs_dim + 1); the last column is 1."""
    actions: Floats
    """Shape (action_dim, B)."""
    log_probs: Floats
    """Under the policy that acted [nats]."""
    returns: Floats
    values: Floats
    """Predicted during the rollout."""
    slopes: Floats
    """Derivative of the policy loss by the probability ratio: -(normalised advantage) / B."""
    clipped: Floats
    """Least that a row contributes to the policy loss: there the ratio is clipped."""
    # results, written while the minibatch is learnt from
    log_ratios: Floats
    """Log-probability now minus the one then [nats]."""
    policy_losses: Floats
    """Contribution of each row before clipping."""
    value_errors: Floats
    """Predicted return now minus return."""

    def __len__(self) -> int:
        return len(self.log_probs)

    def cut(self, start: int, end: int) -> "Minibatch":
        """Views of the rows from `start` up to `end`."""
        inputs = (self.log_probs, self.returns, self.values, self.slopes, self.clipped)
        results = (self.log_ratios, self.policy_losses, self.value_errors)
        vectors = (vector[start:end] for vector in (*inputs, *results))
        return Minibatch(self.observations[start:end], self.actions[:, start:end], *vectors)


class ShuffledRollout:
    """A rollout in an epoch's order. What depends on the order alone is computed for all rows at once.

    Args:
        rows: B of the whole rollout.
        obs_dim: Of an observation.
        action_dim: Of an action.
        batch_size: Rows of a minibatch; the last one takes what is left.
        clip_range: ε of the probability ratio.
    """

    def __init__(self, rows: int, obs_dim: int, action_dim: int, batch_size: int, clip_range: float) -> None:
        self._clip_range = clip_range
        self._starts = np.arange(0, rows, batch_size)
        self._sizes = np.diff(self._starts, append=rows)
        observations = np.ones((rows, obs_dim + 1), np.float32)
        actions = np.empty((action_dim, rows), np.float32)
        self._observations = observations.copy()
        self._whole = Minibatch(observations, actions, *np.empty((8, rows), np.float32))
        self.minibatches = [self._whole.cut(start, start + batch_size) for start in self._starts.tolist()]

    def __len__(self) -> int:
        return len(self._whole)

    def load(self, batch: RolloutBatch) -> None:
        """Take in a rollout; `shuffle` fills the minibatches."""
        self._batch = batch
        self._observations[:, :-1] = batch.observations

    def shuffle(self, order: NDArray[np.integer]) -> None:
        """Put the rows into this order."""
        batch = self._batch
        rows = self._whole
        # with "clip" numpy writes straight into `out`; every index is valid
        np.take(self._observations, order, axis=0, out=rows.observations, mode="clip")
        np.take(batch.actions.T, order, axis=1, out=rows.actions, mode="clip")
        np.take(batch.log_probs, order, out=rows.log_probs, mode="clip")
        np.take(batch.returns, order, out=rows.returns, mode="clip")
        np.take(batch.values, order, out=rows.values, mode="clip")
        # Advantages of mean 0 and deviation 1 within each minibatch of at least two rows.
        raw = batch.advantages[order]
        means = np.add.reduceat(raw, self._starts) / self._sizes
        centred = raw - np.repeat(means, self._sizes)
        freedom = np.maximum(self._sizes - 1, 1)
        deviations = np.sqrt(np.add.reduceat(centred**2, self._starts) / freedom) + 1e-8
        advantages: Array = centred / np.repeat(deviations, self._sizes)
        if self._sizes[-1] == 1:
            advantages[-1] = raw[-1]
        # PPO maximises mean(min(ratio * A, clip(ratio, 1 - ε, 1 + ε) * A)) (eq. 7). With slope s = -A / B that is to
        # minimise sum(max(ratio * s, s * (1 - sign(s) * ε))): the second argument depends on the order alone.
        np.divide(advantages, -np.repeat(self._sizes, self._sizes), out=rows.slopes, casting="same_kind")
        np.multiply(rows.slopes, 1 - np.sign(rows.slopes) * self._clip_range, out=rows.clipped)

    def losses(self, count: int) -> dict[str, NDArray[np.float64]]:
        """Losses of each of the first `count` minibatches, for the metrics."""
        starts = self._starts[:count]
        sizes = self._sizes[:count]
        rows = self._whole.cut(0, int(sizes.sum()))

        def means(values: Floats) -> NDArray[np.float64]:
            return np.asarray(np.add.reduceat(values, starts) / sizes)

        ratio_changes = np.exp(rows.log_ratios) - 1
        return {
            "policy_loss": np.add.reduceat(np.maximum(rows.policy_losses, rows.clipped), starts),
            "value_loss": means(rows.value_errors**2),
            "approx_kl": means(ratio_changes - rows.log_ratios),  # Schulman's k3: http://joschu.net/blog/kl-approx.html
            "clip_fraction": means((np.abs(ratio_changes) > self._clip_range).astype(np.float32)),
        }


# ---------------------------------------------------------------------------------------------------------------- loss


HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def gaussian_offset(log_std: Array) -> float:
    """Log-normaliser of a diagonal Gaussian: log σ + ½ log 2π, summed over the dimensions [nats]."""
    return float(np.add.reduce(log_std)) + len(log_std) * HALF_LOG_2PI


def differentiate(
    rows: Minibatch, network: ActorCritic, buffers: Activations, config: TrainConfig
) -> tuple[float, float]:
    """Gradient of PPO's loss (Schulman et al. 2017, eq. 9) by the networks' outputs and by `log_std`.

    loss = policy loss + vf_coef * mean((V - return)²) - ent_coef * entropy

    Args:
        rows: A minibatch; its results are written.
        network: After its forward pass over these rows; `gradient.log_std` is written.
        buffers: Of this pass; `output_gradients` are written.
        config: Gives `ent_coef`, `vf_coef` and `clip_range_vf`.

    Returns:
        The policy's entropy, and an estimate of its divergence from the one that acted:
        E[ratio - 1 - log ratio] [nats].
    """
    log_std = network.parameters.log_std
    inverse_std = np.exp(-log_std)[:, None]

    # log π(a) = -½ Σ ((a - mean) / σ)² - offset
    scores = rows.actions - buffers.outputs[:-1]
    scores *= inverse_std
    squares = scores * scores
    log_ratios = np.add.reduce(squares, axis=0, out=rows.log_ratios)
    log_ratios *= -0.5
    log_ratios -= rows.log_probs
    offset = gaussian_offset(log_std)
    log_ratios -= offset
    ratios = np.exp(log_ratios)

    # d loss / d log π is the loss itself, because d ratio / d log π = ratio; it is 0 where the ratio is clipped
    losses = np.multiply(ratios, rows.slopes, out=rows.policy_losses)
    by_log_prob = losses * (losses >= rows.clipped)
    scores *= inverse_std  # d log π / d mean = (a - mean) / σ²
    np.multiply(scores, by_log_prob, out=buffers.output_gradients[:-1])
    by_log_std = np.matmul(squares, by_log_prob, out=network.gradient.log_std)  # d log π / d log σ = ((a-mean)/σ)² - 1
    by_log_std -= float(np.add.reduce(by_log_prob)) + config.ent_coef

    values = buffers.outputs[-1]
    by_value = buffers.output_gradients[-1]
    scale = 2 * config.vf_coef / len(values)
    limit = config.clip_range_vf
    if limit is None:
        errors = np.subtract(values, rows.returns, out=rows.value_errors)
        np.multiply(errors, scale, out=by_value)
    else:
        changes = values - rows.values
        clipped = np.clip(changes, -limit, limit)
        errors = np.subtract(rows.values + clipped, rows.returns, out=rows.value_errors)
        np.multiply(errors, scale * (changes == clipped), out=by_value)

    divergence = float(np.add.reduce(ratios - log_ratios)) / len(ratios) - 1
    entropy = offset + 0.5 * len(log_std)
    return entropy, divergence


# ----------------------------------------------------------------------------------------------------------- optimiser


BETA_1 = 0.9
BETA_2 = 0.999
EPSILON = 1e-5
"""As stable-baselines3 sets it for PPO."""
NEGLIGIBLE = 1e-30
FLUSH_STEPS = 100
"""Steps between flushes: too few for a moment above `NEGLIGIBLE` to fall to a subnormal number (< 1.2e-38)."""


class Adam:
    """Adam (Kingma & Ba 2015) on one vector, which it changes in place.

    The moments are kept as sums, without their factors 1 - β, which the step makes good: two passes over the vector
    less. The moments of a unit that has died would decay to subnormal numbers, on which a processor is many times
    slower (2,000 of them in 11,000 made a step take 41 us instead of 15), so small ones are set to zero.

    Args:
        parameters: The vector.
    """

    def __init__(self, parameters: Array) -> None:
        self._parameters = parameters
        self._gradients = np.zeros_like(parameters)
        self._squares = np.zeros_like(parameters)
        self._scratch = np.empty_like(parameters)
        self._steps = 0

    def step(self, gradient: Array, learning_rate: float) -> None:
        """Take one step down the gradient."""
        self._steps += 1
        gradients = self._gradients
        squares = self._squares
        scratch = self._scratch
        gradients *= BETA_1
        gradients += gradient
        squares *= BETA_2
        np.multiply(gradient, gradient, out=scratch)
        squares += scratch
        first = (1 - BETA_1) / (1 - BETA_1**self._steps)
        second = math.sqrt((1 - BETA_2) / (1 - BETA_2**self._steps))
        np.sqrt(squares, out=scratch)
        scratch += EPSILON / second
        np.divide(gradients, scratch, out=scratch)
        scratch *= learning_rate * first / second
        self._parameters -= scratch
        if self._steps % FLUSH_STEPS == 0:
            for moment in (gradients, squares):
                moment[np.abs(moment) < NEGLIGIBLE] = 0.0

    def state(self) -> State:
        """First and second moments, without the parameters."""
        return {"gradients": self._gradients, "squares": self._squares, "steps": np.array(self._steps)}

    def restore(self, state: State) -> None:
        """Continue from saved moments."""
        fill(self._gradients, state["gradients"])
        fill(self._squares, state["squares"])
        self._steps = int(state["steps"])


def clip_gradient_norm(gradient: Array, max_norm: float) -> float:
    """Scale the gradient in place to a norm of at most `max_norm`, as torch does; return the norm before."""
    norm = math.sqrt(float(gradient @ gradient))
    if norm + 1e-6 > max_norm:
        gradient *= max_norm / (norm + 1e-6)
    return norm


# ------------------------------------------------------------------------------------------------------------- learner


class FastLearner:
    """PPO behind the interface `Learner`. Bit-reproducible for equal seeds.

    Args:
        config: Hyperparameters, sizes of the networks, seed.
        obs_dim: Of an observation.
        action_dim: Of an action.
        permutation: Orders the rows of an epoch; by default the learner's own generator does.
        privileged: Last entries of an observation that the value network alone sees.
    """

    def __init__(
        self,
        config: TrainConfig,
        obs_dim: int,
        action_dim: int,
        permutation: Permutation | None = None,
        privileged: int = 0,
    ) -> None:
        weights, self._noise, self._order = np.random.default_rng(config.seed).spawn(3)
        self._config = config
        self._dims = obs_dim, action_dim
        self._permutation = permutation or self._order.permutation
        self.network = ActorCritic(
            obs_dim,
            action_dim,
            config.net_arch,
            config.activation,
            weights,
            config.log_std_init,
            privileged=privileged,
        )
        """Parameters, and the gradient of the last minibatch."""
        self._adam = Adam(self.network.parameters.vector)
        self._rollout: ShuffledRollout | None = None
        self._buffers: dict[int, Activations] = {}
        """By the rows of a minibatch: the last one of a rollout may be smaller."""
        self._n_updates = 0

    @classmethod
    def for_spaces(cls, config: TrainConfig, observation_space: Box, action_space: Box, privileged: int = 0) -> Self:
        """Learner for these spaces."""
        return cls(config, observation_space.shape[0], action_space.shape[0], privileged=privileged)

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

    def log_probs(self, observations: Floats, actions: Floats) -> Floats:
        """See `Learner.log_probs`."""
        log_std = self.network.parameters.log_std
        scores = (actions - self.network.mean_actions(observations)) * np.exp(-log_std)
        found: Floats = -0.5 * np.add.reduce(scores * scores, axis=1) - np.float32(gaussian_offset(log_std))
        return found

    def values(self, observations: Floats) -> Floats:
        """See `Learner.values`."""
        return self.network.values(observations)

    def update(self, batch: RolloutBatch, learning_rate: float) -> dict[str, float]:
        """See `Learner.update`."""
        config = self._config
        network = self.network
        size = len(batch)
        if self._rollout is None or len(self._rollout) != size:
            self._rollout = ShuffledRollout(size, *self._dims, config.batch_size, config.clip_range)
        rollout = self._rollout
        rollout.load(batch)
        max_kl = math.inf if config.target_kl is None else 1.5 * config.target_kl
        losses: list[dict[str, NDArray[np.float64]]] = []
        grad_norms: list[float] = []
        diverged = False
        for _ in range(config.n_epochs):
            rollout.shuffle(self._permutation(size))
            entropies: list[float] = []
            for rows in rollout.minibatches:
                buffers = self._buffers.get(len(rows))
                if buffers is None:
                    buffers = self._buffers[len(rows)] = network.activations(len(rows))
                network.forward(rows.observations, buffers)
                entropy, divergence = differentiate(rows, network, buffers, config)
                entropies.append(entropy)
                if diverged := divergence > max_kl:
                    break  # the policy is too far from the one that acted: this update ends here
                network.backward(rows.observations, buffers)
                grad_norms.append(clip_gradient_norm(network.gradient.vector, config.max_grad_norm))
                self._adam.step(network.gradient.vector, learning_rate)
            losses.append(rollout.losses(len(entropies)) | {"entropy": np.array(entropies)})
            self._n_updates += 1
            if diverged:
                break
        means = {name: float(np.concatenate([epoch[name] for epoch in losses]).mean()) for name in losses[0]}
        return means | {
            "approx_kl": float(losses[-1]["approx_kl"].mean()),
            "grad_norm": sum(grad_norms) / max(1, len(grad_norms)),
            "policy_std": float(np.exp(network.parameters.log_std).mean()),
            "n_updates": self._n_updates,
        }

    def networks(self) -> Networks:
        """See `Learner.networks`."""
        return self.network.parameters.copies()

    def load(self, networks: Networks, optimizer: State | None = None) -> None:
        """See `Learner.load`."""
        self.network.parameters.load(networks)
        self._adam = Adam(self.network.parameters.vector)
        if optimizer is not None:
            require_parts(optimizer, self._adam.state())
            self._adam.restore(optimizer)

    def optimizer(self) -> State:
        """See `Learner.optimizer`."""
        return self._adam.state()

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
