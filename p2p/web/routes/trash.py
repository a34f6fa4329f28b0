"""The trash: what was deleted, until it is removed for good."""

from fastapi import APIRouter

from p2p.service.sessions.keeping import empty_trash, list_trash, purge_session
from p2p.web.arguments import SessionId, Ws
from p2p.web.schemas import TrashItem

router = APIRouter(prefix="/api/trash", tags=["trash"])


@router.get("")
def trash(ws: Ws) -> tuple[TrashItem, ...]:
    """What lies there, last deleted first."""
    return tuple(TrashItem.of(view) for view in list_trash(ws))


@router.delete("/{session_id}", status_code=204)
def purge(ws: Ws, session_id: SessionId) -> None:
    """Remove one for good, with its policies and videos."""
    purge_session(ws, session_id)


@router.delete("")
def empty(ws: Ws) -> tuple[str, ...]:
    """Remove all of it for good; the ids of what was removed."""
    return empty_trash(ws)
