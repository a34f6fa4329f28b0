"""Ctrl-C while modules are loaded."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import _exit

INTERRUPTED = 130
OWN_PROCESS = ContextVar("OWN_PROCESS", default=False)
"""Whether this process is one command and nothing else."""


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """End a command's own process at Ctrl-C in the block, which loads modules.

    Out of an import, KeyboardInterrupt may come back as another error; nothing has begun that could be left half done.
    """
    asked = signal.getsignal(signal.SIGINT)
    if not OWN_PROCESS.get() or asked is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: _exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, asked)
