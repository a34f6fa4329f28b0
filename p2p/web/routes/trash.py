"""The trash: what was deleted, until it is removed for good."""

from typing import Annotated

from fastapi import APIRouter, Path

from p2p.service.sessions.keeping import empty_trash, list_trash, purge_session
from p2p.service.suites.keeping import deleted_suite_runs, purge_suite_run
from p2p.web.arguments import Ws, session_of
from p2p.web.schemas import TrashItem

router = APIRouter(prefix="/api/trash", tags=["trash"])


@router.get("")
def trash(ws: Ws) -> tuple[TrashItem, ...]:
    """Sessions and runs of suites that lie there, last deleted first."""
    return TrashItem.all_of(list_trash(ws), deleted_suite_runs(ws))


@router.delete("/{entity_id}", status_code=204)
def purge(ws: Ws, entity_id: Annotated[str, Path(description="Of a session, or name of a run of a suite.")]) -> None:
    """Remove one for good, with its policies and videos; a run of a suite with its sessions."""
    if entity_id in deleted_suite_runs(ws):
        purge_suite_run(ws, entity_id)
    else:
        purge_session(ws, session_of(ws, entity_id))


@router.delete("")
def empty(ws: Ws) -> tuple[str, ...]:
    """Remove all of it for good; the ids of what was removed."""
    runs = tuple(deleted_suite_runs(ws))
    for name in runs:
        purge_suite_run(ws, name)
    return (*runs, *empty_trash(ws))
