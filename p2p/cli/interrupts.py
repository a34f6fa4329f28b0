"""Ctrl-C where a step must not be left half done."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[Callable[[], bool]]:
    """Let the block come to its end whatever is typed; what is yielded tells whether Ctrl-C was.

    Outside of the main thread, which alone is interrupted, it does nothing.
    """
    typed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, lambda number, _: typed.append(number))
    try:
        yield lambda: bool(typed)
    finally:
        signal.signal(signal.SIGINT, before)
