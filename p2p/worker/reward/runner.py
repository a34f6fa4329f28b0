"""Runs a reward step after step in n environments, one instance per episode, and lets nothing bad past."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.training.reward_function import RewardFunction
from p2p.worker.reward.info_names import names_read
from p2p.worker.reward.loader import FAILURES, LoadedReward, at_line
from p2p.worker.reward.steps import Clock, Columns, Floats, Steps, first_bad_row, not_finite

Progress = NDArray[np.int64]
"""Its first number is the row that is being computed."""


class RewardRunner:
    """The reward of n environments that are stepped side by side, in the order of time.

    Args:
        reward: What to run.
        n: How many environments.
        progress: Told which row is computed, for whoever watches from another process; None tells nobody.
    """

    def __init__(self, reward: LoadedReward, n: int, progress: Progress | None = None) -> None:
        self._reward = reward
        self._wanted = names_read(reward.source)
        self._instances: list[RewardFunction] = [reward.fresh() for _ in range(n)]
        self._row = memoryview((np.zeros(1, dtype=np.int64) if progress is None else progress).data)
        self.clock = Clock(n)
        self.names: tuple[str, ...] = ()
        """Names of the terms, known after the first step."""

    def run(self, steps: Steps) -> Floats:
        """Total and terms of every row of the next steps, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, changed its terms, or returned what is not a finite number.
        """
        table = self.live(steps)
        self.accept(table, steps)
        return table

    def live(self, steps: Steps) -> Floats:
        """The same, without a look at the numbers, and without these steps being over.

        Raises:
            RewardFailed: the reward raised, or changed its terms.
        """
        # copies, so that a reward that writes into its arguments changes nothing but them
        obs, actions = steps.obs.copy(), np.array(steps.actions, dtype=np.float64)
        next_obs, infos = steps.next_obs.copy(), info_rows(steps.columns, len(obs), self._wanted)
        rows: list[list[float]] = []
        for starts in steps.starts.tolist():
            for i, first in enumerate(starts):
                r = len(rows)
                self._row[0] = r
                if first:
                    self._instances[i] = self._reward.fresh()
                try:
                    total, terms = self._instances[i].compute(obs[r], actions[r], next_obs[r], next(infos))
                    names = tuple(terms)
                    row = [float(total), *map(float, terms.values())]
                except FAILURES as error:
                    what = f"{at_line(error)}the reward raised {type(error).__name__}: {error}"
                    raise self.clock.failure(what, steps, r) from error
                rows.append(row if names == self.names else self._ordered(names, row, steps, r))
        self._row[0] = -1
        return np.array(rows)

    def accept(self, table: Floats, steps: Steps) -> None:
        """Take the totals and terms of the next steps, wherever they were computed.

        Raises:
            RewardFailed: one of them is not a finite number.
        """
        bad = first_bad_row(table)
        if bad is not None:
            raise self.clock.failure(not_finite(table[bad], self.names), steps, bad)
        self.clock.advance(steps.starts)

    def _ordered(self, names: tuple[str, ...], row: list[float], steps: Steps, r: int) -> list[float]:
        """The row in the order of the first one.

        Raises:
            RewardFailed: it has other terms.
        """
        if not self.names:
            self.names = names
        if set(names) != set(self.names):
            what = f"the reward's terms changed from {', '.join(self.names)} to {', '.join(names)}"
            raise self.clock.failure(what, steps, r)
        values = dict(zip(names, row[1:], strict=True))
        return [row[0], *(values[name] for name in self.names)]


def info_rows(columns: Columns, count: int, wanted: frozenset[str] | None = None) -> Iterator[dict[str, Any]]:
    """One `info` per row, numbers as plain Python ones, with the names in `wanted`; None stands for all."""
    names = tuple(name for name in columns if wanted is None or name in wanted)
    if not names:
        return ({} for _ in range(count))
    values = (columns[name].tolist() if columns[name].ndim == 1 else columns[name].copy() for name in names)
    return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))
