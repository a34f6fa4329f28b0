"""The server over Streamable HTTP: on this machine by default, elsewhere only with a token and named hosts."""

import gc
import hmac
import socket
import sys
from ipaddress import ip_address
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.streamable_http import EventStore
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field, ValidationError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem, InvalidInput

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PATH = "/mcp"
SHUTDOWN_S = 2
"""Time that open streams have after Ctrl-C [s]."""


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


def serve_http(server: MCPServer[Any], options: HttpOptions) -> None:
    """Listen until interrupted; the address is printed on stderr once connections are accepted.

    Raises:
        InvalidInput: others could reach the server, and no token or no host names were given.
        EnvironmentProblem: the address cannot be bound.
    """
    app = http_app(server, options)
    listener = _bind(options)
    host = f"[{options.host.strip('[]')}]" if ":" in options.host else options.host
    print(f"p2p-mcp listens on http://{host}:{listener.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
    gc.collect()
    gc.freeze()  # what is loaded stays: no later collection stops all clients to look through it
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=SHUTDOWN_S, server_header=False)
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
    _refuse_open_doors(options)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        host=options.host,
        event_store=events,
        max_request_body_size=options.max_body_bytes,
        transport_security=transport_security(options),
    )
    return app if options.token is None else _BearerToken(app, options.token)


def transport_security(options: HttpOptions) -> TransportSecuritySettings:
    """Host and Origin headers that are let in; a foreign one is what DNS rebinding looks like."""
    names = (*(LOOPBACK if options.local else ()), *options.allowed_hosts)
    hosts = [form for name in names for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
    )


def _refuse_open_doors(options: HttpOptions) -> None:
    if options.local:
        return
    missing = [
        name
        for name, given in (("--token (or P2P_MCP_TOKEN)", options.token), ("--allowed-host", options.allowed_hosts))
        if not given
    ]
    if missing:
        raise InvalidInput(
            f"Others could reach {options.host}, and whoever does can run reward code on this machine. "
            f"Give {' and '.join(missing)}, or bind 127.0.0.1 and forward the port over ssh."
        )


def _bind(options: HttpOptions) -> socket.socket:
    host = options.host.strip("[]")
    try:
        family = socket.getaddrinfo(host, options.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, options.port), family=family)
    except OSError as error:
        raise EnvironmentProblem(
            f"{options.host}:{options.port} cannot be bound: {error.strerror or error}. Choose another --port."
        ) from error


class _BearerToken:
    """Lets requests in that carry the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.encode("latin-1"), self._token):
                refusal = PlainTextResponse(
                    "Send the token of this server as 'Authorization: Bearer <token>'.",
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
