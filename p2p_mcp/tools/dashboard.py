"""A session at a glance, live where the client shows MCP Apps."""

from pathlib import Path
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from p2p.service.workspace import Workspace
from p2p_mcp.apps.collect import collect, pictures_of
from p2p_mcp.apps.data import Dashboard
from p2p_mcp.fields import Iteration, SessionId
from p2p_mcp.views.content import reply


def show_dashboard(
    ws: Workspace, session_id: SessionId, iteration: Iteration = None
) -> Annotated[CallToolResult, Dashboard]:
    """Show the user a session at a glance: status, learning curves, reward terms, criteria and frames.

    Clients that show MCP Apps keep it up to date by themselves; for all others it is a picture of this moment.
    """
    return reply(collect(ws, session_id, iteration), _pictures(ws, session_id, iteration))


def read_dashboard(
    ws: Workspace,
    session_id: SessionId,
    iteration: Iteration = None,
    pictures: Annotated[bool, Field(description="With the frames as an image.")] = False,
) -> Annotated[CallToolResult, Dashboard]:
    """Give the dashboard's page what is new. Meant for that page: a model calls get_session instead."""
    return reply(collect(ws, session_id, iteration), _pictures(ws, session_id, iteration) if pictures else ())


def _pictures(ws: Workspace, session_id: str, iteration: int | None) -> tuple[Path, ...]:
    return tuple(ws.runs.path / path for path in pictures_of(ws, session_id, iteration))
