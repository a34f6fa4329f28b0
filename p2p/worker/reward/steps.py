"""The recorded steps a reward is computed of, and where in the training one of them was."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import RewardFailed

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
"""What rewards read as `info`: name -> one value, or array, per row of a block."""


@dataclass(frozen=True, slots=True)
class Steps:
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

    def shown(self) -> "Taken":
        """The arguments of all rows, where they lie; nobody can write to them."""
        return Taken(
            obs=_read_only(self.obs),
            actions=_read_only(np.asarray(self.actions, dtype=np.float64)),
            next_obs=_read_only(self.next_obs),
            info={name: _read_only(column) for name, column in self.columns.items()},
        )

    def taken(self, rows: NDArray[np.intp]) -> "Taken":
        """Copies of the arguments of some rows, in that order."""
        return Taken(
            obs=self.obs[rows],
            actions=np.asarray(self.actions[rows], dtype=np.float64),
            next_obs=self.next_obs[rows],
            info={name: column[rows] for name, column in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """A reward's arguments."""

    obs: Floats
    actions: Floats
    next_obs: Floats
    info: dict[str, NDArray[Any]]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class Clock:
    """How long n environments have been going.

    Args:
        n: How many.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.steps = 0
        """Of each environment."""
        self.ages = np.zeros(n, dtype=np.int64)
        """Steps of the episodes under way, shape (n,)."""

    def advance(self, starts: NDArray[np.bool_]) -> None:
        """The next steps are over; `starts` has shape (T, n)."""
        last = len(starts) - 1
        self.ages = np.array([self._age(starts, last, i) for i in range(self._n)])
        self.steps += len(starts)

    def failure(self, what: str, steps: Steps, row: int) -> RewardFailed:
        """The error that says what happened, and in which of the next steps."""
        t, i = divmod(row, self._n)
        total, own = (self.steps + t + 1) * self._n, self._age(steps.starts, t, i)
        seen = ", ".join(f"{value:.4g}" for value in steps.obs[row])
        at = f"at step {total} (environment {i}, step {own} of its episode), on observation [{seen}]"
        return RewardFailed(f"{what} {at}.".replace("\n", " "))

    def span(self, steps: Steps) -> str:
        """Which steps the next ones are."""
        first = self.steps * self._n
        return f"on the steps {first + 1} to {first + steps.rows}"

    def _age(self, starts: NDArray[np.bool_], t: int, i: int) -> int:
        """Steps that environment `i` has made in its episode with step `t` of the next ones."""
        begun = np.flatnonzero(starts[: t + 1, i])
        return t + 1 - int(begun[-1]) if len(begun) else int(self.ages[i]) + t + 1


def first_bad_row(table: Floats) -> int | None:
    """The first row with a number that is not finite."""
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    return int(bad[0]) if len(bad) else None


def not_finite(row: Floats, names: tuple[str, ...]) -> str:
    """What is wrong with a row: the total, then the terms by name."""
    wrong = np.flatnonzero(~np.isfinite(row[1:]))
    if len(wrong):
        return f"the reward's term {names[wrong[0]]!r} became {row[1:][wrong[0]]}"
    return f"the reward's total became {row[0]}"
