"""Queue of background jobs: first come, first served, coordinated by the waiting jobs themselves."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from p2p.contracts.background import JobKind, JobTicket
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.service.workspace import Workspace
from p2p.store.background import BackgroundDirectory, BackgroundRecord
from p2p.store.candidates import all_runs
from p2p.store.sessions import RunsDirectory

POLL_S = 0.2


@contextmanager
def turn(ws: Workspace, job_id: str | None) -> Iterator[None]:
    """Wait for the job's turn and hold its slot while the block runs; no wait for None."""
    if job_id is None:
        yield
        return
    while (slot := _take_slot(ws, job_id)) is None:
        time.sleep(POLL_S)
    ws.jobs.leave_queue(job_id)
    try:
        yield
    finally:
        os.close(slot)


def _take_slot(ws: Workspace, job_id: str) -> int | None:
    if queue_position(ws.runs.path, ws.backend, job_id) not in (1, None):
        return None
    return ws.jobs.take_slot(ws.settings.max_jobs, job_id, partial(_is_at_work, ws))


def _is_at_work(ws: Workspace, job_id: str) -> bool:
    """Whether a killed job left trainings running that no other job has adopted."""
    ticket = ws.jobs.new(job_id).read_ticket()
    if ticket is None or ws.jobs.new(job_id).read_end() is not None:
        return False
    record = ws.runs.session(ticket.session_id)
    iterations = record.iteration_records()
    if ticket.kind is JobKind.SESSION:
        latest = BackgroundRecord(record.driver_dir).read_ticket()
        owned = iterations[-1:] if latest is not None and latest.job_id == job_id else []
    else:
        requests = ((iteration, iteration.read_training_request()) for iteration in iterations)
        owned = [iteration for iteration, request in requests if request is not None and request.job_id == job_id]
    return any(is_live(ws, run.path) for iteration in owned for run in all_runs(iteration))


def is_live(ws: Workspace, directory: Path) -> bool:
    """Whether the job of a directory is running or queued."""
    try:
        return not ws.backend.status(directory).state.finished
    except InvalidInput:  # it was never started
        return False


def queue_position(runs_dir: Path, backend: Backend, job_id: str) -> int | None:
    """Position of a job in the queue of a runs directory, from 1; None if it is not queued.

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
    """Directory of a job's process: its own, or that of the session's driver."""
    if ticket.kind is JobKind.SESSION:
        return RunsDirectory(runs_dir).session(ticket.session_id).driver_dir
    return BackgroundDirectory(runs_dir).new(ticket.job_id).path


def process_of(runs_dir: Path, backend: Backend, ticket: JobTicket) -> JobStatus:
    """Status of a job's process; a killed one is lost."""
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
