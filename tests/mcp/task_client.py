"""A client that knows the Tasks extension and follows tasks by itself."""

from collections.abc import Sequence
from typing import Any, Literal

import anyio
import mcp.types as types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim

from p2p_mcp.live.tasks import TASKS


class TaskParams(types.RequestParams):
    task_id: str


class TaskRequest(types.Request[TaskParams, str]):
    name_param = "taskId"


class TaskTicket(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    ttl_ms: int | None
    poll_interval_ms: int


class TaskNews(types.Result):
    status: str
    result: types.CallToolResult | None = None


async def ask(session: Any, method: str, task_id: str) -> TaskNews:
    request = TaskRequest(method=method, params=TaskParams(task_id=task_id))
    kind = TaskNews if method == "tasks/get" else types.EmptyResult
    answer = await session.send_request(request, kind)
    return answer if isinstance(answer, TaskNews) else TaskNews(status="acknowledged")


async def follow(ticket: TaskTicket, context: ClaimContext) -> types.CallToolResult:
    while (news := await ask(context.session, "tasks/get", ticket.task_id)).status == "working":
        await anyio.sleep(0.01)
    assert news.result is not None
    return news.result


class KnowsTasks(ClientExtension):
    """A client that follows tasks by itself."""

    identifier = TASKS

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=TaskTicket, resolve=follow),)
