"""Rollouts scored by people, blind and by keyboard."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from p2p.service.judging.label_queue import label_queue
from p2p.service.judging.labelling import labels
from p2p.web.arguments import Ws, session_of
from p2p.web.pages.rendering import PageRoute, command, page
from p2p.web.router import Router

router = Router(include_in_schema=False, route_class=PageRoute)

RUBRIC = (
    (0.0, "0", "nothing of it"),
    (0.25, "¼", "a little"),
    (0.5, "½", "half"),
    (0.75, "¾", "nearly"),
    (1.0, "1", "all of it"),
)
"""Scores under the keys 1 to 5."""


@router.get("/label")
def label_page(
    ws: Ws,
    request: Request,
    session: Annotated[str, Query(max_length=200)] = "",
    annotator: Annotated[str, Query(max_length=100)] = "",
    n: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Response:
    """One video after another; what judges gave is nowhere in the page before a score is saved."""
    session_id = session_of(ws, session) if session else None
    name = annotator.strip()
    return page(
        request,
        "label.html",
        tab="e2e",
        command=command("p2p", "label", session_id or "latest", "--score", "0.75"),
        session_id=session_id,
        annotator=name,
        n=n,
        queue=label_queue(ws, name, session_id, n) if name else None,
        known=len(labels(ws, session_id).labels),
        rubric=RUBRIC,
    )
