"""Ctrl-C where a step must not be left half done."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.protocols import Backend


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


@contextmanager
def cancelled_by_ctrl_c(backend: Backend, *directories: Path) -> Iterator[None]:
    """Cancel the jobs if the caller is interrupted inside the block, which submits them and waits for them.

    A second Ctrl-C does not keep them alive. A directory without a job is passed over: Ctrl-C came before its
    submission.
    """
    try:
        yield
    except KeyboardInterrupt:
        with held_back():
            for directory in directories:
                with suppress(InvalidInput):
                    backend.cancel(directory)
        raise
