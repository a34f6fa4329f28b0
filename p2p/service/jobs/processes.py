"""Processes of background jobs, found by their directories."""

from pathlib import Path

from p2p.contracts.background import JobKind, JobTicket
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.service.workspace import Workspace
from p2p.store.background import BackgroundDirectory
from p2p.store.sessions import RunsDirectory


def is_live(ws: Workspace, directory: Path) -> bool:
    """Whether the job of a directory is running or queued."""
    try:
        return not ws.backend.status(directory).state.finished
    except InvalidInput:  # it was never started
        return False


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
