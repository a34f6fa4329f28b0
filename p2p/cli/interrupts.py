"""Ctrl-C while modules are loaded, and where a step must not be left half done."""

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import _exit

INTERRUPTED = 130
OWN_PROCESS = ContextVar("OWN_PROCESS", default=False)
"""Whether this process is one command and nothing else."""


@contextmanager
def loading() -> Iterator[None]:
    """Load modules in the block, in a command's own process: Ctrl-C ends it at once, and no garbage is looked for.

    Out of an import, KeyboardInterrupt may come back as another error; nothing has begun that could be left half done.
    What modules define is kept for good, and looking through it again and again takes 4 % of a start.
    """
    asked = signal.getsignal(signal.SIGINT)
    if not OWN_PROCESS.get() or asked is not signal.default_int_handler:
        yield
        return
    collects = gc.isenabled()
    gc.disable()
    signal.signal(signal.SIGINT, lambda *_: _exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, asked)
        if collects:
            gc.enable()


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
