"""Background jobs: trainings of an iteration, and whole sessions."""

from typing import Annotated

from fastapi import Query

from p2p.contracts.background import JobView
from p2p.redaction import redact_text
from p2p.service.progress.job_views import get_job, job_log, list_jobs
from p2p.service.sessions.background import cancel_job
from p2p.web.arguments import Ws
from p2p.web.router import Router
from p2p.web.schemas import JobLog

router = Router(prefix="/api/jobs", tags=["jobs"])


@router.get("")
def jobs(ws: Ws, session: Annotated[str | None, Query(max_length=64)] = None) -> tuple[JobView, ...]:
    """All jobs, or those of a session; newest first."""
    return list_jobs(ws, session)


@router.get("/{job_id}")
def one(ws: Ws, job_id: str) -> JobView:
    """How a job stands."""
    return get_job(ws, job_id)


@router.get("/{job_id}/log")
def log(ws: Ws, job_id: str, offset: Annotated[int, Query(ge=0)] = 0) -> JobLog:
    """Its log from a byte on."""
    text, end = job_log(ws, job_id, offset)
    return JobLog(text=redact_text(text), offset=end)


@router.post("/{job_id}/cancel")
def cancel(ws: Ws, job_id: str) -> JobView:
    """End it and every process it started; finished work is kept."""
    return cancel_job(ws, job_id)
