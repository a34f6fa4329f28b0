"""Shuffle a rollout into minibatches, and record each row's losses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from p2p.worker.learners.learner import Batch, Floats


@dataclass(frozen=True, slots=True)
class Rows:
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
    """Derivative of the loss by the probability ratio: minus the normalised advantage over the minibatch's size."""
    floors: Floats
    """What a row adds to the loss is never below this: where it is, the ratio is clipped."""
    log_ratios: Floats
    """Record: log-probability now minus the one then [nats]."""
    policy_losses: Floats
    """Record: what a row would add to the loss if it were not clipped."""
    value_errors: Floats
    """Record: predicted return now minus return."""

    def __len__(self) -> int:
        return len(self.log_probs)

    def cut(self, start: int, end: int) -> "Rows":
        """Views of the rows from `start` up to `end`."""
        vectors = (self.log_probs, self.returns, self.values, self.slopes, self.floors)
        records = (self.log_ratios, self.policy_losses, self.value_errors)
        columns = (vector[start:end] for vector in (*vectors, *records))
        return Rows(self.observations[start:end], self.actions[:, start:end], *columns)


class ShuffledRollout:
    """Buffers for a rollout in an epoch's order; what depends on the order alone is computed for all rows at once.

    Args:
        rows: Of the rollout.
        dims: Of an observation and of an action.
        batch_size: Rows of a minibatch; the last one takes what is left.
        clip_range: Of the probability ratio.
    """

    def __init__(self, rows: int, dims: tuple[int, int], batch_size: int, clip_range: float) -> None:
        self._clip_range = clip_range
        self._starts = np.arange(0, rows, batch_size)
        self._sizes = np.diff(self._starts, append=rows)
        observations = np.ones((rows, dims[0] + 1), np.float32)
        actions = np.empty((dims[1], rows), np.float32)
        self._observations = observations.copy()
        self._whole = Rows(observations, actions, *np.empty((8, rows), np.float32))
        self.minibatches = [self._whole.cut(start, start + batch_size) for start in self._starts.tolist()]

    def __len__(self) -> int:
        return len(self._whole)

    def load(self, batch: Batch) -> None:
        """Copy a rollout in; `shuffle` makes its minibatches."""
        self._batch = batch
        self._observations[:, :-1] = batch.observations

    def shuffle(self, order: NDArray[np.integer]) -> None:
        """Put the rows into this order."""
        batch, rows = self._batch, self._whole
        # with "clip" numpy writes straight into `out`; every index is valid
        np.take(self._observations, order, axis=0, out=rows.observations, mode="clip")
        np.take(batch.actions.T, order, axis=1, out=rows.actions, mode="clip")
        np.take(batch.log_probs, order, out=rows.log_probs, mode="clip")
        np.take(batch.returns, order, out=rows.returns, mode="clip")
        np.take(batch.values, order, out=rows.values, mode="clip")
        advantages = self._normalized(batch.advantages[order])
        np.divide(advantages, -np.repeat(self._sizes, self._sizes), out=rows.slopes, casting="same_kind")
        np.multiply(rows.slopes, 1 - np.sign(rows.slopes) * self._clip_range, out=rows.floors)

    def losses(self, count: int) -> dict[str, NDArray[np.float64]]:
        """Losses of each of the first `count` minibatches."""
        starts, sizes = self._starts[:count], self._sizes[:count]
        rows = self._whole.cut(0, int(sizes.sum()))

        def means(values: Floats) -> NDArray[np.float64]:
            return np.asarray(np.add.reduceat(values, starts) / sizes)

        ratio_changes = np.exp(rows.log_ratios) - 1
        return {
            "policy_loss": np.add.reduceat(np.maximum(rows.policy_losses, rows.floors), starts),
            "value_loss": means(rows.value_errors**2),
            "approx_kl": means(ratio_changes - rows.log_ratios),
            "clip_fraction": means((np.abs(ratio_changes) > self._clip_range).astype(np.float32)),
        }

    def _normalized(self, advantages: Floats) -> NDArray[np.floating]:
        """Standardise within each minibatch of at least two rows."""
        means = np.add.reduceat(advantages, self._starts) / self._sizes
        centred = advantages - np.repeat(means, self._sizes)
        freedom = np.maximum(self._sizes - 1, 1)
        deviations = np.sqrt(np.add.reduceat(centred**2, self._starts) / freedom) + 1e-8
        normalized: NDArray[np.floating] = centred / np.repeat(deviations, self._sizes)
        if self._sizes[-1] == 1:
            normalized[-1] = advantages[-1]
        return normalized
