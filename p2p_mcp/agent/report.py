"""How an agent ended, for the one who started it."""

from contextlib import suppress

from p2p.contracts.agent import AgentReport, AgentRequest, Spending
from p2p.contracts.errors import P2PError
from p2p.contracts.session import SessionView
from p2p.service.progress.job_views import list_jobs
from p2p.service.progress.session_view import view_session
from p2p.service.workspace import Workspace
from p2p_mcp.agent.ended import Ended


def report(
    ws: Workspace,
    request: AgentRequest,
    transcript_id: str,
    session_id: str | None,
    ended: Ended,
    told: tuple[Spending, str],
) -> AgentReport:
    """The report of one run.

    Args:
        ws: knows the session and its jobs.
        request: what was asked for.
        transcript_id: what the agent can be resumed by.
        session_id: of the session it worked on.
        ended: why it stopped.
        told: what was spent, and the model's last words.
    """
    view = session_view(ws, session_id)
    spending, summary = told
    return AgentReport(
        ending=ended.ending,
        reason=ended.reason,
        model=request.model,
        session_id=session_id,
        transcript_id=transcript_id,
        status=view.status if view else None,
        iterations=len(view.history) if view else 0,
        best_score=view.judgment.intent_score if view and view.judgment else None,
        running_jobs=running_jobs(ws, session_id),
        spending=spending,
        limits=request.limits,
        summary=summary,
    )


def session_view(ws: Workspace, session_id: str | None) -> SessionView | None:
    """The session at a glance; None without one."""
    if session_id is None:
        return None
    with suppress(P2PError):
        return view_session(ws, session_id)
    return None


def running_jobs(ws: Workspace, session_id: str | None) -> tuple[str, ...]:
    """Ids of the session's jobs that have not ended."""
    if session_id is None:
        return ()
    return tuple(job.job_id for job in list_jobs(ws, session_id) if not job.state.finished)
