"""SIGTERM while a run trains: obeyed between two rollouts, where nothing is lost."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def sigterm_held_back() -> Iterator[Callable[[], bool]]:
    """Hold SIGTERM back while the block runs; deliver it at its end.

    A process that answers SIGTERM itself, or whose main thread is not this one, is left as it is: the inline backend
    trains in the process of its caller.

    Yields:
        Whether SIGTERM has come.
    """
    come = threading.Event()
    theirs = signal.getsignal(signal.SIGTERM)
    if theirs is not signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield come.is_set
        return
    signal.signal(signal.SIGTERM, lambda *_: come.set())
    try:
        yield come.is_set
    finally:
        signal.signal(signal.SIGTERM, theirs)
    if come.is_set():
        signal.raise_signal(signal.SIGTERM)
