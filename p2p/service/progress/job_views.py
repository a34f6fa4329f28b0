"""Views of background jobs, read from directories alone: the starting process may be gone."""

import time
from collections.abc import Sequence

from p2p.contracts.background import JobKind, JobTicket, JobView
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus, WaitsFor
from p2p.contracts.session import RunProgress, SessionStatus
from p2p.service.jobs.processes import job_directory, process_of
from p2p.service.jobs.waiting import shared_wait, waiting_of
from p2p.service.jobs.worker_jobs import POLL_S, failure_message
from p2p.service.progress.session_view import ACTIVE, remaining_s, run_progress
from p2p.service.workspace import Workspace
from p2p.store.sessions import SessionRecord

MAX_WAIT_S = 45.0
"""Longest wait for a job in one call [s]; clients of the Model Context Protocol give up after a minute."""
KILLED = "Its process was killed before its end, or the disk was full. Start it again: what is finished is kept."
NEVER_STARTED = "Its caller died before its process was started. Start it again."
ENDINGS = {
    SessionStatus.PASSED: JobState.COMPLETED,
    SessionStatus.COMPLETED: JobState.COMPLETED,
    SessionStatus.MAX_ITERATIONS: JobState.COMPLETED,
    SessionStatus.CANCELLED: JobState.CANCELLED,
    SessionStatus.INVALID_CODE: JobState.FAILED,
    SessionStatus.RATE_LIMITED: JobState.FAILED,
    SessionStatus.AUTH_ERROR: JobState.FAILED,
    SessionStatus.BUDGET: JobState.FAILED,
    SessionStatus.ERROR: JobState.FAILED,
}
"""What the end of a session means for the job that drove it: without passing it is done too."""


def get_job(ws: Workspace, job_id: str) -> JobView:
    """Current view of a job.

    Raises:
        UnknownName: there is no job of this id.
    """
    return _job_view(ws, ticket_of(ws, job_id))


def find_job(ws: Workspace, text: str) -> str:
    """Resolve an id, the start or end of one, or "latest" to a job id.

    Raises:
        UnknownName: none, or more than one, is meant.
    """
    return ws.jobs.find(text)


def wait_for_job(ws: Workspace, job_id: str, seconds: float = MAX_WAIT_S) -> JobView:
    """Wait until the job ends or the time is up, at most `MAX_WAIT_S`; return its view."""
    ticket = ticket_of(ws, job_id)
    deadline = time.monotonic() + min(max(seconds, 0.0), MAX_WAIT_S)
    while time.monotonic() < deadline:
        process = process_of(ws.runs.path, ws.backend, ticket)
        if _job_state(ws, ticket, process).state.finished:
            break
        time.sleep(POLL_S)
    return _job_view(ws, ticket)


def list_jobs(ws: Workspace, session_id: str | None = None) -> tuple[JobView, ...]:
    """All jobs or those of a session, newest first; without those of deleted sessions."""
    wanted = ws.jobs.tickets(session_id)
    records = {ticket.session_id: ws.runs.session(ticket.session_id) for ticket in wanted}
    kept = {name for name, one in records.items() if one.exists and one.read_metadata().deleted_at is None}
    return tuple(_job_view(ws, ticket) for ticket in wanted if ticket.session_id in kept)


def job_log(ws: Workspace, job_id: str, offset: int = 0) -> tuple[str, int]:
    """Log text of a job from byte `offset` on, and the next offset.

    Raises:
        UnknownName: there is no job of this id.
        InvalidInput: `offset` is negative.
    """
    ticket = ticket_of(ws, job_id)
    if offset < 0:
        raise InvalidInput(f"A log offset counts bytes from 0, got {offset}.")
    try:
        return ws.backend.logs(job_directory(ws.runs.path, ticket), offset)
    except InvalidInput:  # its process has not been started yet
        return "", offset


def settle(ws: Workspace, ticket: JobTicket | None) -> None:
    """Save the end of a dead job before its session continues; does nothing for a live one."""
    if ticket is None:
        return
    view = _job_view(ws, ticket)
    if view.state.finished:
        _write_end(ws, view)


def ticket_of(ws: Workspace, job_id: str) -> JobTicket:
    """Ticket of a known job."""
    ticket = ws.jobs.job(job_id).read_ticket()
    assert ticket is not None, "the directory knows only jobs with a ticket"
    return ticket


def _write_end(ws: Workspace, view: JobView) -> None:
    ws.jobs.new(view.job_id).save_end(view)


def _job_view(ws: Workspace, ticket: JobTicket) -> JobView:
    if (end := ws.jobs.new(ticket.job_id).read_end()) is not None:
        return end
    process = process_of(ws.runs.path, ws.backend, ticket)
    status = _job_state(ws, ticket, process)  # before the runs, so that those of a completed job are complete
    record = ws.runs.session(ticket.session_id)
    number = ticket.iteration or len(record.iteration_records()) or None
    runs = _job_runs(ws, record, number)
    before = range(1, number or 1) if ticket.kind is JobKind.SESSION else range(0)
    trained = [run for earlier in before for run in _job_runs(ws, record, earlier)]
    plan = record.iteration(number).read_plan() if number is not None else None
    running = status.state is JobState.RUNNING
    waiting = None
    if status.state is JobState.WAITING:
        waiting = waiting_of(process, WaitsFor.TURN, ticket.created_at)
    elif running:
        waiting = shared_wait([run.waiting for run in runs if run.state in ACTIVE])
    view = JobView(
        job_id=ticket.job_id,
        kind=ticket.kind,
        session_id=ticket.session_id,
        iteration=number,
        state=JobState.WAITING if waiting is not None else status.state,
        queue_position=waiting.place if waiting is not None and waiting.waits_for is WaitsFor.TURN else None,
        waiting=waiting,
        step=sum(run.step for run in (*trained, *runs)),
        total=max(ticket.total, sum(run.total_timesteps for run in (*trained, *runs))),
        eta_s=remaining_s(runs, plan.parallel) if plan is not None and running else None,
        runs=runs,
        error=status.error,
        created_at=ticket.created_at,
    )
    if view.state.finished and view.state is not JobState.LOST:  # trainings of a lost one may still go on
        _write_end(ws, view)
    return view


def _job_state(ws: Workspace, ticket: JobTicket, process: JobStatus) -> JobStatus:
    """State of a job, with its error message."""
    if (end := ws.jobs.new(ticket.job_id).read_end()) is not None:
        return JobStatus(state=end.state, error=end.error)
    session = ws.runs.session(ticket.session_id).read_status()
    if ticket.kind is JobKind.SESSION and session is not None and session.status.finished:
        return JobStatus(state=ENDINGS[session.status], error=session.error)
    if not process.state.finished:
        waits = process.state is JobState.QUEUED
        return JobStatus(state=JobState.WAITING if waits else JobState.RUNNING, error=process.error)
    error = None
    if process.state is JobState.LOST:
        error = KILLED if process.updated_at is not None else NEVER_STARTED
    elif process.state is JobState.FAILED:
        error = failure_message(process)
    return JobStatus(state=process.state, error=error)


def _job_runs(ws: Workspace, record: SessionRecord, number: int | None) -> Sequence[RunProgress]:
    if number is None:
        return ()
    return tuple(run_progress(run, ws.backend) for run in record.iteration(number).runs())
