"""Streams of server-sent events: what changes, and the log of a session as it grows."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from p2p.contracts.state_notice import StateNotice, Topic
from p2p.service.progress.changes import changes
from p2p.service.progress.event_log import events
from p2p.web.arguments import Ws, existing_session
from p2p.web.gate import VISITOR
from p2p.web.router import Router
from p2p.web.sharing import SHARED
from p2p.web.streams import Mailbox, mailbox_of, streams_of
from p2p.web.visitors import OWNER, Visitor

router = Router(prefix="/api", tags=["streams"])
FOR_READERS = (Topic.SESSION, Topic.RUN, Topic.SUITE_RUN)
LOOK_S = 0.5
"""Between two looks at the log of a session [s]."""
REST = 4
"""A look that took long is followed by a pause of so many times its length."""
AT_ONCE = 200
Post = Annotated[Mailbox, Depends(mailbox_of)]


@router.get("/stream", openapi_extra=SHARED, response_class=EventSourceResponse)
async def stream(ws: Ws, request: Request, mailbox: Post) -> AsyncIterator[ServerSentEvent]:
    """Which things have which version now: `changes` events, each a list of notices; never their content.

    The first one names everything there is, so that whoever was away asks for what is new, and misses nothing.
    """
    visitor: Visitor = request.scope.get(VISITOR, OWNER)
    streams = streams_of(request)
    end = await asyncio.to_thread(changes(ws).subscribe, mailbox.put)
    try:
        while not streams.closing:
            notices = [one for one in await mailbox.take() if visitor.may_change or one.topic in FOR_READERS]
            if notices:
                yield ServerSentEvent(event="changes", raw_data=_as_text(notices))
    finally:
        end()


@router.get("/sessions/{session_id}/events/stream", response_class=EventSourceResponse)
async def log(
    ws: Ws,
    request: Request,
    mailbox: Post,
    session_id: Annotated[str, Depends(existing_session)],
    after: Annotated[int, Query(ge=0, description="Number of the last event that is known.")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, description="The same, from a browser that resumes.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Events of a session, those that there are and then each as it is written; `id` is its number."""
    streams = streams_of(request)
    known = after if last_event_id is None else last_event_id
    loop = asyncio.get_running_loop()
    while not streams.closing:
        began = loop.time()
        page = await asyncio.to_thread(events, ws, session_id, known, AT_ONCE)
        for event in page.events:
            known = event.seq
            yield ServerSentEvent(event="event", id=str(known), raw_data=event.model_dump_json())
        if known >= page.last:
            await mailbox.wait(max(LOOK_S, REST * (loop.time() - began)))


def _as_text(notices: list[StateNotice]) -> str:
    return json.dumps([notice.model_dump(mode="json") for notice in notices], separators=(",", ":"))
