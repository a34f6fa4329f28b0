"""A service, and clients of both eras that are connected to it in memory."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from mcp.client import Client
from tool_caller import Caller, Connect

from p2p.service.workspace import Workspace
from p2p_mcp.server import build_server


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
