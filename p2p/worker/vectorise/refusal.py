"""Why a reward, or one call of it, cannot be computed for many rows at once."""

import numpy as np
from numpy.typing import NDArray


class NotVectorised(Exception):
    """A reward has to be called row by row.

    Args:
        reason: Why, in words that need no knowledge of how rewards are vectorised.
        line: Line of the reward's source; None when no single line is to blame.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class CallRefused(NotVectorised):
    """These rows hold what cannot be computed for many at once; others may not."""


class TooManyWays(CallRefused):
    """These rows part too often for computing them together to pay; others may not."""


class Refusal(BaseException):
    """Raised inside a reward where its values cannot be followed; no `except` of the reward catches it."""


class Split(BaseException):
    """The rows part here: those in `rows` go another way through the code than the others.

    Args:
        rows: True for the rows that go together, shape (B,).
    """

    def __init__(self, rows: NDArray[np.bool_]) -> None:
        super().__init__()
        self.rows = rows
