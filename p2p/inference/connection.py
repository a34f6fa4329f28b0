"""The HTTP connection under every provider: nobody waits longer for an answer than was agreed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import SecretStr

from p2p.contracts.base import Contract

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


class Access(Contract):
    """How a provider is reached."""

    key: SecretStr
    """Never written or shown."""
    base_url: str | None = None
    """None means the vendor's own."""
    silence_s: float = 120.0
    """A connection that says nothing for so long is given up [s]; streams say something every few seconds."""
    connect_s: float = 20.0


class DeadlinePassed(httpx2.TimeoutException):
    """An answer went on past its deadline."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Break off every answer that goes on after `deadline` (`time.monotonic()`), even one that trickles in."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def http_client(access: Access) -> httpx2.Client:
    """A client for a vendor's library; it follows no redirects, so that a key goes nowhere else."""
    timeout = httpx2.Timeout(access.silence_s, connect=access.connect_s)
    transport = _Transport(access.silence_s, _proxy(access.base_url))
    return httpx2.Client(transport=transport, timeout=timeout, follow_redirects=False)


def _proxy(base_url: str | None) -> str | None:
    """The proxy that the environment names for an address; None where it is reached directly."""
    address = urlsplit(base_url or "https://")
    if address.hostname and proxy_bypass(address.hostname):
        return None
    return getproxies().get(address.scheme)


class _Transport(httpx2.BaseTransport):
    def __init__(self, silence_s: float, proxy: str | None) -> None:
        self._inner, self._silence_s = httpx2.HTTPTransport(proxy=proxy), silence_s

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send, with the time limits of ours instead of those a library puts into its requests."""
        deadline = _DEADLINE.get()
        timeout = dict(request.extensions.get("timeout") or {})
        timeout["read"] = self._silence_s if deadline is None else max(min(self._silence_s, _left(deadline)), 0.001)
        request.extensions = {**request.extensions, "timeout": timeout}
        response = self._inner.handle_request(request)
        response.stream = _Stream(response.stream, deadline)  # type: ignore[arg-type]  # of a synchronous transport
        return response

    def close(self) -> None:
        self._inner.close()


class _Stream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, deadline: float | None) -> None:
        self._inner, self._deadline = inner, deadline

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._inner:
            if self._deadline is not None and _left(self._deadline) <= 0:
                raise DeadlinePassed("the answer took too long")
            yield piece

    def close(self) -> None:
        self._inner.close()


def _left(deadline: float) -> float:
    return deadline - time.monotonic()
