"""The Tasks extension (SEP-2663): clients that know tasks follow a job as one.

Tools stay ordinary. One that started work returns its handle and names the task in `_meta`; for a request that
declared the extension the interceptor puts a task in the place of that result. Questions to the user, errors and
clients without the extension pass through unchanged.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from anyio import to_thread
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, RequestParams
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

TASKS = "io.modelcontextprotocol/tasks"
"""Identifier of the extension."""
TASK_HANDLE = "p2p/task-id"
"""Key in `_meta` under which a tool's result names the task that it started."""
POLL_MS = 1000
"""How often a client is asked to look [ms]."""

_VERSIONS = frozenset({"2026-07-28"})
_HEADER_MISMATCH = -32020

Context = ServerRequestContext[Any, Any]


class TaskStatus(StrEnum):
    """The life of a task."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    """The tool has answered, with an error perhaps."""
    FAILED = "failed"
    """The request could not be carried out as a request; a training that failed is not meant."""
    CANCELLED = "cancelled"


class Task(BaseModel):
    """How a task stands; `result`, `error` and `input_requests` only where its status calls for them."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    task_id: str
    status: TaskStatus
    status_message: str | None = None
    created_at: str
    """UTC, ISO 8601."""
    ttl_ms: int | None = None
    """How long it stays known [ms]; None for as long as its session."""
    result: dict[str, Any] | None = None
    """What the tool answered, once the status is "completed"."""
    error: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None

    def on_the_wire(self, *, outcome: bool) -> dict[str, Any]:
        """The fields as they are sent; without `outcome` those that every task has."""
        parts = {"result", "error", "input_requests"}
        fields = self.model_dump(mode="json", by_alias=True, exclude=parts)
        details = self.model_dump(mode="json", by_alias=True, include=parts, exclude_none=True) if outcome else {}
        times = {"lastUpdatedAt": datetime.now(UTC).isoformat(timespec="milliseconds"), "pollIntervalMs": POLL_MS}
        return {**fields, **times, **details}


class TaskSource(Protocol):
    """Where tasks are kept. The methods block, and are called in a thread."""

    def look(self, task_id: str) -> Task | None:
        """How a task stands; None where there is none of this id."""
        ...

    def cancel(self, task_id: str) -> None:
        """Ask a task to end; nothing happens to one that has ended."""
        ...

    def answer(self, task_id: str, responses: dict[str, Any]) -> None:
        """Hand the answers to its questions to a task."""
        ...


class TaskParams(RequestParams):
    """Which task is meant."""

    task_id: str


class TaskAnswer(TaskParams):
    """Answers to the questions of a task."""

    input_responses: dict[str, Any] | None = None


class TasksExtension(Extension):
    """`tasks/get`, `tasks/update`, `tasks/cancel`, and tasks in the place of job handles."""

    identifier = TASKS

    def __init__(self, source: TaskSource, required: frozenset[str] = frozenset()) -> None:
        """Serve the tasks of `source`; the tools named in `required` can only be called as tasks."""
        self.source = source
        self.required = required

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Context, call_next: CallNext
    ) -> HandlerResult:
        """Answer with a task where the tool started one and the client knows tasks."""
        modern = ctx.protocol_version in _VERSIONS
        if modern and params.name in self.required:
            require_client_extension(ctx, TASKS)
        result = await call_next(ctx)
        capabilities = ctx.session.client_capabilities
        knows_tasks = modern and capabilities is not None and TASKS in (capabilities.extensions or {})
        if not knows_tasks or not isinstance(result, CallToolResult) or result.is_error:
            return result
        handle = (result.meta or {}).get(TASK_HANDLE)
        if handle is None:
            return result
        return {"resultType": "task", **(await self._look(handle)).on_the_wire(outcome=False)}

    def methods(self) -> Sequence[MethodBinding]:
        """The three methods of the extension."""
        return (
            MethodBinding("tasks/get", TaskParams, self._get, _VERSIONS),
            MethodBinding("tasks/update", TaskAnswer, self._update, _VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, self._cancel, _VERSIONS),
        )

    async def _get(self, context: Context, params: TaskParams) -> dict[str, Any]:
        task = await self._checked(context, params)
        return {"resultType": "complete", **task.on_the_wire(outcome=True)}

    async def _update(self, context: Context, params: TaskAnswer) -> dict[str, Any]:
        await self._checked(context, params)
        await to_thread.run_sync(self.source.answer, params.task_id, params.input_responses or {})
        return {"resultType": "complete"}

    async def _cancel(self, context: Context, params: TaskParams) -> dict[str, Any]:
        await self._checked(context, params)
        await to_thread.run_sync(self.source.cancel, params.task_id)
        return {"resultType": "complete"}

    async def _checked(self, context: Context, params: TaskParams) -> Task:
        """The task that is meant, for a request that may ask for it.

        Raises:
            MCPError: the client did not declare the extension, its header names another task, or there is none.
        """
        require_client_extension(context, TASKS)
        headers = getattr(context.request, "headers", None)
        if headers is not None and headers.get("mcp-name") != params.task_id:
            raise MCPError(code=_HEADER_MISMATCH, message="The header Mcp-Name must equal params.taskId.")
        return await self._look(params.task_id)

    async def _look(self, task_id: str) -> Task:
        task = await to_thread.run_sync(self.source.look, task_id)
        if task is None:
            raise MCPError(code=INVALID_PARAMS, message=f"Task not found: {task_id}")
        return task
