"""Which rows a statement is executed for, and what becomes of values that differ between rows.

A reward runs once for all rows. Where it branches on a measured value, both branches run, each for its own rows: these
are the *active* rows. What cannot be done for some of the rows only raises `Split`, and the rows that go different ways
are computed one group after the other.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.refusal import Split

Booleans = NDArray[np.bool_]


class NewKey(NamedTuple):
    """A key that a dict got for some of the rows only."""

    container: dict[Any, Any]
    key: Any
    rows: Booleans
    frame: object
    """The call of a function that made the dict and alone knows it; None where that is not certain."""


class Lanes:
    """The rows of the pass that is being computed. There is one pass at a time in a process."""

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
        self.running, self.count, self.active, self.new_keys = True, count, None, []

    def end(self) -> None:
        """Leave the pass, however it ended."""
        self.running, self.active, self.new_keys = False, None, []

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
        """The truth of `condition`, the same for all active rows.

        Raises:
            Split: it differs between them.
        """
        if not self.some(condition):
            return False
        if self.every(condition):
            return True
        raise Split(self.within(condition))

    def within(self, condition: Booleans) -> Booleans:
        """The active rows for which `condition` holds, shape (B,)."""
        rows = condition if self.active is None else condition & self.active
        return rows if len(rows) == self.count else np.broadcast_to(rows, (self.count,))

    def split(self) -> Split:
        """What to raise to compute the active rows on their own."""
        assert self.active is not None
        return Split(self.within(self.active))


LANES = Lanes()
