"""Changes of jobs, told to whoever subscribed to what they touch."""

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
from anyio import to_thread
from mcp.server import MCPServer

from p2p.contracts.background import JobView
from p2p.contracts.errors import P2PError
from p2p_mcp.live.subscriptions import Subscriptions

logger = logging.getLogger(__name__)
POLL_S = 0.5
"""Between two looks at the jobs [s]; nothing is looked at while nobody listens."""
REST = 4
"""A look that took long is followed by a pause of so many times its length."""


ListJobs = Callable[[], Sequence[JobView]]
"""Returns all jobs, newest first."""


def watching(
    list_jobs: ListJobs, subscriptions: Subscriptions, poll_s: float = POLL_S
) -> Callable[[MCPServer[None]], AbstractAsyncContextManager[None]]:
    """A lifespan for `MCPServer` that keeps a watcher running.

    A server on stdio or in memory enters its lifespan once per connection: of several watchers one looks, and the
    next takes over when its connection closes.
    """
    turn = anyio.Lock()

    @asynccontextmanager
    async def lifespan(_server: MCPServer[Any]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, turn, list_jobs, subscriptions, poll_s)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    return lifespan


def touched(job: JobView) -> Iterator[str]:
    """The resources whose content changes with a job."""
    yield f"p2p://jobs/{job.job_id}"
    yield f"p2p://jobs/{job.job_id}/log"
    yield f"p2p://sessions/{job.session_id}"
    if job.iteration is not None:
        iteration = f"p2p://sessions/{job.session_id}/iterations/{job.iteration}"
        yield iteration
        if job.state.finished:
            yield f"{iteration}/judgment"
        yield f"{iteration}/metrics.csv"


async def _watch(turn: anyio.Lock, list_jobs: ListJobs, subscriptions: Subscriptions, poll_s: float) -> None:
    async with turn:
        seen: dict[str, JobView] = {}
        generation = -1
        while True:
            began = anyio.current_time()
            if subscriptions.wanted:
                if generation != subscriptions.generation:  # a newcomer may have read before the change last seen
                    generation = subscriptions.generation
                    seen = {}
                try:
                    seen = await _tell(seen, await to_thread.run_sync(list_jobs), subscriptions)
                except P2PError as problem:  # a full disk ends no connection
                    logger.warning("The jobs cannot be watched: %s", problem)
            await anyio.sleep(max(poll_s, REST * (anyio.current_time() - began)))


async def _tell(seen: dict[str, JobView], jobs: Sequence[JobView], subscriptions: Subscriptions) -> dict[str, JobView]:
    """Announce what differs from `seen`; returns the jobs as they are now."""
    now = {job.job_id: job for job in jobs}
    changed = [job for job_id, job in now.items() if seen.get(job_id) != job]
    for uri in dict.fromkeys(uri for job in changed for uri in touched(job)):
        await subscriptions.resource_updated(uri)
    if seen and seen.keys() != now.keys():
        await subscriptions.resource_list_changed()
    return now
