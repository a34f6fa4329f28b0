"""Requests to the application without a socket: thousands of them cost a second."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import unquote

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message

HOST = "127.0.0.1:8766"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
EXAMPLES = {
    "session_id": "session_20260101_000000_0badcafe",
    "iteration_id": "iter_1",
    "other_id": "2",
    "other_session_id": "session_20260101_000001_0badcafe",
    "run_id": "baseline_seed_10",
    "name": "median.mp4",
    "label": "median",
    "seq": "3",
    "env_id": "InvertedPendulum-v5",
    "job_id": "job_0123456789abcdef0123456789abcdef",
    "benchmark_id": "basic",
    "digest": "0123456789abcdef",
    "node": "attic",
    "entity_id": "session_20260101_000000_0badcafe",
}
"""A value for each part of an address."""

VIDEO = bytes(range(256)) * 400
"""What is sent of it counts, and not what it shows."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Asking:
    """Asks an application; it keeps an event loop.

    Args:
        door: The application behind its gate.
        app: The application itself.
        token: Sent with every request that says nothing else.
    """

    def __init__(self, door: ASGIApp, app: FastAPI, token: str) -> None:
        self.door = door
        self.app = app
        self._own = {"host": HOST, "authorization": f"Bearer {token}"}
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def __call__(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes | Mapping[str, Any] | None = None,
    ) -> Answer:
        """One request; a header of None is left out."""
        sent = {**self._own, **(headers or {})}
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        if body is not None:
            sent = {"content-length": str(len(data)), "content-type": "application/json", **sent}
        return self._runner.run(self._ask(method, address, {k: v for k, v in sent.items() if v is not None}, data))

    async def _ask(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Answer:
        path, _, query = address.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode("ascii", "replace"),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
            "client": ("127.0.0.1", 40000),
            "server": ("127.0.0.1", 8766),
        }
        to_send: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        found: list[Message] = []

        async def receive() -> Message:
            if to_send:
                return to_send.pop()
            await asyncio.sleep(3600)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            found.append(message)

        await self.door(scope, receive, send)
        start = found[0]
        return Answer(
            start["status"],
            {name.decode(): value.decode("latin-1") for name, value in start["headers"]},
            b"".join(message.get("body", b"") for message in found[1:]),
        )

    def operations(self) -> list[tuple[str, str]]:
        """Method and address of everything that the application answers, with an example for each part."""
        paths = self.app.openapi()["paths"]
        return [(method.upper(), filled(path)) for path, item in paths.items() for method in item]

    def addresses(self) -> list[str]:
        """Every address, once, those of pages and static files too."""
        pages = {filled(path) for path in _paths(self.app.routes)}
        return sorted({address for _, address in self.operations()} | pages)


def _paths(routes: Iterable[BaseRoute]) -> Iterator[str]:
    """The address of each route, also of those in routers."""
    for route in routes:
        if isinstance(route, Route | APIRoute):
            yield route.path
        elif (inner := getattr(route, "original_router", None)) is not None:
            yield from _paths(inner.routes)


def filled(path: str) -> str:
    """An address with an example for each part of it."""
    if path.startswith("/api/iterations/"):  # named among those of all sessions
        path = path.replace("{iteration_id}", "{session_id}.{iteration_id}")
    return path.replace("{path:path}", "base.css").format(**EXAMPLES)
