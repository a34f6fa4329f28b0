"""Files of an iteration: videos and pictures, its reward's source, its metrics as a table, its verdict."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from p2p.contracts.errors import UnknownName
from p2p.contracts.judgment import Judgment
from p2p.contracts.work import RolloutPictures, ViewRequest
from p2p.service.pictures.artefacts import media_file, metrics_table, read_reward
from p2p.service.pictures.viewing import view_rollout
from p2p.service.progress.details import view_iteration
from p2p.service.progress.recordings import rollout_video
from p2p.web.arguments import Checkpoint, GlobalId, Number, Run, SessionId, Version, Ws
from p2p.web.files import StoredFile
from p2p.web.problems import TooMany
from p2p.web.router import Router
from p2p.web.routes.iterations import OF_SESSION
from p2p.web.sharing import SHARED

router = Router(prefix="/api", tags=["files"])
FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file; parts of it by Range (206)."},
    304: {"description": "It has not changed."},
}
RENDERING_S = 60.0
"""How long a request waits for its pictures [s]; what takes longer goes on, and the same request finds them."""
_rendering = threading.Semaphore(1)


@router.get(f"{OF_SESSION}/videos/{{name}}", openapi_extra=SHARED, response_class=Response, responses=FILE)
def video(ws: Ws, session_id: SessionId, number: Number, name: str, v: Version = None) -> StoredFile:
    """A video of a judged rollout."""
    return StoredFile(media_file(ws, session_id, number, "videos", name), v)


@router.get(f"{OF_SESSION}/recordings/{{label}}/video", openapi_extra=SHARED, response_class=Response, responses=FILE)
def video_of_recording(
    ws: Ws,
    session_id: SessionId,
    number: Number,
    label: str,
    checkpoint: Checkpoint = None,
    run: Run = None,
    v: Version = None,
) -> StoredFile:
    """The video of a recorded rollout, also of one made while it trained."""
    return StoredFile(rollout_video(ws, session_id, number, label, checkpoint, run), v)


@router.get(f"{OF_SESSION}/pictures/{{name}}", openapi_extra=SHARED, response_class=Response, responses=FILE)
def picture(ws: Ws, session_id: SessionId, number: Number, name: str, v: Version = None) -> StoredFile:
    """A picture: the contact sheet, the learning curve, or a moment."""
    return StoredFile(media_file(ws, session_id, number, "frames", name), v)


@router.get(f"{OF_SESSION}/reward.py", openapi_extra=SHARED, response_class=PlainTextResponse)
def reward(ws: Ws, session_id: SessionId, number: Number) -> Response:
    """Source of its reward."""
    return _download(read_reward(ws, session_id, number), "text/plain", f"{session_id}_iter_{number}.py")


@router.get(f"{OF_SESSION}/metrics.csv", openapi_extra=SHARED, response_class=PlainTextResponse)
def table(ws: Ws, session_id: SessionId, number: Number) -> Response:
    """Metrics of all its runs: one row per policy update or evaluation."""
    return _download(metrics_table(ws, session_id, number), "text/csv", f"{session_id}_iter_{number}.csv")


@router.get("/iterations/{iteration_id}/metrics.csv", openapi_extra=SHARED, response_class=PlainTextResponse)
def table_of_all(ws: Ws, iteration: GlobalId) -> Response:
    """The same, by the id that it has among those of all sessions."""
    return table(ws, *iteration)


@router.get(f"{OF_SESSION}/judgment.json", openapi_extra=SHARED)
def judgment(ws: Ws, session_id: SessionId, number: Number) -> Judgment:
    """Its verdict."""
    found = view_iteration(ws, session_id, number).judgment
    if found is None:
        raise UnknownName("judgment of iteration", str(number), [])
    return found


@router.post(f"{OF_SESSION}/views")
def view(ws: Ws, session_id: SessionId, number: Number, request: ViewRequest) -> RolloutPictures:
    """Make pictures of a recorded rollout; the same request is answered by the same files. It keeps a core busy."""
    with _in_turn():
        return view_rollout(ws, session_id, number, request, wait_s=RENDERING_S)


@contextmanager
def _in_turn() -> Iterator[None]:
    if not _rendering.acquire(blocking=False):
        raise TooMany("renderings")
    try:
        yield
    finally:
        _rendering.release()


def _download(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
