"""How an agent ended, for the one who started it."""

from contextlib import suppress

from p2p.contracts.agent import AgentReport, AgentRequest, Spending
from p2p.contracts.errors import P2PError
from p2p.contracts.session import SessionView
from p2p.service import Service
from p2p_mcp.agent.ending import Ended


def report(
    service: Service,
    request: AgentRequest,
    transcript_id: str,
    session_id: str | None,
    ended: Ended,
    told: tuple[Spending, str],
) -> AgentReport:
    """The report of one sitting.

    Args:
        service: knows the session and its jobs.
        request: what was asked for.
        transcript_id: what the agent can be resumed by.
        session_id: of the session it worked on.
        ended: why it stopped.
        told: what was spent, and the model's last words.
    """
    view = session_view(service, session_id)
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
        running_jobs=running_jobs(service, session_id),
        spending=spending,
        limits=request.limits,
        summary=summary,
    )


def session_view(service: Service, session_id: str | None) -> SessionView | None:
    """The session at a glance; None without one."""
    if session_id is None:
        return None
    with suppress(P2PError):
        return service.view_session(session_id)
    return None


def running_jobs(service: Service, session_id: str | None) -> tuple[str, ...]:
    """Ids of the session's jobs that have not ended."""
    if session_id is None:
        return ()
    return tuple(job.job_id for job in service.list_jobs(session_id) if not job.state.finished)
