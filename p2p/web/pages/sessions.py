"""The list of sessions, and what is done from it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Form, Query, Request
from pydantic import field_validator
from starlette.responses import Response

from p2p.contracts.errors import Busy, InvalidInput, P2PError
from p2p.contracts.session import MetadataChange
from p2p.contracts.session_line import SessionLine, SessionQuery
from p2p.service.pictures.artefacts import median_video, thumbnail
from p2p.service.progress.session_lines import lines_and_filters
from p2p.service.sessions.keeping import delete_session, edit_session
from p2p.service.workspace import Workspace
from p2p.web.arguments import SessionId, Ws
from p2p.web.files import version_of
from p2p.web.pages.actions import commands_of
from p2p.web.pages.rendering import Address, PageRoute, back_to, command, page, visitor_of
from p2p.web.router import Router
from p2p.web.schemas import SessionsQuery
from p2p.web.sharing import SHARED

router = Router(include_in_schema=False, route_class=PageRoute, default_response_class=Response)
Back = Annotated[str, Form(max_length=2000)]


class Row(NamedTuple):
    """A session in the list."""

    line: SessionLine
    picture: Address | None = None
    video: Address | None = None
    """What plays while a pointer is on its picture: the median judged rollout."""


class FilledIn(SessionsQuery):
    """Which sessions to list, from a form: what is left open arrives as empty."""

    @field_validator("status", "tag", mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        return [one for one in given if one != ""] if isinstance(given, list) else given


@router.get("/", openapi_extra=SHARED)
def start(request: Request) -> Response:
    """The list of sessions; for readers of one session, that one."""
    only = visitor_of(request).session_id
    return back_to("/e2e" if only is None else f"/e2e/{only}")


@router.get("/e2e", openapi_extra=SHARED)
def sessions(ws: Ws, request: Request, query: Annotated[FilledIn, Query()]) -> Response:
    """Sessions on one line each."""
    listed, filters = lines_and_filters(ws, query)
    asked = {name: value for name, value in request.query_params.items() if value and name != "cursor"}
    return page(
        request,
        "sessions.html",
        tab="e2e",
        command=_command(query),
        actions=commands_of("/e2e/new", "/e2e/selected", "/compare", "/api/results.zip"),
        query=query,
        listed=listed,
        rows=[_row(ws, line) for line in listed.lines],
        filters=filters,
        first_page=Address(f"/e2e?{urlencode(asked)}"),
        next_page=Address(f"/e2e?{urlencode({**asked, 'cursor': listed.next or ''})}"),
    )


@router.post("/e2e/{session_id}/star")
def star(ws: Ws, session_id: SessionId, starred: Annotated[bool, Form()], back: Back = "/e2e") -> Response:
    """Give a session a star, or take it."""
    edit_session(ws, session_id, MetadataChange(starred=starred))
    return back_to(own(back))


class Action(StrEnum):
    """What can be done with several sessions at once."""

    STAR = "star"
    UNSTAR = "unstar"
    TAG = "tag"
    TRASH = "trash"


@router.post("/e2e/selected")
def selected(
    ws: Ws,
    action: Annotated[Action, Form()],
    session: Annotated[list[str], Form(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    tag: Annotated[str, Form(max_length=64)] = "",
    back: Back = "/e2e",
) -> Response:
    """Do the same with several sessions; those that refuse are named, and the others done."""
    if not session:
        raise InvalidInput("No session is selected.")
    if action is Action.TAG and not tag.strip():
        raise InvalidInput("Say which tag to add.")
    refused = []
    for name in session:
        try:
            _do(ws, name, action, tag.strip())
        except P2PError as error:
            refused.append(error)
    if refused:
        kind = Busy if any(isinstance(error, Busy) for error in refused) else InvalidInput
        done = len(session) - len(refused)
        raise kind("\n".join([f"Done with {done} of {len(session)}.", *map(str, refused)]))
    return back_to(own(back))


def _do(ws: Workspace, name: str, action: Action, tag: str) -> None:
    if action is Action.TRASH:
        delete_session(ws, name)
    elif action is Action.TAG:
        edit_session(ws, name, MetadataChange(add_tags=(tag,)))
    else:
        edit_session(ws, name, MetadataChange(starred=action is Action.STAR))


def own(address: str) -> str:
    """An address that a form came from; that of the list where it is not one of ours."""
    return address if address.startswith("/") and not address.startswith(("//", "/\\")) else "/e2e"


def _command(query: SessionQuery) -> str:
    tags = [word for tag in query.tag for word in ("--tag", tag)]
    return command("p2p", "list", *(["--starred"] if query.starred else []), *tags)


def _row(ws: Workspace, line: SessionLine) -> Row:
    if line.best is None:
        return Row(line)
    best = ws.runs.session(line.session_id).iteration(line.best)
    root = f"/api/sessions/{line.session_id}/iterations/{line.best}"
    return Row(line, _address(f"{root}/pictures", thumbnail(best)), _address(f"{root}/videos", median_video(best)))


def _address(root: str, file: Path | None) -> Address | None:
    return None if file is None else Address(f"{root}/{file.name}?{urlencode({'v': version_of(file)})}")
