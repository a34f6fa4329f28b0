"""Policies handed out to other libraries."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from p2p.contracts.work import ExportReport
from p2p.service.sessions.export import export_policy
from p2p.service.sessions.exported import export_files, list_exports
from p2p.service.sessions.packing import MOST_SESSIONS, result_files
from p2p.web.arguments import SessionId, Ws, session_of
from p2p.web.files import zipped
from p2p.web.problems import TooMany
from p2p.web.router import Router
from p2p.web.schemas import Exported, ExportRequest

router = Router(tags=["exports"])
OF_SESSION = "/api/sessions/{session_id}/exports"
_exporting = threading.Semaphore(2)


@router.get(OF_SESSION)
def exports(ws: Ws, session_id: SessionId) -> dict[str, ExportReport]:
    """Those that are there, by name."""
    return list_exports(ws, session_id)


@router.post(OF_SESSION, status_code=201)
def export(ws: Ws, session_id: SessionId, request: ExportRequest) -> Exported:
    """Export a policy with its model card and a replay; it takes some seconds, and two are made at a time."""
    with _in_turn():
        return Exported.of(export_policy(ws, session_id, request.asked()))


@router.get(f"{OF_SESSION}/{{name}}.zip", response_class=Response)
def archive(ws: Ws, session_id: SessionId, name: str) -> Response:
    """All files of an export in one."""
    files = export_files(ws, session_id, name)
    return _download(files, f"{session_id}_{name}.zip")


@router.get("/api/results.zip", response_class=Response)
def results(ws: Ws, session: Annotated[list[str], Query(max_length=MOST_SESSIONS)] = []) -> Response:  # noqa: B006
    """What several sessions have to show in one: criteria, rewards, verdicts, curves, videos, exports."""
    return _download(result_files(ws, [session_of(ws, one) for one in session]), "p2p_results.zip")


def _download(files: Mapping[str, Path], name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(zipped(files), media_type="application/zip", headers=headers)


@contextmanager
def _in_turn() -> Iterator[None]:
    if not _exporting.acquire(blocking=False):
        raise TooMany("exports")
    try:
        yield
    finally:
        _exporting.release()
