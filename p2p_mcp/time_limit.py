"""Tools that answer in time: a client gives up after a minute, and the work it asked for goes on."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from threading import Semaphore, Thread
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

LIMIT_S = 40.0
"""Longest time to an answer [s]; the strictest client waits for 60."""


KEPT_S = 120.0
"""How long an answer is kept that came too late [s]."""
HEAVY, HEAVY_EACH = 4, 8
"""Heavy calls at a time of all clients over HTTP, and of one client with those that wait for their turn."""
TURN_POLL_S = 0.02
CLIENT: ContextVar[str] = ContextVar("client", default="")
"""Who asks over HTTP; empty on stdio, where there is one client."""


class TimeLimit:
    """Runs blocking tools in threads; what takes too long is kept for the caller who asks again.

    Of heavy tools some run at a time, and those who called them over HTTP have some each: whoever leaves while his
    call waits for its turn is forgotten, and what has begun keeps its place until it has ended.

    Args:
        limit_s: How long a caller waits for its answer [s].
        kept_s: How long an answer is kept that nobody waited for [s].
        heavy: Heavy calls at a time of all clients over HTTP.
        heavy_each: Heavy calls of one client, with those that wait.
    """

    def __init__(
        self,
        limit_s: float = LIMIT_S,
        kept_s: float = KEPT_S,
        heavy: int = HEAVY,
        heavy_each: int = HEAVY_EACH,
    ) -> None:
        self._limit_s = limit_s
        self._kept_s = kept_s
        self._left_behind: dict[str, tuple[float, Future[Any]]] = {}
        self._turns = Semaphore(heavy)
        self._heavy_each = heavy_each
        self._heavy_of: Counter[str] = Counter()

    def limited(self, function: Callable[..., Any], *, heavy: bool = False) -> Callable[..., Any]:
        """The same function as a coroutine that answers in time."""

        @wraps(function)
        async def answer(*args: Any, **kwargs: Any) -> Any:
            client = CLIENT.get()
            deadline = time.monotonic() + self._limit_s
            key = f"{client} {function.__name__} {args!r} {kwargs!r}"
            # Work that an earlier call with the same arguments has left; what is old and done is forgotten.
            oldest = time.monotonic() - self._kept_s
            for other, (left_at, earlier) in [*self._left_behind.items()]:
                if earlier.done() and left_at < oldest:
                    del self._left_behind[other]
            known = self._left_behind.get(key)
            work = known[1] if known is not None else None
            if work is None:
                turn = await self._turn(client, function.__name__, deadline) if heavy and client else None
                work = _started(lambda: function(*args, **kwargs))
                if turn is not None:
                    work.add_done_callback(turn)
            try:
                if await _ended(work, max(0.0, deadline - time.monotonic())):
                    self._left_behind.pop(key, None)
                    return work.result()
            finally:  # also when the client has cancelled: it may ask again
                if not work.done():
                    self._left_behind[key] = (time.monotonic(), work)
            raise ToolError(
                f"{function.__name__} is still at work after {self._limit_s:.0f} s. "
                "Call it again with the same arguments: it answers when it is done, and does nothing twice."
            )

        return answer

    async def _turn(self, client: str, name: str, deadline: float) -> Callable[[Future[Any]], None]:
        """Wait for a place among the heavy calls; what is returned gives it back.

        Raises:
            ToolError: the client has too many already, or none came free in time.
        """
        if self._heavy_of[client] >= self._heavy_each:
            raise ToolError(
                f"{name} was not called: {self._heavy_each} calls of this client that take long are under way. "
                "Wait for their answers, then call it again."
            )
        self._heavy_of[client] += 1
        try:
            while not self._turns.acquire(blocking=False):
                if time.monotonic() > deadline:
                    raise ToolError(f"{name} was not called: the server is busy with other calls. Call it again later.")
                await asyncio.sleep(TURN_POLL_S)
        except BaseException:  # also when its client has left
            self._heavy_of[client] -= 1
            raise

        def give_back(_work: Future[Any]) -> None:
            self._heavy_of[client] -= 1
            self._turns.release()

        return give_back


def _started(work: Callable[[], Any]) -> Future[Any]:
    """Begin in a thread that does not keep the process alive when its client has left."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="tool", daemon=True).start()
    return future


async def _ended(work: Future[Any], seconds: float) -> bool:
    """Whether some work ends in time; it goes on if not, and if nobody waits any longer."""
    loop = asyncio.get_running_loop()
    rung = asyncio.Event()

    def ring(_work: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the client has left
            loop.call_soon_threadsafe(rung.set)

    work.add_done_callback(ring)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await rung.wait()
    return work.done()
