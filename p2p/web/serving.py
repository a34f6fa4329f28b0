"""The server: where it listens, what it prints, and how it ends."""

import gc
import webbrowser
from collections.abc import Callable

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p.http_server.host_names import HostNames
from p2p.http_server.listening import LOOPBACK, Listener, ListenOptions, checked
from p2p.service.workspace import Workspace
from p2p.web.visitors import Keys, Visitor

TOKEN_VARIABLE = "P2P_WEB_TOKEN"
"""Variable: a token of one's own, the same for every start."""

TUNNEL = "ssh -L {port}:127.0.0.1:{port} THIS_MACHINE"


class WebOptions(ListenOptions):
    """Where the pages are served, and who sees what."""

    port: int = Field(default=8766, ge=0, le=65535, description="Port; 0 takes any free one.")
    share: bool = Field(default=False, description="Print a second address, for readers: nothing can be changed by it.")
    session: str = Field(default="", description="With --share: the one session that readers see.")


def web_options(**fields: object) -> WebOptions:
    """Options as a command line gives them.

    Raises:
        InvalidInput: one of them cannot be used.
    """
    return checked(WebOptions, fields)


class Addresses(Contract):
    """Where the pages are, for the person who started the server; each holds a token."""

    address: str
    readers: str | None
    """For those who can change nothing; None where nothing is shared."""
    port: int
    tunnel: str | None
    """Command for another machine, after which the same address works there; None where it is not needed."""


def serve(
    ws: Workspace, options: WebOptions, announce: Callable[[Addresses], None], *, open_browser: bool = False
) -> None:
    """Answer requests until interrupted.

    Args:
        ws: The workspace.
        options: Where, and for whom.
        announce: Called once, when the address is bound: who connects waits until the pages are loaded.
        open_browser: Whether a browser is opened at the list of sessions; it starts while the pages are loaded.

    Raises:
        InvalidInput: others could reach the server, and no name of it was given.
        EnvironmentProblem: the address cannot be bound.
    """
    if not options.local and not options.allowed_hosts:
        raise InvalidInput(
            f"Others could reach {options.host}. Say under which name they do (--allowed-host NAME), or bind 127.0.0.1 "
            f"and forward the port: {TUNNEL.format(port=options.port)}"
        )
    reader = Visitor(may_change=False, session_id=options.session or None) if options.share else None
    keys = Keys(options.token, reader)
    listener = Listener(options)
    announce(addresses(options, listener, keys))
    if open_browser:  # others see the command of a browser, so that its token works once
        webbrowser.open(f"{listener.address}/?token={keys.one_time_token()}")
    gc.disable()  # what is loaded stays: to look through it again and again took a sixth of the time
    try:
        from p2p.web.app import guarded, web_app  # noqa: PLC0415  takes as long as a browser takes to start

        app = web_app(ws)
    finally:
        gc.enable()
    own = (f"{name}:{listener.port}" for name in LOOPBACK) if options.local else ()
    door = guarded(app, HostNames((*own, *options.allowed_hosts)), keys, options.max_body_bytes)
    listener.serve(door, when_it_stops=app.state.streams.close)


def addresses(options: WebOptions, listener: Listener, keys: Keys) -> Addresses:
    """What a person at the terminal is told."""
    root = listener.address
    if not options.local:
        name = options.allowed_hosts[0]
        root = f"http://{name}" if ":" in name.rpartition("]")[2] else f"http://{name}:{listener.port}"
    page = f"/e2e/{options.session}" if options.session else "/"
    return Addresses(
        address=f"{root}/?token={keys.token}",
        readers=f"{root}{page}?token={keys.reader_token}" if keys.reader_token is not None else None,
        port=listener.port,
        tunnel=TUNNEL.format(port=listener.port) if options.local else None,
    )
