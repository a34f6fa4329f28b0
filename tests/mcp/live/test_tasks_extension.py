from typing import Any, Literal

import mcp.types as types
import pytest
from mcp.client import Client
from mcp.client.extension import advertise
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from task_client import KnowsTasks, ask

from p2p_mcp.live.tasks import TASK_HANDLE, TASKS, Task, TasksExtension, TaskStatus

pytestmark = pytest.mark.anyio
CREATED = "2026-01-01T00:00:00Z"


class Kitchen:
    """Tasks in memory: each ends with its third look, unless it was cancelled."""

    def __init__(self) -> None:
        self.looks: dict[str, int] = {}
        self.cancelled: set[str] = set()

    def look(self, task_id: str) -> Task | None:
        if task_id not in self.looks:
            return None
        self.looks[task_id] += 1
        if task_id in self.cancelled:
            return Task(task_id=task_id, status=TaskStatus.CANCELLED, created_at=CREATED)
        if self.looks[task_id] < 3:
            return Task(task_id=task_id, status=TaskStatus.WORKING, status_message="stirring", created_at=CREATED)
        result = types.CallToolResult(content=[types.TextContent(type="text", text="soup")])
        return Task(
            task_id=task_id,
            status=TaskStatus.COMPLETED,
            created_at=CREATED,
            result=result.model_dump(mode="json", by_alias=True, exclude_none=True),
        )

    def cancel(self, task_id: str) -> None:
        self.cancelled.add(task_id)

    def answer(self, task_id: str, responses: dict[str, Any]) -> None:
        raise AssertionError(f"nobody asked {task_id}, and {responses} came")


def _server(kitchen: Kitchen) -> MCPServer[Any]:
    server = MCPServer[Any]("kitchen", extensions=[TasksExtension(kitchen, required=frozenset({"feast"}))])

    @server.tool()
    def cook(dish: str) -> types.CallToolResult:
        """Start cooking."""
        if dish == "stone":
            raise ToolError("Stones do not cook.")
        kitchen.looks[dish] = 0
        text = types.TextContent(type="text", text=f"{dish} is on the stove")
        return types.CallToolResult(content=[text], _meta={TASK_HANDLE: dish})

    server.tool(name="feast")(cook)
    return server


def _text(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def test_a_client_that_knows_tasks_gets_the_result_of_the_finished_task() -> None:
    kitchen = Kitchen()
    async with Client(_server(kitchen), extensions=[KnowsTasks()]) as client:
        assert _text(await client.call_tool("cook", {"dish": "soup"})) == "soup"
    assert kitchen.looks["soup"] == 3


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_any_other_client_gets_the_plain_handle(mode: Literal["auto", "legacy"]) -> None:
    async with Client(_server(Kitchen()), mode=mode) as client:
        assert _text(await client.call_tool("cook", {"dish": "soup"})) == "soup is on the stove"


async def test_an_error_of_the_tool_starts_no_task() -> None:
    async with Client(_server(Kitchen()), extensions=[KnowsTasks()]) as client:
        result = await client.call_tool("cook", {"dish": "stone"})
    assert result.is_error
    assert "Stones do not cook." in _text(result)


async def test_a_cancelled_task_says_so() -> None:
    kitchen = Kitchen()
    async with Client(_server(kitchen), extensions=[KnowsTasks()]) as client:
        await client.session.call_tool("cook", {"dish": "soup"}, allow_claimed=True)
        await ask(client.session, "tasks/cancel", "soup")
        await ask(client.session, "tasks/cancel", "soup")
        assert (await ask(client.session, "tasks/get", "soup")).status == "cancelled"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_an_unknown_task_is_refused(method: str) -> None:
    async with Client(_server(Kitchen()), extensions=[advertise(TASKS)]) as client:
        with pytest.raises(MCPError, match="Task not found: toast") as caught:
            await ask(client.session, method, "toast")
    assert caught.value.error.code == types.INVALID_PARAMS


async def test_a_client_that_did_not_declare_tasks_may_not_ask_for_them() -> None:
    kitchen = Kitchen()
    async with Client(_server(kitchen)) as client:
        await client.call_tool("cook", {"dish": "soup"})
        for call in (ask(client.session, "tasks/get", "soup"), client.call_tool("feast", {"dish": "soup"})):
            with pytest.raises(MCPError) as caught:
                await call
            assert caught.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY


async def test_the_older_protocol_does_not_know_the_methods() -> None:
    async with Client(_server(Kitchen()), mode="legacy", extensions=[advertise(TASKS)]) as client:
        with pytest.raises(MCPError) as caught:
            await ask(client.session, "tasks/get", "soup")
    assert caught.value.error.code == types.METHOD_NOT_FOUND
