"""Iterations of a session: what each tried and reached, its runs, and two of them compared."""

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.iteration import IterationView
from p2p.contracts.judgment import Judgment
from p2p.contracts.metrics import IterationComparison
from p2p.contracts.session import RunProgress
from p2p.service.judging.by_code import rejudge
from p2p.service.pictures.artefacts import read_reward
from p2p.service.progress.comparing import compare_iterations
from p2p.service.progress.details import view_iteration
from p2p.service.workspace import Workspace
from p2p.web.arguments import GlobalId, Number, SessionId, Ws, number_of
from p2p.web.schemas import IterationDetail, JudgeRequest
from p2p.web.sharing import SHARED

router = APIRouter(prefix="/api", tags=["iterations"])
AS_IT_WAS = JudgeRequest()
OF_SESSION = "/sessions/{session_id}/iterations/{iteration_id}"


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


def _detail(ws: Workspace, session_id: str, number: int) -> IterationDetail:
    view: IterationView = view_iteration(ws, session_id, number)
    reward = None
    with suppress(InvalidInput):  # not written yet
        reward = read_reward(ws, session_id, number)
    return IterationDetail(**dict(view), reward=reward)
