"""Streamed text: emitted by providers, received by the caller's listener."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with each piece of streamed text while the block runs."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell_piece(text: str) -> None:
    """Pass a piece of text to the listener, if there is one."""
    listener = _LISTENER.get()
    if listener is not None and text:
        listener(text)
