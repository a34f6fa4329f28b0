"""HTTP connection under every provider, with a deadline for the whole answer."""

from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from p2p.inference.access import Access
from p2p.inference.deadline import seconds_left


class DeadlinePassed(httpx2.TimeoutException):
    """The answer was still arriving at its deadline."""


def http_client(access: Access) -> httpx2.Client:
    """HTTP client for a vendor's library; follows no redirects, which could leak the key."""
    timeout = httpx2.Timeout(access.silence_s, connect=access.connect_s)
    # The proxy that the environment names; None for a direct connection.
    address = urlsplit(access.base_url or "https://")
    direct = address.hostname and proxy_bypass(address.hostname)
    proxy = None if direct else getproxies().get(address.scheme)
    transport = _Transport(access.silence_s, proxy)
    return httpx2.Client(transport=transport, timeout=timeout, follow_redirects=False)


class _Transport(httpx2.BaseTransport):
    def __init__(self, silence_s: float, proxy: str | None) -> None:
        self._inner = httpx2.HTTPTransport(proxy=proxy)
        self._silence_s = silence_s

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send with our time limits in place of the library's."""
        left = seconds_left()
        timeout = dict(request.extensions.get("timeout") or {})
        timeout["read"] = self._silence_s if left is None else max(min(self._silence_s, left), 0.001)
        request.extensions = {**request.extensions, "timeout": timeout}
        response = self._inner.handle_request(request)
        response.stream = _Stream(response.stream)  # type: ignore[arg-type]  # of a synchronous transport
        return response

    def close(self) -> None:
        self._inner.close()


class _Stream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._inner:
            left = seconds_left()
            if left is not None and left <= 0:
                raise DeadlinePassed("the answer took too long")
            yield piece

    def close(self) -> None:
        self._inner.close()
