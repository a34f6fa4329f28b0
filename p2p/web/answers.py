"""What every answer to a read gets before it leaves: remedies as commands, an ETag, 304 and HEAD.

Plain ASGI beside the gate: an answer that is one piece of text is finished here, whoever made it; files and streams
pass as they come.
"""

import asyncio
import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from p2p.cli.remedies import COMMANDS
from p2p.contracts.remedies import reworded_data
from p2p.web.gate import VISITOR
from p2p.web.visitors import OWNER, Visitor

TEXTS = ("application/json", "application/problem+json", "text/html", "text/csv", "text/plain")
"""Types of answers that are one piece of text."""
WANTS_HEAD = "p2p.head"
"""Key of a request's scope: only the head of the answer is wanted."""
UNCHANGED = ("etag", "cache-control", "vary", "content-location", "date", "expires", "last-modified", "link")
"""Headers that a 304 repeats."""


class Answers:
    """Finish answers.

    Args:
        app: What makes them.
        for_readers: Takes from plain data what readers do not see.
    """

    def __init__(self, app: ASGIApp, for_readers: Callable[[Any], Any]) -> None:
        self._app = app
        self._for_readers = for_readers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope, send, self._for_readers)
        if scope["method"] != "HEAD":
            await self._app(scope, receive, answer.send)
            return
        inner = {**scope, "method": "GET", WANTS_HEAD: True}
        answering = asyncio.ensure_future(self._app(inner, receive, answer.send))
        answer.on_end = answering.cancel  # ends a stream of which only the head was wanted
        try:
            await answering
        except asyncio.CancelledError:
            if not answer.ended:
                raise


class _Answer:
    def __init__(self, scope: Scope, send: Send, for_readers: Callable[[Any], Any]) -> None:
        self._head_only = scope["method"] == "HEAD"
        self._visitor: Visitor = scope.get(VISITOR, OWNER)
        self._asked = Headers(scope=scope)
        self._reads = scope["method"] in ("GET", "HEAD")
        self._send = send
        self._for_readers = for_readers
        self._start: Message = {}
        self._body = bytearray()
        self._is_text = False
        self.ended = False
        self.on_end: Callable[[], object] = lambda: None

    async def send(self, message: Message) -> None:
        if self.ended:
            return
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "").partition(";")[0]
            self._is_text = kind in TEXTS
            self._start = message
            if not self._is_text:
                await self._send(_with_cache_control(message, self._reads))
                if self._head_only:
                    await self._end(b"")
            return
        if not self._is_text:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._finish()

    async def _finish(self) -> None:
        headers = MutableHeaders(raw=self._start["headers"])
        body = self._worded(bytes(self._body), headers.get("content-type", ""))
        headers["content-length"] = str(len(body))
        start = _with_cache_control(self._start, self._reads)
        if self._reads and start["status"] == 200:
            tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
            headers["etag"] = tag
            if is_known(tag, self._asked.get("if-none-match")):
                kept = [(name, value) for name, value in headers.raw if name.decode() in UNCHANGED]
                start, body = {**start, "status": 304, "headers": kept}, b""
        await self._send(start)
        await self._end(b"" if self._head_only else body)

    async def _end(self, body: bytes) -> None:
        self.ended = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})
        if self._head_only:
            self.on_end()

    def _worded(self, body: bytes, kind: str) -> bytes:
        """The body with remedies in words, and without what readers do not see."""
        reader = not self._visitor.may_change
        if not body or "html" in kind or not (reader or b"<<" in body):
            return body  # a page does this with each value, since its addresses look like paths
        if "json" not in kind:
            return str(self._for_readers(body.decode())).encode() if reader else body
        data = reworded_data(json.loads(body), COMMANDS)
        return json.dumps(self._for_readers(data) if reader else data, ensure_ascii=False).encode()


def is_known(tag: str, known: str | None) -> bool:
    """Whether an If-None-Match header names an ETag."""
    if known is None:
        return False
    tags = [one.strip().removeprefix("W/") for one in known.split(",")]
    return "*" in tags or tag in tags


def _with_cache_control(start: Message, reads: bool) -> Message:
    headers = MutableHeaders(raw=start["headers"])
    headers.setdefault("cache-control", "private, no-cache" if reads else "no-store")
    return start
