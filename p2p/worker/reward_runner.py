"""Runs a reward in n environments, one instance per episode, and lets nothing bad past."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import RewardFailed
from p2p.training.reward_function import RewardFunction
from p2p.worker.reward_loader import FAILURES, LoadedReward, at_line

Floats = NDArray[np.float64]
Infos = Sequence[Mapping[str, Any]]


class RewardRunner:
    """The reward of n environments that are stepped side by side.

    Args:
        reward: What to run.
        n: How many environments.
    """

    def __init__(self, reward: LoadedReward, n: int) -> None:
        self._reward = reward
        self._instances: list[RewardFunction] = [reward.fresh() for _ in range(n)]
        self._began = np.zeros(n, dtype=np.int64)
        self._steps = 0
        self.names: tuple[str, ...] = ()
        """Names of the terms, known after the first step."""

    def reset(self, ids: Sequence[int]) -> None:
        """Give the environments `ids`, which begin an episode, an instance without a past."""
        for i in ids:
            self._instances[i] = self._reward.fresh()
            self._began[i] = self._steps

    def step(self, obs: Floats, actions: Floats, next_obs: Floats, infos: Infos) -> tuple[Floats, Floats]:
        """Rewards, shape (n,), and their terms, shape (n, n_terms), of one step of every environment.

        Raises:
            RewardFailed: the reward raised, changed its terms, or returned what is not a finite number.
        """
        self._steps += 1
        rows = []
        for i, instance in enumerate(self._instances):
            try:
                total, terms = instance.compute(obs[i], actions[i], next_obs[i], infos[i])
                names = tuple(terms)
                row = [float(total), *map(float, terms.values())]
            except FAILURES as error:
                what = f"{at_line(error)}the reward raised {type(error).__name__}: {error}"
                raise self._failure(what, i, obs) from error
            if names != self.names:
                row = self._ordered(names, row, i, obs)
            rows.append(row)
        table = np.array(rows)
        if not np.isfinite(table).all():
            raise self._not_finite(table, obs)
        return table[:, 0], table[:, 1:]

    def _ordered(self, names: tuple[str, ...], row: list[float], i: int, obs: Floats) -> list[float]:
        """The row in the order of the first one.

        Raises:
            RewardFailed: it has other terms.
        """
        if not self.names:
            self.names = names
        if set(names) != set(self.names):
            what = f"the reward's terms changed from {', '.join(self.names)} to {', '.join(names)}"
            raise self._failure(what, i, obs)
        values = dict(zip(names, row[1:], strict=True))
        return [row[0], *(values[name] for name in self.names)]

    def _not_finite(self, table: Floats, obs: Floats) -> RewardFailed:
        i = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        column = table[i, 1:]
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            what = f"the reward's term {self.names[bad[0]]!r} became {column[bad[0]]}"
        else:
            what = f"the reward's total became {table[i, 0]}"
        return self._failure(what, i, obs)

    def _failure(self, what: str, i: int, obs: Floats) -> RewardFailed:
        total, own = self._steps * len(self._instances), self._steps - self._began[i]
        seen = ", ".join(f"{value:.4g}" for value in obs[i])
        at = f"at step {total} (environment {i}, step {own} of its episode), on observation [{seen}]"
        return RewardFailed(f"{what} {at}.".replace("\n", " "))
