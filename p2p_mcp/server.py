"""The Model Context Protocol server: a door over `p2p.service`, and nothing below it."""

from typing import Any

from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, Resource, Tool
from pydantic import ValidationError

import p2p
from p2p.contracts.errors import UnknownName
from p2p.service import Service
from p2p_mcp import tools
from p2p_mcp.apps.page import dashboard_page
from p2p_mcp.arguments import refusal, refuse_unknown
from p2p_mcp.completions import add_completions
from p2p_mcp.content import reply
from p2p_mcp.job_tasks import JobTasks
from p2p_mcp.jobs import answer
from p2p_mcp.prompts import add_prompts
from p2p_mcp.resources import add_resources, list_instances
from p2p_mcp.subscriptions import Subscriptions
from p2p_mcp.tasks import TasksExtension
from p2p_mcp.toolbox import TOOLSETS, ServerOptions, Toolbox
from p2p_mcp.watcher import watching

INSTRUCTIONS = """\
p2p turns one sentence ("do a backflip and land on your feet") into a trained, filmed and judged policy.
The loop: create_session -> write_reward -> train_iteration -> get_job (repeat until it has ended) -> get_metrics ->
judge_videos -> submit_judgment -> revise_reward -> train_iteration -> ...
You write the rewards and look at the pictures; p2p trains, measures and keeps the record.
Training goes on in the background: never wait for its end in one call; get_job waits up to 45 s at a time.
Every result has a next_step that names the tool to call next. To hand over the whole loop: run_session.
"""
DAY_MS = 86_400_000


class PolicyServer(MCPServer[None]):
    """Lists its tools without the titles that pydantic gives to every field, a fifth of what a model would read.

    Args:
        service: What it is a door to.
        settings: Those of `MCPServer`.
    """

    def __init__(self, service: Service, **settings: Any) -> None:
        super().__init__("p2p", **settings)
        self._service = service

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool whose arguments are all known; what is wrong with them is said in a line each."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            known = [one.name for one in self._tool_manager.list_tools()]
            raise ToolError(str(UnknownName("tool", name[:100], known)))
        refuse_unknown(name, arguments, tool.parameters.get("properties", {}))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError) and not isinstance(error, UnexpectedToolError):
                raise ToolError(refusal(name, error.__cause__)) from error.__cause__
            raise

    async def list_resources(self) -> list[Resource]:
        """All resources, also those of sessions and jobs that have come since."""
        instances = await to_thread.run_sync(lambda: list(list_instances(self._service)))
        return [*await super().list_resources(), *instances]

    async def list_tools(self) -> list[Tool]:
        """All tools."""
        return [
            tool.model_copy(
                update={
                    "input_schema": without_titles(tool.input_schema),
                    "output_schema": without_titles(tool.output_schema) if tool.output_schema else None,
                }
            )
            for tool in await super().list_tools()
        ]


def build_server(service: Service, options: ServerOptions | None = None) -> PolicyServer:
    """The server with all it offers.

    Tools are added by the modules of `p2p_mcp.tools`, which `tools.add_all` names; what can be read by `resources`,
    texts to begin with by `prompts`, ids while they are typed by `completions`. Transports are chosen by whoever runs
    it: `server.run("stdio")`, `p2p_mcp.http`, or `mcp.Client(server)` in memory.

    Args:
        service: What it is a door to.
        options: Which tools are wanted; None means all.

    Raises:
        UnknownName: a toolset or tool of the options does not exist.
    """
    options = options or ServerOptions()
    subscriptions = Subscriptions()
    server = PolicyServer(
        service,
        title="p2p: prompt to policy",
        description=p2p.__doc__,
        instructions=INSTRUCTIONS,
        version=p2p.__version__,
        lifespan=watching(service, subscriptions),
        subscriptions=subscriptions,
        extensions=[dashboard_page(), TasksExtension(JobTasks(service, lambda job: reply(answer(job))))],
        cache_hints={"tools/list": CacheHint(DAY_MS, "public")},
    )
    subscriptions.serve(server)
    toolbox = Toolbox(server, service, options)
    tools.add_all(toolbox)
    _refuse_unknown(options, toolbox)
    add_resources(server, service)
    add_prompts(server)
    add_completions(server, service)
    return server


def without_titles(schema: Any) -> Any:
    """A JSON schema without its `title` annotations; a property that is called "title" stays."""
    if isinstance(schema, list):
        return [without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    return {
        key: {name: without_titles(part) for name, part in value.items()}
        if key in ("properties", "$defs") and isinstance(value, dict)
        else without_titles(value)
        for key, value in kept.items()
    }


def _refuse_unknown(options: ServerOptions, toolbox: Toolbox) -> None:
    known = [*toolbox.offered, *toolbox.refused]
    for name in options.tools:
        if name not in known:
            raise UnknownName("tool", name, known)
    for name in options.toolsets:
        if name not in TOOLSETS:
            raise UnknownName("toolset", name, TOOLSETS)
