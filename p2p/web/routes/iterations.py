"""Iterations of a session: what each tried and reached, its runs, and two of them compared."""

from contextlib import suppress
from typing import Annotated

from fastapi import Path, Query, Request, Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.iteration import IterationView
from p2p.contracts.judgment import Judgment
from p2p.contracts.metrics import IterationComparison
from p2p.contracts.recording import Recordings, Trace
from p2p.contracts.session import RunProgress
from p2p.contracts.session_line import MAX_LINES, IterationLine
from p2p.contracts.source_diff import SourceDiff
from p2p.contracts.training_curves import IterationCurves, RunCurves
from p2p.service.judging.by_code import rejudge
from p2p.service.pictures.artefacts import read_reward
from p2p.service.progress.comparing import compare_iterations
from p2p.service.progress.details import view_iteration
from p2p.service.progress.recordings import recordings, trace
from p2p.service.progress.session_lines import iteration_lines
from p2p.service.progress.session_view import view_session
from p2p.service.progress.training_curves import curves
from p2p.service.progress.word_diff import reward_diff
from p2p.service.workspace import Workspace
from p2p.web.arguments import Checkpoint, GlobalId, Number, Run, SessionId, Ws, link_next, number_of
from p2p.web.router import Router
from p2p.web.schemas import CurvesQuery, IterationDetail, JudgeRequest, LoopIteration
from p2p.web.sharing import SHARED

router = Router(prefix="/api", tags=["iterations"])
AS_IT_WAS = JudgeRequest()
Curves = Annotated[CurvesQuery, Query()]
OF_SESSION = "/sessions/{session_id}/iterations/{iteration_id}"


@router.get("/sessions/{session_id}/loop-iterations", openapi_extra=SHARED)
def loop_iterations(ws: Ws, session_id: SessionId) -> tuple[LoopIteration, ...]:
    """All iterations of a session, oldest first."""
    page = iteration_lines(ws, session_id, limit=MAX_LINES)
    return LoopIteration.all_of(page.lines, view_session(ws, session_id))


@router.get("/iterations", openapi_extra=SHARED)
def iterations(
    ws: Ws,
    request: Request,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=MAX_LINES)] = 50,
    cursor: Annotated[str, Query(max_length=400)] = "",
) -> tuple[IterationLine, ...]:
    """Those of all sessions, newest first; `Link` leads to the next page."""
    page = iteration_lines(ws, limit=limit, cursor=cursor)
    link_next(request, response, page.next)
    response.headers["x-total-count"] = str(page.total)
    return page.lines


@router.get(OF_SESSION, openapi_extra=SHARED)
def of_session(ws: Ws, session_id: SessionId, number: Number) -> IterationDetail:
    """One iteration in full."""
    return _detail(ws, session_id, number)


@router.get("/iterations/{iteration_id}", openapi_extra=SHARED)
def of_all(ws: Ws, iteration: GlobalId) -> IterationDetail:
    """The same, by the id that it has among those of all sessions."""
    return _detail(ws, *iteration)


@router.get(f"{OF_SESSION}/runs", openapi_extra=SHARED)
def runs(ws: Ws, session_id: SessionId, number: Number) -> tuple[RunProgress, ...]:
    """Its trainings."""
    return view_iteration(ws, session_id, number).runs


@router.get(f"{OF_SESSION}/metrics", openapi_extra=SHARED)
def metrics(ws: Ws, session_id: SessionId, number: Number, asked: Curves) -> IterationCurves:
    """Curves of all its runs, with their evaluations."""
    return curves(ws, session_id, number, None, **asked.fields())


@router.get(f"{OF_SESSION}/runs/{{run_id}}/metrics", openapi_extra=SHARED)
def metrics_of_run(ws: Ws, session_id: SessionId, number: Number, run_id: str, asked: Curves) -> RunCurves:
    """Curves of one run, with its evaluations."""
    found = curves(ws, session_id, number, run_id, **asked.fields()).runs
    return found[0]


@router.get("/iterations/{iteration_id}/metrics", openapi_extra=SHARED)
def metrics_of_all(ws: Ws, iteration: GlobalId, asked: Curves) -> IterationCurves:
    """Curves of all its runs, by the id that it has among those of all sessions."""
    return metrics(ws, *iteration, asked)


@router.get(f"{OF_SESSION}/recordings", openapi_extra=SHARED)
def recorded(ws: Ws, session_id: SessionId, number: Number) -> Recordings:
    """Which of its rollouts are recorded: those that are judged, and of every checkpoint."""
    return recordings(ws, session_id, number)


@router.get(f"{OF_SESSION}/trace/{{label}}", openapi_extra=SHARED)
def rows(
    ws: Ws,
    session_id: SessionId,
    number: Number,
    label: Annotated[str, Path(description="`p10`, `median` or `p90`.")],
    checkpoint: Checkpoint = None,
    run: Run = None,
) -> Trace:
    """The rows of a recorded rollout: reward, its terms, features, and where the bodies are."""
    return trace(ws, session_id, number, label, checkpoint, run)


@router.post(f"{OF_SESSION}/judge")
def judge_again(ws: Ws, session_id: SessionId, number: Number, request: JudgeRequest = AS_IT_WAS) -> Judgment:
    """Judge the recorded rollouts again; nothing is simulated and nothing overwritten."""
    return rejudge(ws, session_id, number, request.prompt)


@router.get(f"{OF_SESSION}/compare/{{other_id}}")
def compare(
    ws: Ws, session_id: SessionId, number: Number, other_id: Annotated[str, Path(description="The other one.")]
) -> IterationComparison:
    """Results of two iterations, and what changed between them."""
    return compare_iterations(ws, session_id, number, number_of(other_id))


@router.get(f"{OF_SESSION}/diff/{{other_id}}", openapi_extra=SHARED)
def diff(
    ws: Ws, session_id: SessionId, number: Number, other_id: Annotated[str, Path(description="The later one.")]
) -> SourceDiff:
    """How the reward of another iteration differs from this one's, whole and by words."""
    return reward_diff(ws, session_id, number, number_of(other_id))


def _detail(ws: Workspace, session_id: str, number: int) -> IterationDetail:
    view: IterationView = view_iteration(ws, session_id, number)
    reward = None
    with suppress(InvalidInput):  # not written yet
        reward = read_reward(ws, session_id, number)
    return IterationDetail(**dict(view), reward=reward)
