"""End jobs and every process they started."""

from contextlib import suppress
from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord


def end_training(ws: Workspace, iteration: IterationRecord) -> None:
    """End the training job of an iteration, its runs and its report rollouts."""
    if (request := iteration.read_training_request()) is not None:
        end_job(ws, ws.jobs.new(request.job_id).path)  # first, for it starts the others
    for run in iteration.runs():
        end_job(ws, run.path)
    end_job(ws, iteration.report.path)


def end_job(ws: Workspace, directory: Path) -> None:
    """End the job of a directory if there is one, including a lost job that may have left processes."""
    with suppress(InvalidInput):
        if not ws.backend.status(directory).state.finished:
            ws.backend.cancel(directory)
