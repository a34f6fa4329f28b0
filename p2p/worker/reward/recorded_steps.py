"""Recorded steps for computing a reward, and tracing of failures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import RewardFailed

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
"""What rewards read as `info`: name -> one value, or array, per row of a block."""
Evaluated = tuple[Floats, tuple[str, ...]]
"""Total and terms of every row, shape (rows, 1 + n_terms), and the names of the terms."""


@dataclass(frozen=True, slots=True)
class RecordedSteps:
    """T steps of n environments: the arguments of a reward. Row t * n + i is step t of environment i."""

    obs: Floats
    """Shape (T * n, obs_dim)."""
    actions: NDArray[np.floating]
    """As the environment got them, shape (T * n, action_dim)."""
    next_obs: Floats
    """Shape (T * n, obs_dim)."""
    starts: NDArray[np.bool_]
    """First step of an episode, shape (T, n)."""
    columns: Columns

    @property
    def rows(self) -> int:
        """T * n."""
        return int(self.starts.size)

    def shown(self) -> "Arguments":
        """Read-only views of the arguments of all rows."""
        return Arguments(
            obs=_read_only(self.obs),
            actions=_read_only(np.asarray(self.actions, dtype=np.float64)),
            next_obs=_read_only(self.next_obs),
            info={name: _read_only(column) for name, column in self.columns.items()},
        )

    def taken(self, rows: NDArray[np.intp]) -> "Arguments":
        """Copies of the arguments of these rows, in this order."""
        return Arguments(
            obs=self.obs[rows],
            actions=np.asarray(self.actions[rows], dtype=np.float64),
            next_obs=self.next_obs[rows],
            info={name: column[rows] for name, column in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a reward for many steps, shape (rows, ...)."""

    obs: Floats
    actions: Floats
    next_obs: Floats
    info: dict[str, NDArray[Any]]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class StepFailed(RewardFailed):
    """The reward failed; `StepCounter.failure` adds where.

    Args:
        what: What happened, without a full stop.
        row: Row of the steps; None if unknown.
    """

    def __init__(self, what: str, row: int | None = None) -> None:
        super().__init__(what)
        self.row = row


class StepCounter:
    """Counts the steps of n environments, to locate a failure.

    Args:
        n: Environments.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.steps = 0
        """Of each environment."""
        self.ages = np.zeros(n, dtype=np.int64)
        """Steps of the running episodes, shape (n,)."""

    def checked(self, compute: Callable[[RecordedSteps], Evaluated], steps: RecordedSteps) -> Evaluated:
        """Rewards of the next steps; raises unless all are finite.

        Raises:
            RewardFailed: `compute` raised StepFailed, or a number is not finite; the message says at which step and
                on which observation.
        """
        try:
            table, names = compute(steps)
        except StepFailed as failure:
            raise self.failure(failure.args[0], steps, failure.row) from failure.__cause__
        bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
        if len(bad):
            row = table[bad[0]]
            wrong = np.flatnonzero(~np.isfinite(row[1:]))
            what = f"term {names[wrong[0]]!r} became {row[1:][wrong[0]]}" if len(wrong) else f"total became {row[0]}"
            raise self.failure(f"the reward's {what}", steps, int(bad[0]))
        return table, names

    def advance(self, starts: NDArray[np.bool_]) -> None:
        """Count the next steps; `starts` has shape (T, n)."""
        last = len(starts) - 1
        self.ages = np.array([self._age(starts, last, i) for i in range(self._n)])
        self.steps += len(starts)

    def failure(self, what: str, steps: RecordedSteps, row: int | None) -> RewardFailed:
        """Error with cause and place, among the next steps."""
        what = what.replace("\n", " ")
        if row is None:
            first = self.steps * self._n
            return RewardFailed(f"{what}, on the steps {first + 1} to {first + steps.rows}.")
        t, i = divmod(row, self._n)
        total = (self.steps + t + 1) * self._n
        own = self._age(steps.starts, t, i)
        seen = ", ".join(f"{value:.4g}" for value in steps.obs[row])
        at = f"at step {total} (environment {i}, step {own} of its episode), on observation [{seen}]"
        return RewardFailed(f"{what} {at}.")

    def _age(self, starts: NDArray[np.bool_], t: int, i: int) -> int:
        """Steps of environment `i` in its episode, at step `t` of the next ones."""
        begun = np.flatnonzero(starts[: t + 1, i])
        return t + 1 - int(begun[-1]) if len(begun) else int(self.ages[i]) + t + 1
