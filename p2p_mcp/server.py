"""The Model Context Protocol server, over `p2p.service` and nothing below it."""

from functools import partial

from p2p.contracts.errors import UnknownName
from p2p.service.progress.job_views import list_jobs
from p2p.service.workspace import Workspace
from p2p_mcp.completions import Completions
from p2p_mcp.filters import TOOLSETS, ServerOptions
from p2p_mcp.live.job_tasks import JobTasks
from p2p_mcp.live.watcher import watching
from p2p_mcp.policy_server import Content, PolicyServer
from p2p_mcp.prompts import add_prompts
from p2p_mcp.resources import add_resources, list_instances
from p2p_mcp.toolbox import add_tools
from p2p_mcp.tools import TOOLS
from p2p_mcp.views.content import reply
from p2p_mcp.views.jobs import answer


def build_server(ws: Workspace, options: ServerOptions | None = None) -> PolicyServer:
    """The server with all it offers.

    Tools are listed in `p2p_mcp.tools.TOOLS`; resources are in `resources`, prompts in `prompts`, completions of ids in
    `completions`. The caller chooses the transport: `server.run("stdio")`, `p2p_mcp.http`, or `mcp.Client(server)` in
    memory.

    Args:
        ws: Whose sessions and jobs it serves.
        options: Which tools are wanted; None means all.

    Raises:
        UnknownName: a toolset or tool of the options does not exist.
    """
    server = PolicyServer(lambda unfilled: fill(unfilled, ws, options or ServerOptions()))
    server.fill()
    return server


def fill(server: PolicyServer, ws: Workspace, options: ServerOptions) -> Content:
    """Put tools, resources and prompts on a server, and return what it reaches the service by.

    Raises:
        UnknownName: a toolset or tool of the options does not exist.
    """
    known = [tool.function.__name__ for tool in TOOLS]
    for name in options.tools:
        if name not in known:
            raise UnknownName("tool", name, known)
    for name in options.toolsets:
        if name not in TOOLSETS:
            raise UnknownName("toolset", name, TOOLSETS)
    add_tools(server, ws, TOOLS, options)
    add_resources(server, ws)
    add_prompts(server)
    return Content(
        instances=lambda: list_instances(ws),
        complete=Completions(ws),
        tasks=JobTasks(ws, lambda job: reply(answer(job))),
        watch=watching(partial(list_jobs, ws), server.subscriptions),
    )
