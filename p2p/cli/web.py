"""`p2p web`: REST and pages, for a browser on this machine."""

import os
from typing import Annotated

import typer

from p2p.cli.options import AllowWeakSandbox, AsJson, BackendName, RunsDir, examples, open_workspace
from p2p.cli.output import Output

WEB_EXAMPLES = examples(
    "p2p web --open",
    "p2p web --port 9000 --runs-dir runs",
    "p2p web --share --session session_20260403_120000_1a2b3c4d",
)

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes any free one.")]
Host = Annotated[str, typer.Option("--host", help="Address to bind; another than this machine's needs --allowed-host.")]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option("--allowed-host", metavar="NAME[:PORT]", help="Name under which it is reached; repeatable."),
]
Open = Annotated[bool, typer.Option("--open", help="Open a browser.")]
Share = Annotated[
    bool, typer.Option("--share", help="Print a second address, for readers: nothing can be changed with it.")
]
SharedSession = Annotated[
    str, typer.Option("--session", metavar="SESSION", help="With --share: the one session that readers see.")
]


def web(  # noqa: PLR0913  typer reads one parameter per option
    port: Port = 8766,
    host: Host = "127.0.0.1",
    allowed_host: AllowedHost = None,
    open_browser: Open = False,
    share: Share = False,
    session: SharedSession = "",
    backend: BackendName = None,
    allow_weak_sandbox: AllowWeakSandbox = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Serve sessions, trainings and verdicts to a browser on this machine, and as REST.

    The address that is printed holds a token, new at each start; P2P_WEB_TOKEN sets one of your own. Whoever has it can
    run reward code here.
    """
    # the web server takes longer to import than all other commands
    from p2p.service.progress.listing import find_session  # noqa: PLC0415
    from p2p.web.serving import TOKEN_VARIABLE, Addresses, serve, web_options  # noqa: PLC0415

    ws = open_workspace(runs_dir, backend, allow_weak_sandbox)
    options = web_options(
        port=port,
        host=host,
        allowed_hosts=tuple(allowed_host or ()),
        token=os.environ.get(TOKEN_VARIABLE) or None,
        share=share or bool(session),
        session=find_session(ws, session) if session else "",
    )

    def announce(found: Addresses) -> None:
        tunnel = f"On another machine run {found.tunnel}, then open the same address." if found.tunnel else ""
        readers = f"For readers, who can change nothing: {found.readers}" if found.readers else ""
        Output(as_json).result(
            found.model_dump(),
            f"p2p in the browser: {found.address}",
            *filter(None, [readers, tunnel]),
            "Ctrl-C ends the server; trainings go on.",
        )

    serve(ws, options, announce, open_browser=open_browser)
