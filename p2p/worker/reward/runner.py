"""Runs a reward step after step in n environments, one instance per episode, and lets nothing bad past."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import RewardFailed
from p2p.training.reward_function import RewardFunction
from p2p.worker.reward.info_names import names_read
from p2p.worker.reward.loader import FAILURES, LoadedReward, at_line
from p2p.worker.rollout.vec_env import Block

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
"""What rewards read as `info`: name -> one value, or array, per row of a block."""


class RewardRunner:
    """The reward of n environments that are stepped side by side, in the order of time.

    Args:
        reward: What to run.
        n: How many environments.
    """

    def __init__(self, reward: LoadedReward, n: int) -> None:
        self._reward, self._n = reward, n
        self._wanted = names_read(reward.source)
        self._instances: list[RewardFunction] = [reward.fresh() for _ in range(n)]
        self._steps = 0
        self._ages = np.zeros(n, dtype=np.int64)
        self.names: tuple[str, ...] = ()
        """Names of the terms, known after the first step."""

    def run(self, block: Block, columns: Columns) -> Floats:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, changed its terms, or returned what is not a finite number.
        """
        # copies, so that a reward that writes into its arguments changes nothing but them
        obs, actions = block.before.observations.copy(), np.array(block.actions, dtype=np.float64)
        next_obs, infos = block.after.observations.copy(), info_rows(columns, len(obs), self._wanted)
        rows: list[list[float]] = []
        for starts in block.starts.tolist():
            for i, first in enumerate(starts):
                if first:
                    self._instances[i] = self._reward.fresh()
                r = len(rows)
                try:
                    total, terms = self._instances[i].compute(obs[r], actions[r], next_obs[r], next(infos))
                    names = tuple(terms)
                    row = [float(total), *map(float, terms.values())]
                except FAILURES as error:
                    what = f"{at_line(error)}the reward raised {type(error).__name__}: {error}"
                    raise self._failure(what, block, r) from error
                rows.append(row if names == self.names else self._ordered(names, row, block, r))
        table = np.array(rows)
        self.accept(table, block)
        return table

    def accept(self, table: Floats, block: Block) -> None:
        """Take the totals and terms of the next block, wherever they were computed.

        Raises:
            RewardFailed: one of them is not a finite number.
        """
        bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
        if len(bad):
            raise self._failure(self._not_finite(table[bad[0]]), block, int(bad[0]))
        steps = len(block.starts)
        self._steps += steps
        self._ages = np.array([self._age(block, steps - 1, i) for i in range(self._n)])

    def _not_finite(self, row: Floats) -> str:
        wrong = np.flatnonzero(~np.isfinite(row[1:]))
        if len(wrong):
            return f"the reward's term {self.names[wrong[0]]!r} became {row[1:][wrong[0]]}"
        return f"the reward's total became {row[0]}"

    def _ordered(self, names: tuple[str, ...], row: list[float], block: Block, r: int) -> list[float]:
        """The row in the order of the first one.

        Raises:
            RewardFailed: it has other terms.
        """
        if not self.names:
            self.names = names
        if set(names) != set(self.names):
            what = f"the reward's terms changed from {', '.join(self.names)} to {', '.join(names)}"
            raise self._failure(what, block, r)
        values = dict(zip(names, row[1:], strict=True))
        return [row[0], *(values[name] for name in self.names)]

    def _age(self, block: Block, t: int, i: int) -> int:
        """Steps that environment `i` has made in its episode with step `t` of the block."""
        begun = np.flatnonzero(block.starts[: t + 1, i])
        return t + 1 - int(begun[-1]) if len(begun) else int(self._ages[i]) + t + 1

    def _failure(self, what: str, block: Block, r: int) -> RewardFailed:
        t, i = divmod(r, self._n)
        total, own = (self._steps + t + 1) * self._n, self._age(block, t, i)
        seen = ", ".join(f"{value:.4g}" for value in block.before.observations[r])
        at = f"at step {total} (environment {i}, step {own} of its episode), on observation [{seen}]"
        return RewardFailed(f"{what} {at}.".replace("\n", " "))


def info_rows(columns: Columns, count: int, wanted: frozenset[str] | None = None) -> Iterator[dict[str, Any]]:
    """One `info` per row, numbers as plain Python ones, with the names in `wanted`; None stands for all."""
    names = tuple(name for name in columns if wanted is None or name in wanted)
    if not names:
        return ({} for _ in range(count))
    values = (columns[name].tolist() if columns[name].ndim == 1 else columns[name].copy() for name in names)
    return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))
