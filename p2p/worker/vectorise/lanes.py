"""Active rows of a statement, and reasons to refuse a reward or one call of it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# ------------------------------------------------------------------------------------------------------------- refusal
# Why a reward, or one call of it, cannot be computed for many rows at once.


class NotVectorised(Exception):
    """The reward must be called row by row.

    Args:
        reason: Why, in words that need no knowledge of how rewards are vectorised.
        line: Line of the reward's source; None when no single line is to blame.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class CallRefused(NotVectorised):
    """These rows cannot be computed together; others may."""


class TooManyWays(CallRefused):
    """These rows diverge too often to be worth computing together; others may not."""


class Untraceable(BaseException):
    """Raised inside a reward with untraceable values; no `except` of the reward catches it."""


class Split(BaseException):
    """The rows diverge here: those in `rows` take another path than the others.

    Args:
        rows: True for the rows that go together, shape (B,).
    """

    def __init__(self, rows: NDArray[np.bool_]) -> None:
        super().__init__()
        self.rows = rows


# --------------------------------------------------------------------------------------------------------------- lanes
# Which rows a statement is executed for, and what becomes of values that differ between rows.
#
# A reward runs once for all rows. Where it branches on a measured value, both branches run, each for its own rows:
# these are the *active* rows. What cannot be done for some of the rows only raises `Split`, and the rows that go
# different ways are computed one group after the other.


Booleans = NDArray[np.bool_]


class NewKey(NamedTuple):
    """Key that a dict got for some rows only."""

    container: dict[Any, Any]
    key: Any
    rows: Booleans
    frame: object
    """The call of a function that made the dict and alone knows it; None where that is not certain."""


class Lanes:
    """Rows of the current pass; at most one pass per process."""

    __slots__ = ("active", "count", "new_keys", "running")

    def __init__(self) -> None:
        self.running = False
        """Whether a reward is being computed, rather than loaded."""
        self.count = 0
        """Rows of the pass, B."""
        self.active: Booleans | None = None
        """Rows the current statement is executed for, shape (B,); None means all."""
        self.new_keys: list[NewKey] = []
        """Keys that dicts got for some of the rows only; where the pass ends with any, it was wrong."""

    def begin(self, count: int) -> None:
        """Start a pass over `count` rows."""
        self.running = True
        self.count = count
        self.active = None
        self.new_keys = []

    def end(self) -> None:
        """Leave the pass, in every case."""
        self.running = False
        self.active = None
        self.new_keys = []

    def some(self, condition: Booleans) -> bool:
        """Whether `condition` holds for any active row."""
        if not condition.any():
            return False
        return self.active is None or bool((condition & self.active).any())

    def every(self, condition: Booleans) -> bool:
        """Whether `condition` holds for every active row."""
        if condition.all():
            return True
        return self.active is not None and bool((condition | ~self.active).all())

    def decide(self, condition: Booleans) -> bool:
        """Truth of `condition`, equal for all active rows.

        Raises:
            Split: it differs between them.
        """
        if not self.some(condition):
            return False
        if self.every(condition):
            return True
        raise Split(self.within(condition))

    def within(self, condition: Booleans) -> Booleans:
        """Active rows that meet `condition`, shape (B,)."""
        rows = condition if self.active is None else condition & self.active
        return rows if len(rows) == self.count else np.broadcast_to(rows, (self.count,))

    def split(self) -> Split:
        """Exception that computes the active rows separately."""
        assert self.active is not None
        return Split(self.within(self.active))


LANES = Lanes()
