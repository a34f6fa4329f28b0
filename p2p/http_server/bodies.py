"""Bodies of requests, which arrive whole, in time, and no longer than they may be."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import Receive, Scope


class BodyTooLong(Exception):
    """More bytes than a request may have."""


async def read_body(scope: Scope, receive: Receive, longest: int, patience_s: float) -> bytes | None:
    """The whole body of a request; None when its sender has left.

    Args:
        scope: Of the request.
        receive: Where its body comes from.
        longest: Longest body [bytes].
        patience_s: How long it may take to arrive [s].

    Raises:
        BodyTooLong: it is longer, or says that it will be.
        TimeoutError: it did not arrive in time.
    """
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdecimal() and int(declared) > longest:
        raise BodyTooLong
    body = bytearray()
    async with asyncio.timeout(patience_s):
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if len(body) > longest:
                raise BodyTooLong
            if not message.get("more_body", False):
                return bytes(body)
    return None
