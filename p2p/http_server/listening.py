"""Where a server listens: on this machine by default, and how it treats connections that say nothing."""

import asyncio
import gc
import socket
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import TypeVar

import h11
import uvicorn
from pydantic import Field, ValidationError
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem, InvalidInput

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SHUTDOWN_S = 2
"""Time that open streams have after Ctrl-C [s]."""
HEAD_S, BODY_S = 10.0, 30.0
"""How long the head and the body of a request may take to arrive [s]."""
MOST_CONNECTIONS = 512
"""More are told 503; each costs some 10 kB."""


class ListenOptions(Contract):
    """Where a server listens, and whom it lets in."""

    host: str = "127.0.0.1"
    """Address or name to bind."""
    port: int = Field(ge=0, le=65535)
    """0 takes any free port."""
    token: str | None = Field(default=None, min_length=16, pattern=r"^[\x21-\x7e]+$")
    """What clients send as `Authorization: Bearer`."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which clients elsewhere reach this server, with or without a port."""
    max_body_bytes: int = Field(default=1_048_576, ge=1024)
    """Longest request body [bytes]."""

    @property
    def local(self) -> bool:
        """True when only this machine can connect."""
        name = self.host.strip("[]")
        try:
            return name == "localhost" or ip_address(name).is_loopback
        except ValueError:
            return False


Options = TypeVar("Options", bound=ListenOptions)


def checked(kind: type[Options], fields: Mapping[str, object]) -> Options:
    """Options as a command line gives them.

    Raises:
        InvalidInput: one of them cannot be used.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors(include_input=False)[0]  # the input may be the token
        raise InvalidInput(f"--{str(wrong['loc'][0]).replace('_', '-')}: {wrong['msg']}.") from None


class Listener:
    """A bound address; it accepts connections when it serves.

    Args:
        options: Where to bind.

    Raises:
        EnvironmentProblem: the address cannot be bound.
    """

    def __init__(self, options: ListenOptions) -> None:
        bare_host = options.host.strip("[]")
        try:
            family = socket.getaddrinfo(bare_host, options.port, type=socket.SOCK_STREAM)[0][0]
            self._socket = socket.create_server((bare_host, options.port), family=family)
        except OSError as error:
            raise EnvironmentProblem(
                f"{options.host}:{options.port} cannot be bound: {error.strerror or error}. Choose another --port."
            ) from error
        self.port: int = self._socket.getsockname()[1]
        host = f"[{bare_host}]" if ":" in options.host else options.host
        self.address = f"http://{host}:{self.port}"
        """As a browser takes it, without a path."""

    def serve(self, app: ASGIApp, when_it_stops: Callable[[], None] = lambda: None) -> None:
        """Answer requests until interrupted; `when_it_stops` is called first then, to end streams."""
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
        _Server(config, when_it_stops).run(sockets=[self._socket])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, when_it_stops: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_it_stops = when_it_stops

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._when_it_stops()
        await super().shutdown(sockets)


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
