"""The server over Streamable HTTP: on this machine by default, elsewhere only with a token and named hosts."""

import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.streamable_http import EventStore
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.types import ASGIApp

from p2p.contracts.errors import InvalidInput
from p2p.http_server.listening import BODY_S, LOOPBACK, Listener, ListenOptions, checked
from p2p_mcp.admission import Admission
from p2p_mcp.open_sessions import OpenSessions

PATH = "/mcp"
IDLE_S = 1800.0
"""After so long without a request a client's session ends [s]; it has to begin another."""
MOST_SESSIONS, MOST_SESSIONS_EACH = 64, 16
"""Open sessions of the server, and of one client."""


class HttpOptions(ListenOptions):
    """Where the server listens, and whom it lets in; without a token, everybody on this machine."""

    port: int = Field(default=8765, ge=0, le=65535)
    """0 takes any free port."""


def http_options(**fields: object) -> HttpOptions:
    """Options as a command line gives them.

    Raises:
        InvalidInput: one of them cannot be used.
    """
    return checked(HttpOptions, fields)


def serve_http(server: MCPServer[Any], options: HttpOptions, note: str = "") -> None:
    """Listen until interrupted; the address is printed on stderr once connections are accepted.

    Args:
        server: What answers.
        options: Where it listens, and whom it lets in.
        note: Printed after the address.

    Raises:
        InvalidInput: others could reach the server, and no token or no host names were given.
        EnvironmentProblem: the address cannot be bound.
    """
    app = http_app(server, options)
    listener = Listener(options)
    print(f"p2p-mcp listens on {listener.address}{PATH}", file=sys.stderr)
    print(note, file=sys.stderr, flush=True) if note else sys.stderr.flush()
    listener.serve(app)


def http_app(server: MCPServer[Any], options: HttpOptions, events: EventStore | None = None) -> ASGIApp:
    """The server as an ASGI application that checks Host, Origin, token and size of every request.

    Args:
        server: what answers.
        options: where it listens, and whom it lets in.
        events: keeps what a client of 2025 missed while it was away; None keeps nothing.

    Raises:
        InvalidInput: others could reach the server, and no token or no host names were given.
    """
    required = {"P2P_MCP_TOKEN (or --token)": options.token, "--allowed-host": options.allowed_hosts}
    missing = [name for name, given in required.items() if not given]
    if missing and not options.local:
        raise InvalidInput(
            f"Others could reach {options.host}, and anyone who does can run reward code on this machine. "
            f"Give {' and '.join(missing)}, or bind 127.0.0.1 and forward the port over ssh."
        )
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        host=options.host,
        event_store=events,
        max_request_body_size=options.max_body_bytes,
        session_idle_timeout=IDLE_S,
        max_sessions=MOST_SESSIONS,
        # Host and Origin are checked by `Admission`: the SDK compares only how they begin
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    sessions = OpenSessions(MOST_SESSIONS_EACH, MOST_SESSIONS)
    return Admission(app, host_names(options), options.token, options.max_body_bytes, BODY_S, sessions)


def host_names(options: HttpOptions) -> tuple[str, ...]:
    """Hosts that requests may name as theirs; a foreign one is what DNS rebinding looks like."""
    return (*(LOOPBACK if options.local else ()), *options.allowed_hosts)
