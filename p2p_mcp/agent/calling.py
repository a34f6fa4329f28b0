"""The tools of the server as the model reaches them: checked, waited for in code, and watched."""

from collections.abc import Callable, Sequence
from typing import Any

from mcp import Client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Tool
from pydantic import ValidationError

from p2p.contracts.agent import AgentEvent, AgentRequest, EventKind, JobProgress
from p2p.contracts.inference import ToolCall, ToolResult, ToolSpec
from p2p.service.sessions.background import cancel_job
from p2p.service.workspace import Workspace
from p2p_mcp.agent.agent_budget import AgentBudget
from p2p_mcp.agent.converter import failed_call, tool_result, tool_specs
from p2p_mcp.filters import ServerOptions
from p2p_mcp.server import build_server

LOOP = (
    "list_environments",
    "describe_environment",
    "create_session",
    "get_session",
    "write_reward",
    "check_reward",
    "train_iteration",
    "get_job",
    "list_jobs",
    "cancel_job",
    "get_metrics",
    "judge_videos",
    "submit_judgment",
    "view_rollout",
    "compare_iterations",
    "compare_videos",
    "write_judge_code",
    "revise_reward",
    "export_policy",
)
"""What an agent may call unless it is told otherwise; not the tools that start an author of our own."""
POLL_S = 2
"""Length of one look at a job [s]: Ctrl-C waits for it."""


def server_for(ws: Workspace, request: AgentRequest) -> MCPServer[None]:
    """The server whose tools a request may use.

    Raises:
        UnknownName: the request names a tool that there is not.
    """
    if request.tools is None:
        return build_server(ws)
    return build_server(ws, ServerOptions(tools=(*request.tools, "get_job")))


class ToolCaller:
    """Calls tools for the model.

    Args:
        client: of the server.
        service: what the server stands on; stops a training that is over the cap.
        budget: counts environment steps.
        show: shows what happens.
        moved: is told the id of each session that comes up.
        model: the name under which judgments are kept.
    """

    def __init__(
        self,
        client: Client,
        ws: Workspace,
        budget: AgentBudget,
        show: Callable[[AgentEvent], None],
        moved: Callable[[str], None],
        model: str | None = None,
    ) -> None:
        self._client = client
        self._ws = ws
        self._budget = budget
        self._show = show
        self._moved = moved
        self._model = model
        self._tools: dict[str, Tool] = {}

    async def open(self, allowed: Sequence[str]) -> tuple[ToolSpec, ...]:
        """The allowed tools that the server has, as the model is told of them."""
        listed: list[Tool] = []
        page = await self._client.list_tools()
        listed += page.tools
        while page.next_cursor:
            page = await self._client.list_tools(cursor=page.next_cursor)
            listed += page.tools
        self._tools = {tool.name: tool for tool in listed if tool.name in allowed}
        return tool_specs(self._tools.values())

    async def call(self, call: ToolCall) -> ToolResult:
        """Call one tool; everything that goes wrong becomes an answer that the model can act on."""
        problem = call.problem
        if not problem and call.name not in self._tools:
            problem = f"There is no tool {call.name!r} here. Known: {', '.join(self._tools)}."
        if problem:
            return failed_call(call, problem)
        # what the host knows better than the model: a key against starting twice, and who judges
        known: dict[str, Any] = {"idempotency_key": call.call_id, "model": self._model}
        properties = self._tools[call.name].input_schema.get("properties", {})
        arguments = {name: value for name, value in known.items() if name in properties}
        arguments |= {name: given for name, given in call.arguments.items() if given is not None}
        result = await self._call(call.name, arguments)
        if session_id := session_of(call.name, result):
            self._moved(session_id)
        if job := running_job(result):
            result = await self._wait(job)
        return tool_result(call, result)

    async def _call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        try:
            return await self._client.call_tool(name, arguments)
        except MCPError as error:
            return _failed(f"{name} could not be called: {error}")

    async def _wait(self, job: JobProgress) -> CallToolResult:
        """Watch a job until it ends, or stop it at once where it is over the cap."""
        left = self._budget.steps_left + self._budget.spending.job_steps.get(job.job_id, 0)
        if job.total > left:
            cancel_job(self._ws, job.job_id)
            return _failed(
                f"{job.job_id} was stopped: it would take {job.total:,} environment steps over all its runs, and "
                f"{max(left, 0):,} are left to you. Train fewer steps, seeds or configurations."
            )
        self._count(job)
        while True:
            result = await self._call("get_job", {"job_id": job.job_id, "wait_seconds": POLL_S})
            seen = running_job(result, final_too=True)
            if seen is not None:
                self._count(seen)
            if seen is None or seen.state.finished:
                return result

    def _count(self, job: JobProgress) -> None:
        self._budget.count_steps(job.job_id, job.step)
        self._show(AgentEvent(kind=EventKind.JOB, text=job.job_id, spending=self._budget.spending, job=job))


def running_job(result: CallToolResult, final_too: bool = False) -> JobProgress | None:
    """The job that a result is about, where it has not ended; None where it is about none.

    Args:
        result: of a tool.
        final_too: also one that has ended.
    """
    content = result.structured_content
    if result.is_error or not isinstance(content, dict):
        return None
    for candidate in (content, content.get("job")):
        if not isinstance(candidate, dict) or "job_id" not in candidate:
            continue
        known = {name: candidate[name] for name in JobProgress.model_fields if name in candidate}
        try:
            job = JobProgress.model_validate(known)
        except ValidationError:
            continue
        if final_too or not job.state.finished:
            return job
    return None


def session_of(tool: str, result: CallToolResult) -> str | None:
    """The id of the session that a tool has created; None for every other tool."""
    content = result.structured_content
    if tool != "create_session" or result.is_error or not isinstance(content, dict):
        return None
    inner = content.get("session")
    value = content.get("session_id") or (inner.get("session_id") if isinstance(inner, dict) else None)
    return value if isinstance(value, str) else None


def _failed(text: str) -> CallToolResult:
    return CallToolResult.model_validate({"content": [{"type": "text", "text": text}], "isError": True})
