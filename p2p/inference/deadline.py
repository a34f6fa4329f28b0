"""Deadline of an answer: set by the caller, read by the connection below the vendors' libraries."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Abort answers at `deadline` (`time.monotonic()`), even those that trickle in."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float | None:
    """Seconds until the deadline, negative after it; None without one."""
    deadline = _DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()
