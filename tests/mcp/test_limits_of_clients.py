"""What one client can ask of the server: calls that take long, calls it leaves, lists without an end."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError

from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.admission import Admission
from p2p_mcp.server import build_server
from p2p_mcp.time_limit import CLIENT, TimeLimit

HEADERS = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"mcp-session-id", b"1234")]


class Work:
    """A blocking tool that ends when it is let go, and counts how often it runs."""

    def __init__(self) -> None:
        self.gate, self.running, self.most, self.begun = threading.Event(), 0, 0, 0
        self._lock = threading.Lock()

    def __call__(self, number: int) -> int:
        with self._lock:
            self.begun += 1
            self.running += 1
            self.most = max(self.most, self.running)
        self.gate.wait(20)
        with self._lock:
            self.running -= 1
        return number


def _tool(work: Work, **limits: Any) -> Any:
    def tool(number: int) -> int:
        return work(number)

    return TimeLimit(**limits).limited(tool, heavy=True)


async def _until(condition: Any) -> None:
    with anyio.fail_after(20):
        while not condition():
            await asyncio.sleep(0.005)


def test_few_heavy_calls_run_at_a_time_and_all_are_answered() -> None:
    work = Work()

    async def scene() -> list[int]:
        CLIENT.set("one")
        tool = _tool(work, heavy=2, heavy_each=8)
        calls = [asyncio.create_task(tool(number)) for number in range(6)]
        await _until(lambda: work.running == 2)
        work.gate.set()
        return await asyncio.gather(*calls)

    assert asyncio.run(scene()) == [*range(6)]
    assert work.most == 2


def test_a_client_with_too_many_heavy_calls_is_refused_and_another_is_not() -> None:
    work = Work()

    async def scene() -> int:
        tool = _tool(work, heavy=4, heavy_each=2)
        CLIENT.set("one")
        calls = [asyncio.create_task(tool(number)) for number in range(2)]
        await _until(lambda: work.running == 2)
        with pytest.raises(ToolError, match="2 calls of this client"):
            await tool(3)
        CLIENT.set("another")
        calls.append(asyncio.create_task(tool(4)))
        await _until(lambda: work.running == 3)
        work.gate.set()
        await asyncio.gather(*calls)
        CLIENT.set("one")
        return int(await tool(5))

    assert asyncio.run(scene()) == 5


def test_a_call_that_waits_is_forgotten_when_its_client_leaves() -> None:
    work = Work()

    async def scene() -> None:
        CLIENT.set("one")
        tool = _tool(work, heavy=1, heavy_each=8)
        first = asyncio.create_task(tool(0))
        await _until(lambda: work.running == 1)
        waiting = [asyncio.create_task(tool(number)) for number in range(1, 6)]
        await asyncio.sleep(0.05)
        for call in waiting:
            call.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        work.gate.set()
        await first
        assert await tool(9) == 9

    asyncio.run(scene())
    assert work.begun == 2


def test_on_stdio_nothing_waits_for_a_turn() -> None:
    work = Work()

    async def scene() -> None:
        tool = _tool(work, heavy=1, heavy_each=1)
        calls = [asyncio.create_task(tool(number)) for number in range(3)]
        await _until(lambda: work.running == 3)
        work.gate.set()
        await asyncio.gather(*calls)

    asyncio.run(scene())


def test_a_turn_that_does_not_come_in_time_is_told() -> None:
    work = Work()

    async def scene() -> None:
        CLIENT.set("one")
        tool = _tool(work, heavy=1, heavy_each=8, limit_s=0.2)
        with pytest.raises(ToolError, match="still at work"):
            await tool(0)
        with pytest.raises(ToolError, match="busy with other calls"):
            await tool(1)
        work.gate.set()

    asyncio.run(scene())


def test_a_client_that_leaves_cancels_its_call() -> None:
    seen: list[dict[str, Any]] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        seen.append(json.loads((await receive())["body"]))
        if len(seen) == 1:
            assert (await receive())["type"] == "http.disconnect"

    async def scene() -> None:
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "check_setup"}}
        messages = [
            {"type": "http.request", "body": json.dumps(call).encode(), "more_body": False},
            {"type": "http.disconnect"},
        ]

        async def receive() -> Any:
            return messages.pop(0)

        async def send(_message: Any) -> None:
            pass

        admission = Admission(app, ["localhost"], None, 10_000, 5.0)
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": HEADERS, "client": ("127.0.0.1", 1)}
        await admission(scope, receive, send)

    asyncio.run(scene())
    assert [message["method"] for message in seen] == ["tools/call", "notifications/cancelled"]
    assert seen[1]["params"]["requestId"] == 7


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (
            "create_session",
            {"intent": "run", "criteria": ["x"] * 50_000},
            "criteria has 50000 items, expected at most",
        ),
        ("create_session", {"intent": "run", "criteria": ["x"] * 500}, "criteria has 500 items, expected at most 20."),
        ("create_session", {"intent": ["x"] * 5_000}, "intent has 5000 items"),
        ("create_session", {"intent": "run", "config": {"deep": [[0] * 2_000]}}, "a list in config has 2000 items"),
    ],
)
def test_a_list_without_an_end_gets_one_refusal(
    tmp_path: Path, tool: str, arguments: dict[str, Any], told: str
) -> None:
    server = build_server(Workspace(Settings(runs_dir=tmp_path)))

    async def call() -> str:
        async with Client(server) as client:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            return str(result.content[0].text)  # type: ignore[union-attr]

    said = asyncio.run(call())
    assert told in said
    assert "\n" not in said
