"""Server-sent events: how many streams there are, how they end, and what waits for a slow reader."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

from fastapi import Request

from p2p.contracts.state_notice import StateNotice
from p2p.web.problems import TooMany

MOST = 200
"""Open at a time; a browser needs one for all its tabs."""


class Streams:
    """The open streams of the server."""

    def __init__(self) -> None:
        self.open = 0
        self._closing = False
        self._mailboxes = set[Mailbox]()

    def close(self) -> None:
        """End all of them: the server stops."""
        self._closing = True
        for mailbox in self._mailboxes:
            mailbox.wake()

    @contextmanager
    def mailbox(self) -> "Iterator[Mailbox]":
        """What waits for the reader of a new stream.

        Raises:
            TooMany: there are `MOST` already.
        """
        if self.open >= MOST:
            raise TooMany("streams")
        mailbox = Mailbox(asyncio.get_running_loop())
        self.open += 1
        self._mailboxes.add(mailbox)
        try:
            yield mailbox
        finally:
            self._mailboxes.discard(mailbox)
            self.open -= 1

    @property
    def closing(self) -> bool:
        """Whether the server stops."""
        return self._closing


class Mailbox:
    """Notices for one reader: the newest of each thing, so that a slow one is not buried.

    Args:
        loop: The reader's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pending: dict[tuple[str, str], StateNotice] = {}
        self._woken = asyncio.Event()

    def put(self, notices: Sequence[StateNotice]) -> None:
        """Add notices, from any thread."""
        self._loop.call_soon_threadsafe(self._add, notices)

    def wake(self) -> None:
        """Have the reader look, though there may be nothing."""
        self._woken.set()

    async def wait(self, seconds: float) -> None:
        """Wait until somebody wakes the reader, or the time is over."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def take(self) -> list[StateNotice]:
        """All that waits; empty where the reader was woken for nothing."""
        await self._woken.wait()
        self._woken.clear()
        found = list(self._pending.values())
        self._pending.clear()
        return found

    def _add(self, notices: Sequence[StateNotice]) -> None:
        self._pending |= {(notice.topic, notice.id): notice for notice in notices}
        self._woken.set()


async def mailbox_of(request: Request) -> AsyncIterator[Mailbox]:
    """A mailbox for as long as a request is answered."""
    with streams_of(request).mailbox() as mailbox:
        yield mailbox


def streams_of(request: Request) -> Streams:
    """The streams of the application that a request was sent to."""
    found = request.app.state.streams
    assert isinstance(found, Streams)
    return found
