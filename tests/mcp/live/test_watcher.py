from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.subscriptions import Subscription
from mcp.server import MCPServer
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from p2p.contracts.background import JobKind, JobView
from p2p.contracts.errors import StorageProblem
from p2p.contracts.job import JobState
from p2p_mcp.live.subscriptions import Subscriptions
from p2p_mcp.live.watcher import touched, watching

pytestmark = pytest.mark.anyio


def _job(number: int = 1, step: int = 0, state: JobState = JobState.RUNNING) -> JobView:
    return JobView(
        job_id=f"job_{number:032x}",
        kind=JobKind.TRAINING,
        session_id="s1",
        iteration=2,
        state=state,
        queue_position=None,
        step=step,
        total=100,
        eta_s=None,
        runs=(),
        error=None,
        created_at="2026-01-01T00:00:00Z",
    )


class Board:
    """Jobs as a test sets them, and how often they were looked at."""

    def __init__(self, *jobs: JobView) -> None:
        self.jobs, self.looks, self.broken = jobs, 0, False

    def list_jobs(self) -> tuple[JobView, ...]:
        self.looks += 1
        if self.broken:
            raise StorageProblem("no disk")
        return self.jobs


def _server(board: Board, poll_s: float = 0.01) -> tuple[MCPServer[Any], Subscriptions]:
    subscriptions = Subscriptions()
    lifespan = watching(board.list_jobs, subscriptions, poll_s=poll_s)
    return MCPServer[Any]("small", subscriptions=subscriptions, lifespan=lifespan), subscriptions


async def _next(stream: Subscription, event: object) -> None:
    """Wait for an event; others may come before it."""
    with anyio.fail_after(5):
        async for told in stream:
            if told == event:
                return


async def _looks(board: Board, more: int) -> None:
    enough = board.looks + more
    with anyio.fail_after(5):
        while board.looks < enough:
            await anyio.sleep(0.01)


async def _turns() -> None:
    """Give every task of the event loop many turns."""
    for _ in range(300):
        await anyio.sleep(0)


async def test_progress_of_a_job_is_told_to_who_follows_it_or_its_session() -> None:
    board = Board(_job(step=1), _job(number=2))
    server, _ = _server(board)
    job, session = f"p2p://jobs/{_job().job_id}", "p2p://sessions/s1"
    async with Client(server) as client, client.listen(resource_subscriptions=[job, session]) as stream:
        for step in (20, 40):
            board.jobs = (_job(step=step), _job(number=2))
            await _next(stream, ResourceUpdated(uri=job))
        await _next(stream, ResourceUpdated(uri=session))


async def test_what_happened_before_the_first_look_is_told_too() -> None:
    board = Board(_job(state=JobState.COMPLETED))
    server, _ = _server(board)
    uri = f"p2p://jobs/{_job().job_id}"
    async with Client(server) as client:
        for _ in range(2):  # and to who comes later
            async with client.listen(resource_subscriptions=[uri]) as stream:
                await _next(stream, ResourceUpdated(uri=uri))


async def test_a_job_that_stands_still_is_not_told_again() -> None:
    board = Board(_job())
    server, subscriptions = _server(board)
    told: list[object] = []
    subscriptions.subscribe(told.append)
    async with Client(server):
        await _looks(board, 3)
        after_the_first_look = len(told)
        await _looks(board, 5)
    assert after_the_first_look == len(told) == len(list(touched(_job())))


async def test_a_new_job_changes_the_list_of_resources() -> None:
    board = Board(_job())
    server, _ = _server(board)
    async with Client(server) as client, client.listen(resources_list_changed=True) as stream:
        await _looks(board, 2)
        board.jobs = (_job(), _job(number=2))
        await _next(stream, ResourcesListChanged())


async def test_nothing_is_read_while_nobody_listens() -> None:
    board = Board(_job())
    server, subscriptions = _server(board, poll_s=0)
    async with Client(server) as client:
        await _turns()
        assert board.looks == 0
        async with client.listen(resource_subscriptions=["p2p://sessions/s1"]):
            await _looks(board, 1)
        while subscriptions.wanted:
            await anyio.sleep(0)
        await anyio.sleep(0.3)  # a look that had begun ends
        looks = board.looks
        await _turns()
        assert board.looks == looks


async def test_of_two_connections_one_watches_and_the_other_takes_over() -> None:
    board = Board(_job())
    server, subscriptions = _server(board)
    told: list[object] = []
    async with Client(server) as second:
        async with Client(server):
            subscriptions.subscribe(told.append)
            await _looks(board, 3)
            assert len(told) == len(list(touched(_job())))
        uri = f"p2p://jobs/{_job().job_id}"
        async with second.listen(resource_subscriptions=[uri]) as stream:
            board.jobs = (_job(step=50),)
            await _next(stream, ResourceUpdated(uri=uri))


async def test_a_disk_that_fails_ends_no_connection() -> None:
    board = Board(_job())
    server, _ = _server(board)
    uri = f"p2p://jobs/{_job().job_id}"
    async with Client(server) as client, client.listen(resource_subscriptions=[uri]) as stream:
        await _next(stream, ResourceUpdated(uri=uri))
        board.broken = True
        await _looks(board, 3)
        board.broken, board.jobs = False, (_job(step=9),)
        await _next(stream, ResourceUpdated(uri=uri))
