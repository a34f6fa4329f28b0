"""What the conformance suite asks of tools that start tasks."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from conformance_content import answer, text
from conformance_questions import accepted, form
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import INTERNAL_ERROR, CallToolResult, ElicitRequest, InputRequiredResult

from p2p_mcp.live.tasks import TASK_HANDLE, Task, TasksExtension, TaskSource, TaskStatus


@dataclass
class Chore:
    """A task that needs time, answers, or both; what it comes to is known from the start."""

    seconds: float
    result: CallToolResult | None
    """None for one that fails as a request."""
    questions: dict[str, ElicitRequest] = field(default_factory=dict)
    cancelled: bool = False
    created: float = field(default_factory=time.time)

    @property
    def status(self) -> TaskStatus:
        if self.cancelled:
            return TaskStatus.CANCELLED
        if self.questions:
            return TaskStatus.INPUT_REQUIRED
        if time.time() < self.created + self.seconds:
            return TaskStatus.WORKING
        return TaskStatus.COMPLETED if self.result is not None else TaskStatus.FAILED


class Chores:
    """The suite's tasks, in front of those of the server."""

    def __init__(self, others: TaskSource) -> None:
        self._others, self._chores = others, dict[str, Chore]()

    def start(self, chore: Chore) -> CallToolResult:
        """Begin a chore; the result of a tool that did."""
        task_id = f"chore_{secrets.token_hex(16)}"
        self._chores[task_id] = chore
        return CallToolResult(content=[text("started")], _meta={TASK_HANDLE: task_id})

    def look(self, task_id: str) -> Task | None:
        chore = self._chores.get(task_id)
        if chore is None:
            return self._others.look(task_id)
        status = chore.status
        questions = {key: _wire(question) for key, question in chore.questions.items()}
        return Task(
            task_id=task_id,
            status=status,
            created_at=datetime.fromtimestamp(chore.created, UTC).isoformat(),
            ttl_ms=3_600_000,
            result=_wire(chore.result) if status is TaskStatus.COMPLETED else None,
            error={"code": INTERNAL_ERROR, "message": "broken"} if status is TaskStatus.FAILED else None,
            input_requests=questions if status is TaskStatus.INPUT_REQUIRED else None,
        )

    def cancel(self, task_id: str) -> None:
        chore = self._chores.get(task_id)
        if chore is None:
            self._others.cancel(task_id)
        elif chore.status in (TaskStatus.WORKING, TaskStatus.INPUT_REQUIRED):
            chore.cancelled = True

    def answer(self, task_id: str, responses: dict[str, Any]) -> None:
        for key in responses:
            self._chores[task_id].questions.pop(key, None)


def add_tasks(server: MCPServer[Any]) -> None:
    """Add the tools that start tasks, and let the server's own extension serve these tasks too."""
    extension = next(found for found in server._extensions if isinstance(found, TasksExtension))
    chores = Chores(extension.source)
    extension.source = chores
    extension.required |= {"failing_job", "test_tool_with_task"}

    def starts(name: str, description: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return server.tool(name=name, description=description)

    @server.tool()
    def greet(name: str) -> CallToolResult:
        """Greets at once."""
        return answer(text(f"Hello, {name}!"))

    @starts("slow_compute", "Takes its time.")
    def slow_compute(ctx: Context, seconds: float = 1, label: str = "") -> CallToolResult:
        done = answer(text(f"computed {label}"))
        known = ctx.client_capabilities is not None and "io.modelcontextprotocol/tasks" in (
            ctx.client_capabilities.extensions or {}
        )
        return chores.start(Chore(seconds, done)) if known else done

    @starts("failing_job", "Ends with an error of the tool.")
    def failing_job() -> CallToolResult:
        failed = CallToolResult(content=[text("the job failed")], is_error=True)
        return chores.start(Chore(1, failed))

    @starts("protocol_error_job", "Breaks as a request.")
    def protocol_error_job() -> CallToolResult:
        return chores.start(Chore(0.2, None))

    @starts("confirm_delete", "Waits for a yes.")
    def confirm_delete(filename: str) -> CallToolResult:
        question = {f"q_{secrets.token_hex(4)}": form(f"Delete {filename}?", confirm="boolean")}
        return chores.start(Chore(0, answer(text(f"deleted {filename}")), question))

    @starts("multi_input", "Waits for two answers.")
    def multi_input() -> CallToolResult:
        questions = {f"q_{secrets.token_hex(4)}": form(words, name="string") for words in ("First?", "Second?")}
        return chores.start(Chore(0, answer(text("both answered")), questions))

    @starts("test_tool_with_task", "Asks first, then starts a task.")
    def test_tool_with_task(ctx: Context) -> CallToolResult | InputRequiredResult:
        given = accepted(ctx, "user_name")
        if given is None:
            return InputRequiredResult(input_requests={"user_name": form("What is your name?", name="string")})
        return chores.start(Chore(0.2, answer(text(f"Hello, {given['name']}!"))))


def _wire(value: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
