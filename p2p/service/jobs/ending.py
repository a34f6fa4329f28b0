"""End jobs and every process they started."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.service.jobs.worker_jobs import wait
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

AT_ONCE = 8
"""Jobs that are ended side by side: each is waited for, and an SSH server takes ten at a time unless told otherwise."""


def end_training(ws: Workspace, iteration: IterationRecord) -> None:
    """End the training job of an iteration, its runs and its report rollouts."""
    if (request := iteration.read_training_request()) is not None:
        end_job(ws, ws.jobs.new(request.job_id).path)  # first, for it starts the others
    end_jobs(ws, [*(run.path for run in iteration.runs()), iteration.report.path])


def end_film(ws: Workspace, record: SessionRecord) -> None:
    """End the film of a session, after its driver: one that has said how the session ended starts the film last."""
    status = record.read_status()
    if status is not None and status.status.finished:
        with suppress(InvalidInput):  # it was never started
            wait([record.driver_dir], ws.backend)
    end_job(ws, record.film_dir)


def end_jobs(ws: Workspace, directories: Iterable[Path]) -> None:
    """End the jobs of several directories, of which none starts another."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda directory: end_job(ws, directory), directories))


def end_job(ws: Workspace, directory: Path) -> None:
    """End the job of a directory if there is one, including a lost job that may have left processes."""
    with suppress(InvalidInput):
        if not ws.backend.status(directory).state.finished:
            ws.backend.cancel(directory)
