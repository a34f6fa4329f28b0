"""Pieces of an answer as they come: told by the providers, heard by whoever asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Have `listener` called with each piece of text that models stream while the block runs."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell_piece(text: str) -> None:
    """Hand a piece of text to the listener; do nothing without one."""
    listener = _LISTENER.get()
    if listener is not None and text:
        listener(text)
