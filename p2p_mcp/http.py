"""The server over Streamable HTTP: on this machine by default, elsewhere only with a token and named hosts."""

import asyncio
import gc
import socket
import sys
from ipaddress import ip_address
from typing import Any

import h11
import uvicorn
from mcp.server import MCPServer
from mcp.server.streamable_http import EventStore
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field, ValidationError
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p_mcp.admission import Admission
from p2p_mcp.open_sessions import OpenSessions

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PATH = "/mcp"
SHUTDOWN_S = 2
"""Time that open streams have after Ctrl-C [s]."""
HEAD_S, BODY_S = 10.0, 30.0
"""How long the head and the body of a request may take to arrive [s]."""
IDLE_S = 1800.0
"""After so long without a request a client's session ends [s]; it has to begin another."""
MOST_SESSIONS, MOST_SESSIONS_EACH = 64, 16
"""Open sessions of the server, and of one client."""
MOST_CONNECTIONS = 512
"""More are told 503; each costs some 10 kB."""


class HttpOptions(Contract):
    """Where the server listens, and whom it lets in."""

    host: str = "127.0.0.1"
    """Address or name to bind."""
    port: int = Field(default=8765, ge=0, le=65535)
    """0 takes any free port."""
    token: str | None = Field(default=None, min_length=16, pattern=r"^[\x21-\x7e]+$")
    """What clients send as `Authorization: Bearer`; None lets everybody on this machine in."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which clients elsewhere reach this server, with or without a port."""
    max_body_bytes: int = Field(default=1_048_576, ge=1024)
    """Longest request body [bytes]; every argument of our tools fits into a tenth of the default."""

    @property
    def local(self) -> bool:
        """True when only this machine can connect."""
        name = self.host.strip("[]")
        try:
            return name == "localhost" or ip_address(name).is_loopback
        except ValueError:
            return False


def http_options(**fields: object) -> HttpOptions:
    """Options as a command line gives them.

    Raises:
        InvalidInput: one of them cannot be used.
    """
    try:
        return HttpOptions.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors(include_input=False)[0]  # the input may be the token
        raise InvalidInput(f"--{str(wrong['loc'][0]).replace('_', '-')}: {wrong['msg']}.") from None


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
    bare_host = options.host.strip("[]")
    try:
        family = socket.getaddrinfo(bare_host, options.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((bare_host, options.port), family=family)
    except OSError as error:
        raise EnvironmentProblem(
            f"{options.host}:{options.port} cannot be bound: {error.strerror or error}. Choose another --port."
        ) from error
    host = f"[{bare_host}]" if ":" in options.host else options.host
    print(f"p2p-mcp listens on http://{host}:{listener.getsockname()[1]}{PATH}", file=sys.stderr)
    print(note, file=sys.stderr, flush=True) if note else sys.stderr.flush()
    gc.collect()
    gc.freeze()  # what is loaded stays: no later collection stops all clients to look through it
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        limit_concurrency=MOST_CONNECTIONS,
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_S,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


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


class ImpatientProtocol(H11Protocol):
    """uvicorn's protocol, which waits for the head of a request no longer than `HEAD_S`; its own waits for ever."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has come, and wait for the rest of a head that has begun."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._stop_watching()

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._stop_watching()  # the head is there; the body has its own deadline
        elif self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._deadline = self.loop.call_later(HEAD_S, self.transport.close)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
