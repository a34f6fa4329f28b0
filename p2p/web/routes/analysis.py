"""What a whole session tells: its report, and the tree of its attempts."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from p2p.contracts.errors import P2PError, UnknownName
from p2p.contracts.lineage_tree import LineageTree
from p2p.contracts.session import SessionAnalysis
from p2p.service.progress.lineage_tree import lineage_tree
from p2p.service.sessions.analyzing import analyze_session, written_analysis
from p2p.web.arguments import SessionId, Ws, existing_session
from p2p.web.problems import of_error
from p2p.web.router import Router
from p2p.web.sharing import SHARED

router = Router(prefix="/api/sessions/{session_id}", tags=["analysis"])


@router.get("/analysis", openapi_extra=SHARED)
def analysis(ws: Ws, session_id: SessionId) -> SessionAnalysis:
    """The report, if one was written; asking for it costs nothing."""
    found = written_analysis(ws, session_id)
    if found is None:
        raise UnknownName("report on session", session_id, [])
    return found


@router.post("/analyze", response_class=EventSourceResponse)
async def analyze(ws: Ws, session_id: Annotated[str, Depends(existing_session)]) -> AsyncIterator[ServerSentEvent]:
    """Write the report: a `status` event, then `result` with the report, or `problem`."""
    yield ServerSentEvent(event="status", data={"state": "writing"})
    try:
        found = await asyncio.to_thread(analyze_session, ws, session_id)
    except P2PError as error:
        yield ServerSentEvent(event="problem", raw_data=bytes(of_error(error).body).decode())
        return
    yield ServerSentEvent(event="result", raw_data=found.model_dump_json())


@router.get("/lineage", openapi_extra=SHARED)
def lineage(ws: Ws, session_id: SessionId) -> LineageTree:
    """Its iterations as a tree, with what each changed and what was learnt."""
    return lineage_tree(ws, session_id)
