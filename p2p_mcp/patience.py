"""Tools that answer in time: a client gives up after a minute, and the work it asked for goes on."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import wraps
from threading import Lock, Thread
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

LIMIT_S = 40.0
"""Longest time to an answer [s]; the strictest client waits for 60."""


class Patience:
    """Runs blocking tools in threads; what takes too long is kept for the caller who asks again.

    Args:
        limit_s: How long a caller waits for its answer [s].
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._left_behind: dict[str, Future[Any]] = {}
        self._lock = Lock()

    def within_limit(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function as a coroutine that answers in time."""

        @wraps(function)
        async def answer(*args: Any, **kwargs: Any) -> Any:
            key = f"{function.__name__} {args!r} {kwargs!r}"
            with self._lock:
                work = self._left_behind.pop(key, None)
            work = work or _started(lambda: function(*args, **kwargs))
            if await _ended(work, self._limit_s):
                return work.result()
            with self._lock:
                self._left_behind[key] = work
            raise ToolError(
                f"{function.__name__} is still at work after {self._limit_s:.0f} s. "
                "Call it again with the same arguments: it answers when it is done, and does nothing twice."
            )

        return answer


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
    loop, rung = asyncio.get_running_loop(), asyncio.Event()

    def ring(_work: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the client has left
            loop.call_soon_threadsafe(rung.set)

    work.add_done_callback(ring)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await rung.wait()
    return work.done()
