"""The Model Context Protocol server: a door over `p2p.service`, and nothing below it."""

from functools import partial

from p2p.contracts.errors import UnknownName
from p2p.service.progress.job_views import list_jobs
from p2p.service.workspace import Workspace
from p2p_mcp import tools
from p2p_mcp.completions import Completions
from p2p_mcp.filters import TOOLSETS, ServerOptions
from p2p_mcp.live.job_tasks import JobTasks
from p2p_mcp.live.watcher import watching
from p2p_mcp.policy_server import Content, PolicyServer
from p2p_mcp.prompts import add_prompts
from p2p_mcp.resources import add_resources, list_instances
from p2p_mcp.toolbox import Toolbox
from p2p_mcp.views.content import reply
from p2p_mcp.views.jobs import answer


def build_server(ws: Workspace, options: ServerOptions | None = None) -> PolicyServer:
    """The server with all it offers.

    Tools are added by the modules of `p2p_mcp.tools`, which `tools.add_all` names; what can be read by `resources`,
    texts to begin with by `prompts`, ids while they are typed by `completions`. Transports are chosen by whoever runs
    it: `server.run("stdio")`, `p2p_mcp.http`, or `mcp.Client(server)` in memory.

    Args:
        ws: What it is a door to.
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
    toolbox = Toolbox(server, ws, options)
    tools.add_all(toolbox)
    _refuse_unknown(options, toolbox)
    add_resources(server, ws)
    add_prompts(server)
    return Content(
        instances=lambda: list_instances(ws),
        complete=Completions(ws),
        tasks=JobTasks(ws, lambda job: reply(answer(job))),
        watch=watching(partial(list_jobs, ws), server.subscriptions),
    )


def _refuse_unknown(options: ServerOptions, toolbox: Toolbox) -> None:
    known = [*toolbox.offered, *toolbox.refused]
    for name in options.tools:
        if name not in known:
            raise UnknownName("tool", name, known)
    for name in options.toolsets:
        if name not in TOOLSETS:
            raise UnknownName("toolset", name, TOOLSETS)
