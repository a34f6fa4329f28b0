"""The queue of background jobs: first come, first served, and kept by nobody but those who wait in it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p2p.contracts.background import JobKind, JobTicket
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.service.wiring import Wiring
from p2p.store.background import BackgroundDirectory, BackgroundRecord
from p2p.store.candidates import all_runs
from p2p.store.sessions import RunsDirectory

POLL_S = 0.2


class Queue(Wiring):
    """Whose turn it is."""

    @property
    def jobs(self) -> BackgroundDirectory:
        """The jobs of the runs directory."""
        return BackgroundDirectory(self.runs.path)

    @contextmanager
    def turn(self, job_id: str | None) -> Iterator[None]:
        """Wait until a job may run, and keep its place for the length of the block; None need not wait."""
        if job_id is None:
            yield
            return
        while (slot := self._take_slot(job_id)) is None:
            time.sleep(POLL_S)
        self.jobs.leave_queue(job_id)
        try:
            yield
        finally:
            os.close(slot)

    def queue_position(self, job_id: str) -> int | None:
        """Place among the jobs that wait, from 1; None for one that does not."""
        return queue_position(self.runs.path, self.backend, job_id)

    def job_directory(self, ticket: JobTicket) -> Path:
        """Directory of the process that does a job: its own, or that of its session's driver."""
        return job_directory(self.runs.path, ticket)

    def process_of(self, ticket: JobTicket) -> JobStatus:
        """How the process of a job stands; one that was killed is lost, whoever it was that killed it."""
        return process_of(self.runs.path, self.backend, ticket)

    def _take_slot(self, job_id: str) -> int | None:
        if self.queue_position(job_id) not in (1, None):
            return None
        return self.jobs.take_slot(self.settings.max_jobs, job_id, self._is_at_work)

    def _is_at_work(self, job_id: str) -> bool:
        """Whether a job that was killed has left trainings running that no other job has adopted."""
        ticket = self.jobs.new(job_id).read_ticket()
        if ticket is None or self.jobs.new(job_id).read_end() is not None:
            return False
        record = self.runs.session(ticket.session_id)
        iterations = record.iteration_records()
        if ticket.kind is JobKind.SESSION:
            latest = BackgroundRecord(record.driver_dir).read_ticket()
            owned = iterations[-1:] if latest is not None and latest.job_id == job_id else []
        else:
            requests = ((iteration, iteration.read_training_request()) for iteration in iterations)
            owned = [iteration for iteration, request in requests if request is not None and request.job_id == job_id]
        return any(self._lives(run.path) for iteration in owned for run in all_runs(iteration))

    def _lives(self, directory: Path) -> bool:
        """Whether the job of a directory runs, or waits to."""
        try:
            return not self.backend.status(directory).state.finished
        except InvalidInput:  # it was never started
            return False


def queue_position(runs_dir: Path, backend: Backend, job_id: str) -> int | None:
    """Place of a job among those of a runs directory that wait, from 1; None for one that does not.

    The order is that of arrival, and nobody overtakes; a job whose process was killed is passed over.
    """
    jobs = BackgroundDirectory(runs_dir)
    if not jobs.waits(job_id):
        return None
    ahead = 0
    for ticket in jobs.queue():
        if ticket.job_id == job_id:
            return ahead + 1
        ahead += not process_of(runs_dir, backend, ticket).state.finished
    return None


def job_directory(runs_dir: Path, ticket: JobTicket) -> Path:
    """Directory of the process that does a job: its own, or that of its session's driver."""
    if ticket.kind is JobKind.SESSION:
        return RunsDirectory(runs_dir).session(ticket.session_id).driver_dir
    return BackgroundDirectory(runs_dir).new(ticket.job_id).path


def process_of(runs_dir: Path, backend: Backend, ticket: JobTicket) -> JobStatus:
    """How the process of a job stands; one that was killed is lost, whoever it was that killed it."""
    directory = job_directory(runs_dir, ticket)
    try:
        status = backend.status(directory)
    except InvalidInput:  # its caller has written the ticket, and is about to submit it, or has died
        if BackgroundDirectory(runs_dir).someone_starts():
            return JobStatus(state=JobState.QUEUED)
        try:  # it was submitted meanwhile, or never will be
            status = backend.status(directory)
        except InvalidInput:
            return JobStatus(state=JobState.LOST)
    killed = status.state is JobState.FAILED and status.signal is not None
    return status.model_copy(update={"state": JobState.LOST}) if killed else status
