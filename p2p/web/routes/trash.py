"""The trash: what was deleted, until it is removed for good."""

from typing import Annotated

from fastapi import Path

from p2p.contracts.trash import TrashLine
from p2p.service.sessions.keeping import session_called
from p2p.service.suites.trash import empty_whole_trash, kind_in_trash, purge, trash_lines
from p2p.web.arguments import Ws
from p2p.web.router import Router

router = Router(prefix="/api/trash", tags=["trash"])


@router.get("")
def trash(ws: Ws) -> tuple[TrashLine, ...]:
    """Sessions and runs of suites that lie there, with their sizes, last deleted first."""
    return trash_lines(ws)


@router.delete("/{entity_id}", status_code=204)
def remove(ws: Ws, entity_id: Annotated[str, Path(description="Of a session, or name of a run of a suite.")]) -> None:
    """Remove one for good, with its policies and videos; a run of a suite with its sessions."""
    name = session_called(ws, entity_id)
    purge(ws, kind_in_trash(ws, name), name)


@router.delete("")
def empty(ws: Ws) -> tuple[str, ...]:
    """Remove all of it for good; the ids of what was removed."""
    return empty_whole_trash(ws)
