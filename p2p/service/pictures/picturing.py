"""Pictures made by a short job, once per request, and stored in their iteration."""

import math
import time
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, TrainingFailed
from p2p.contracts.work import PictureFile, PictureRequest, PictureResult, PlotRequest
from p2p.service.jobs.worker_jobs import cancelled_by_ctrl_c, raise_failure, wait, worker_job
from p2p.service.progress.lineage import best_iteration
from p2p.service.progress.session_view import live_training, view
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord
from p2p.store.sessions import SessionRecord

MIME_TYPES = {".jpg": "image/jpeg", ".png": "image/png", ".mp4": "video/mp4"}


def make_picture(
    ws: Workspace, job: ViewRecord, verb: str, order: PictureRequest | PlotRequest, wait_s: float | None
) -> PictureResult:
    """Result of a picture request, made now or earlier."""
    if (result := job.read_result()) is not None:
        return result
    if job.gone:
        files.discard(job.path)
    job.save_request(order)
    ws.backend.submit(worker_job(verb), job.path)
    deadline = time.monotonic() + wait_s if wait_s is not None else math.inf

    def require_time() -> None:
        if time.monotonic() > deadline:
            raise EnvironmentProblem(
                "This machine is busy: the pictures are still being made. Ask again with the same request, which "
                "finds them when they are done."
            )

    with cancelled_by_ctrl_c(ws.backend, job.path):
        wait([job.path], ws.backend, require_time)
    try:
        raise_failure(ws.backend.status(job.path), f"{verb} in {job.path}")
    except (InvalidInput, EnvironmentProblem):  # said in words: nothing in the directory says more
        files.discard(job.path)
        raise
    if (result := job.read_result()) is None:
        raise TrainingFailed(f"The pictures in {job.path} were removed while they were made. Ask again.")
    return result


def compared_iteration(
    ws: Workspace, session_id: str, shown: IterationRecord, number: int | None
) -> list[IterationRecord]:
    """Iteration to compare with, if requested."""
    if number is None:
        return []
    if number == shown.number:
        raise InvalidInput(f"Iteration {number} is compared with itself. Name another one to compare it with.")
    return [ws.iteration_begun(session_id, number)]


def pending_work(ws: Workspace, record: SessionRecord) -> str:
    """Sentence about the job that will produce the missing data."""
    glance = view(record, ws.backend)
    done = sum(run.step for run in glance.runs)
    total = sum(run.total_timesteps for run in glance.runs)
    share = f" ({done:,} of {total:,} steps)" if total else ""
    if (job_id := live_training(record, ws.backend)) is not None:
        return f"{job_id} is training{share}: ask again when it has come further."
    if glance.alive:
        return f"The session's own job is at the step {glance.step!r}{share}: ask again when it has come further."
    return "No job is running for it: start its training first."


def picture_file(ws: Workspace, directory: Path, result: PictureResult, name: str) -> PictureFile:
    """Description of a picture made by a job."""
    path = directory / name
    width, height = result.sizes[name]
    return PictureFile(
        path=relative_path(ws, path),
        size_bytes=path.stat().st_size,
        width=width,
        height=height,
        mime_type=MIME_TYPES[path.suffix],
    )


def relative_path(ws: Workspace, path: Path) -> str:
    """Path below the runs directory, with forward slashes."""
    return path.relative_to(ws.runs.path).as_posix()


def best_of(iterations: list[IterationRecord]) -> IterationRecord | None:
    """Best judged iteration; None if none is judged."""
    judgments = {each.number: judgment for each in iterations if (judgment := each.read_judgment()) is not None}
    best = best_iteration(judgments)
    return next((each for each in iterations if each.number == best), None)
