"""A service, and clients of both eras that are connected to it in memory."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest
from mcp.client import Client
from mcp.server.mcpserver.tools import base
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from tool_caller import Caller, Connect

from p2p.service.workspace import Workspace
from p2p_mcp.server import build_server

_read_signature = base.func_metadata
_read: dict[tuple[Any, ...], FuncMetadata] = {}


def _read_once(func: Callable[..., Any], skip_names: Sequence[str] = (), **options: Any) -> FuncMetadata:
    """Schemas of a tool, which are the same on every server: they take 0.2 s, and some hundred tests have a server."""
    key = (inspect.unwrap(func), str(inspect.signature(func)), tuple(skip_names), *options.items())
    if key not in _read:
        _read[key] = _read_signature(func, skip_names=skip_names, **options)
    return _read[key]


base.func_metadata = _read_once


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> Literal["auto", "legacy"]:
    """The era of the protocol: 2026-07-28, or the handshake before it."""
    chosen: Literal["auto", "legacy"] = request.param
    return chosen


@pytest.fixture
def connect(mode: Literal["auto", "legacy"]) -> Connect:
    def to(ws: Workspace, **callbacks: Any) -> Client:
        return Client(build_server(ws), mode=mode, **callbacks)

    return to


@pytest.fixture
def caller() -> Callable[[Client], Caller]:
    return Caller
