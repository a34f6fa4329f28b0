"""Background jobs as callers see them, read from directories alone: whoever started one may be gone."""

import time
from collections.abc import Sequence

from p2p.contracts.background import JobKind, JobTicket, JobView
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.session import RunProgress, SessionStatus, StatusRecord
from p2p.contracts.waiting import WaitsFor
from p2p.service.sessions.progress import ACTIVE, remaining_s, run_progress
from p2p.service.training.jobs import failure_message
from p2p.service.training.queue import POLL_S, Queue
from p2p.service.training.waiting import shared_wait, waits_for_turn
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


class JobViews(Queue):
    """Jobs by their ids."""

    def get_job(self, job_id: str) -> JobView:
        """How a job stands.

        Raises:
            UnknownName: there is no job of this id.
        """
        return self._job_view(self._ticket(job_id))

    def find_job(self, text: str) -> str:
        """Id of the job meant by an id, the start or end of one, or "latest".

        Raises:
            UnknownName: none, or more than one, is meant.
        """
        return self.jobs.find(text)

    def wait_for_job(self, job_id: str, seconds: float = MAX_WAIT_S) -> JobView:
        """The job when it has ended, or when the time is up: at most `MAX_WAIT_S`."""
        ticket = self._ticket(job_id)
        deadline = time.monotonic() + min(max(seconds, 0.0), MAX_WAIT_S)
        while not self._job_state(ticket).state.finished and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return self._job_view(ticket)

    def list_jobs(self, session_id: str | None = None) -> tuple[JobView, ...]:
        """All jobs, or those of a session, newest first; none of a session that was deleted."""
        wanted = self.jobs.tickets(session_id)
        return tuple(self._job_view(ticket) for ticket in wanted if self._is_kept(ticket.session_id))

    def job_log(self, job_id: str, offset: int = 0) -> tuple[str, int]:
        """What a job printed, from byte `offset` on, and the next offset.

        Raises:
            UnknownName: there is no job of this id.
            InvalidInput: `offset` is negative.
        """
        ticket = self._ticket(job_id)
        if offset < 0:
            raise InvalidInput(f"A log offset counts bytes from 0, got {offset}.")
        try:
            return self.backend.logs(self.job_directory(ticket), offset)
        except InvalidInput:  # its process has not been started yet
            return "", offset

    def settle(self, ticket: JobTicket | None) -> None:
        """Write down how a job ended, before its session goes on without it; does nothing while it lives."""
        if ticket is None:
            return
        view = self._job_view(ticket)
        if view.state.finished:
            self._write_end(view)

    def _is_kept(self, session_id: str) -> bool:
        record = self.runs.session(session_id)
        return record.exists and record.read_metadata().deleted_at is None

    def _ticket(self, job_id: str) -> JobTicket:
        ticket = self.jobs.job(job_id).read_ticket()
        assert ticket is not None, "the directory knows only jobs with a ticket"
        return ticket

    def _write_end(self, view: JobView) -> None:
        self.jobs.new(view.job_id).save_end(view)
        self.jobs.leave_queue(view.job_id)

    def _job_view(self, ticket: JobTicket) -> JobView:
        if (end := self.jobs.new(ticket.job_id).read_end()) is not None:
            return end
        status = self._job_state(ticket)  # before the runs, so that those of a completed job are complete
        record = self.runs.session(ticket.session_id)
        number = ticket.iteration or len(record.iteration_records()) or None
        runs = self._job_runs(record, number)
        trained = self._job_runs_before(record, number) if ticket.kind is JobKind.SESSION else ()
        plan = record.iteration(number).read_plan() if number is not None else None
        running = status.state is JobState.RUNNING
        waiting = None
        if status.state is JobState.WAITING:
            waiting = waits_for_turn(self.runs.path, self.backend, ticket)
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
            self._write_end(view)
        return view

    def _job_state(self, ticket: JobTicket) -> JobStatus:
        """How a job stands, with its error in words."""
        if (end := self.jobs.new(ticket.job_id).read_end()) is not None:
            return JobStatus(state=end.state, error=end.error)
        process = self.process_of(ticket)
        session = self.runs.session(ticket.session_id).read_status()
        if ticket.kind is JobKind.SESSION and session is not None and session.status.finished:
            return _end_of_session(session)
        if not process.state.finished:
            waits = process.state is JobState.QUEUED or self.jobs.waits(ticket.job_id)
            return JobStatus(state=JobState.WAITING if waits else JobState.RUNNING, error=process.error)
        return JobStatus(state=process.state, error=_error(process))

    def _job_runs(self, record: SessionRecord, number: int | None) -> Sequence[RunProgress]:
        if number is None:
            return ()
        return tuple(run_progress(run, self.backend) for run in record.iteration(number).runs())

    def _job_runs_before(self, record: SessionRecord, number: int | None) -> Sequence[RunProgress]:
        """The runs of the iterations before one."""
        return tuple(run for before in range(1, number or 1) for run in self._job_runs(record, before))


def _end_of_session(session: StatusRecord) -> JobStatus:
    return JobStatus(state=ENDINGS[session.status], error=session.error)


def _error(process: JobStatus) -> str | None:
    if process.state is JobState.LOST:
        return KILLED if process.updated_at is not None else NEVER_STARTED
    return failure_message(process) if process.state is JobState.FAILED else None
