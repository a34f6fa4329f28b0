"""Sessions: begun, looked at, marked, ended, thrown away and brought back."""

from hashlib import blake2b
from typing import Annotated

from fastapi import Header, Query, Request, Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.metrics import SessionComparison
from p2p.contracts.session import Session, SessionView
from p2p.contracts.session_line import SessionFilters, SessionLine
from p2p.service.machines.setup import require_training
from p2p.service.progress.comparing import compare_sessions
from p2p.service.progress.session_lines import session_filters, session_lines
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.criteria import commands_asked, completed, intent_of
from p2p.service.sessions.background import start_loop
from p2p.service.sessions.driving import resume_session, stop_session
from p2p.service.sessions.extending import continue_session
from p2p.service.sessions.keeping import delete_session, edit_session, restore_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.web.arguments import OtherSessionId, SessionId, Ws, link_next
from p2p.web.router import Router
from p2p.web.schemas import Edit, ExtendRequest, ResumeRequest, SessionRequest, SessionsQuery, SessionStarted, Stopped
from p2p.web.sharing import SHARED

router = Router(prefix="/api/sessions", tags=["sessions"])
AS_IT_WAS = ResumeRequest()


@router.get("", openapi_extra=SHARED)
def sessions(
    ws: Ws, request: Request, response: Response, query: Annotated[SessionsQuery, Query()]
) -> tuple[SessionLine, ...]:
    """Sessions outside the trash, on one line each; `Link` leads to the next page, `X-Total-Count` says how many."""
    page = session_lines(ws, query)
    link_next(request, response, page.next)
    response.headers["x-total-count"] = str(page.total)
    return page.lines


@router.get("/filters", openapi_extra=SHARED)
def filters(ws: Ws) -> SessionFilters:
    """What the list can be filtered by."""
    return session_filters(ws)


@router.post("", status_code=201)
def create(
    ws: Ws,
    request: SessionRequest,
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=200, description="Two requests with the same key are one.")
    ] = None,
) -> SessionStarted:
    """Create a session, and start it unless `start` is false."""
    if request.start:
        require_training(ws)
    asked = request.asked()
    session_id = _id_of(idempotency_key) if idempotency_key is not None else None
    if session_id is not None and (known := _known(ws, session_id)) is not None:
        if not _is_same(ws, known, request):
            raise InvalidInput("This Idempotency-Key was used for another request. Choose another one.")
    else:
        intent = None
        if request.criteria:
            commands = commands_asked(ws, asked)
            intent = intent_of(ws, asked.prompt, asked.env_id, request.criteria, request.episode_s, commands)
        session_id = create_session(ws, asked, request.reward, session_id, intent).session_id
    return _started(ws, session_id, start=request.start)


@router.get("/{session_id}", openapi_extra=SHARED)
def one(ws: Ws, session_id: SessionId) -> SessionView:
    """A session with all that is known of it."""
    return view_session(ws, session_id)


@router.get("/{session_id}/compare/{other_session_id}", openapi_extra=SHARED)
def compare(ws: Ws, session_id: SessionId, other_id: OtherSessionId) -> SessionComparison:
    """What its best iteration reached and that of another session, and how they differ."""
    return compare_sessions(ws, session_id, other_id)


@router.post("/{session_id}/stop")
def stop(ws: Ws, session_id: SessionId) -> Stopped:
    """End its driver and trainings; finished work is kept."""
    view = stop_session(ws, session_id)
    return Stopped(stopped=not view.alive, detail=f"{session_id} is {view.status}.")


@router.post("/{session_id}/resume")
def resume(ws: Ws, session_id: SessionId, request: ResumeRequest = AS_IT_WAS) -> SessionView:
    """Go on with a session that was stopped, killed or failed; no finished step is repeated."""
    return resume_session(ws, session_id, max_iterations=request.max_iterations, backend=request.backend)


@router.post("/{session_id}/extend", status_code=201)
def extend(ws: Ws, session_id: SessionId, request: ExtendRequest) -> SessionStarted:
    """Begin a new session from the best reward of an ended one, with stricter criteria or a wish."""
    begun = continue_session(ws, session_id, request.asked(), driven=True)
    return _started(ws, begun.session_id, start=request.start)


@router.patch("/{session_id}")
def edit(ws: Ws, session_id: SessionId, request: Edit) -> EntityMetadata:
    """Change alias, star or tags."""
    present = view_session(ws, session_id).metadata
    return edit_session(ws, session_id, request.change(present)).metadata


@router.delete("/{session_id}")
def delete(ws: Ws, session_id: SessionId) -> Stopped:
    """Move a session to the trash; its files stay."""
    delete_session(ws, session_id)
    return Stopped(stopped=True, detail=f"{session_id} is in the trash.")


@router.post("/{session_id}/restore")
def restore(ws: Ws, session_id: SessionId) -> Stopped:
    """Bring a session back from the trash."""
    view = restore_session(ws, session_id)
    return Stopped(stopped=not view.alive, detail=f"{session_id} is {view.status}.")


def _started(ws: Workspace, session_id: str, *, start: bool) -> SessionStarted:
    job_id = start_loop(ws, session_id, idempotency_key=session_id).job_id if start else None
    return SessionStarted(session_id=session_id, status=view_session(ws, session_id).status, job_id=job_id)


def _id_of(idempotency_key: str) -> str:
    """The same for the same key, also after the server was started again."""
    return f"session_{blake2b(idempotency_key.encode(), digest_size=12).hexdigest()}"


def _known(ws: Workspace, session_id: str) -> Session | None:
    """The session that an earlier request with the same key began; None for the first."""
    return ws.record(session_id).read_session() if ws.runs.session(session_id).exists else None


def _is_same(ws: Workspace, known: Session, request: SessionRequest) -> bool:
    asked = completed(ws, request.asked())
    asked = asked.model_copy(update={"prompt": asked.prompt.strip(), "log": asked.log or known.log})
    return all(getattr(known, name) == getattr(asked, name) for name in type(asked).model_fields)
