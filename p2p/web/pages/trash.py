"""The trash: what was deleted, brought back, or removed for good by somebody who types its name."""

from typing import Annotated

from fastapi import Form, Request
from starlette.responses import Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.trash import TrashKind
from p2p.service.sessions.keeping import restore_session
from p2p.service.suites.keeping import restore_suite_run
from p2p.service.suites.trash import empty_whole_trash, kind_in_trash, purge, trash_lines
from p2p.web.arguments import Ws
from p2p.web.pages.actions import commands_of
from p2p.web.pages.rendering import PageRoute, back_to, page
from p2p.web.router import Router

FORMS = ("/trash/{entity_id}/restore", "/trash/{entity_id}/purge", "/trash/empty")
router = Router(prefix="/trash", include_in_schema=False, route_class=PageRoute, default_response_class=Response)
Typed = Annotated[str, Form(max_length=200)]
ALL = "everything"


@router.get("")
def trash(ws: Ws, request: Request) -> Response:
    """What lies there."""
    return page(
        request,
        "trash.html",
        tab="trash",
        command="p2p trash",
        actions=commands_of(*FORMS),
        items=trash_lines(ws),
        all_of_it=ALL,
    )


@router.post("/{entity_id}/restore")
def restore(ws: Ws, entity_id: str) -> Response:
    """Bring one back."""
    if kind_in_trash(ws, entity_id) is TrashKind.SUITE_RUN:
        restore_suite_run(ws, entity_id)
    else:
        restore_session(ws, entity_id)
    return back_to("/trash")


@router.post("/{entity_id}/purge")
def purge_one(ws: Ws, entity_id: str, typed: Typed = "") -> Response:
    """Remove one for good."""
    _require(typed, entity_id)
    purge(ws, kind_in_trash(ws, entity_id), entity_id)
    return back_to("/trash")


@router.post("/empty")
def empty(ws: Ws, typed: Typed = "") -> Response:
    """Remove all of it for good."""
    _require(typed, ALL)
    empty_whole_trash(ws)
    return back_to("/trash")


def _require(typed: str, wanted: str) -> None:
    if typed.strip() != wanted:
        raise InvalidInput(f"Nothing was removed: type {wanted!r} to remove it for good.")
