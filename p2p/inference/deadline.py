"""Until when an answer is waited for; set by who waits, read by the connection underneath the vendors' libraries."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Break off every answer that goes on after `deadline` (`time.monotonic()`), even one that trickles in."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float | None:
    """Time until the deadline [s], negative after it; None where there is none."""
    deadline = _DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()
