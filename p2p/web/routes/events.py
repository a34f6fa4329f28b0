"""The event log of a session: what happened, in short lines, and each event whole."""

from typing import Annotated

from fastapi import Path, Query

from p2p.contracts.event_summary import EventDetail, EventSummary
from p2p.service.progress.event_log import event, events
from p2p.web.arguments import SessionId, Ws
from p2p.web.router import Router

router = Router(prefix="/api/sessions/{session_id}/events", tags=["events"])


@router.get("")
def after(
    ws: Ws,
    session_id: SessionId,
    after: Annotated[int, Query(ge=0, description="Number of the last event that is known.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> tuple[EventSummary, ...]:
    """Events after a number, oldest first; long texts are cut."""
    return events(ws, session_id, after, limit).events


@router.get("/{seq}")
def whole(ws: Ws, session_id: SessionId, seq: Annotated[int, Path(ge=1)]) -> EventDetail:
    """One event, with the call of a model behind it."""
    return event(ws, session_id, seq)
