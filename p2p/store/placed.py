"""Job that a cluster's scheduler executes, in a directory that the cluster's machines share with this one."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from p2p.contracts.cluster import PlacedJob
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.store import files, layout
from p2p.store.clock import now


class PlacedJobRecord:
    """Directory of a job that a scheduler executes."""

    def __init__(self, directory: Path) -> None:
        self.path = directory
        self._placed_path = directory / layout.PLACED
        self._status_path = directory / layout.STATUS
        self._cancel_path = directory / layout.CANCEL
        self.scheduler_log_path = directory / layout.SCHEDULER_LOG

    def read(self) -> PlacedJob | None:
        """How the job was handed over; None for a job of another backend, or a broken file."""
        return files.read_model(self._placed_path, PlacedJob)

    @property
    def elsewhere(self) -> bool:
        """Whether the job was handed to a scheduler, even if the record is unreadable."""
        return self._placed_path.exists()

    def has_job(self) -> bool:
        """Whether a job was ever submitted from here."""
        return (self.path / layout.JOB).is_file()

    def save(self, placed: PlacedJob) -> None:
        """Write `placed.json`."""
        files.write_model(self._placed_path, placed)

    def forget(self) -> None:
        """Make it a job of whichever backend it is submitted to next."""
        files.remove(self._placed_path)

    def begin(self, spec: JobSpec, placed: PlacedJob) -> None:
        """Record a submission before the scheduler is told of it."""
        files.remove(self._cancel_path)
        files.write_model(self.path / layout.JOB, spec)
        self.save_status(JobStatus(state=JobState.QUEUED, updated_at=now()))
        self.save(placed)

    def read_status(self) -> JobStatus:
        """What the job's supervisor wrote last; the heartbeat of a running one is `updated_at`."""
        status = files.read_model(self._status_path, JobStatus)
        if status is None:
            return JobStatus(state=JobState.QUEUED)
        if status.state is not JobState.RUNNING:
            return status
        with suppress(OSError):
            beat = datetime.fromtimestamp(self._status_path.stat().st_mtime, UTC)
            return status.model_copy(update={"updated_at": beat.isoformat(timespec="milliseconds")})
        return status

    def read_status_anew(self) -> JobStatus:
        """The same, past what a network file system remembers of the directory: to list it asks the server."""
        with suppress(OSError):
            os.listdir(self.path)  # noqa: PTH208 - for its effect
        return self.read_status()

    def save_status(self, status: JobStatus) -> None:
        """Write `status.json`, when no supervisor does."""
        files.write_model(self._status_path, status)

    def end_asked_for_s(self) -> float:
        """How long ago the supervisor was told to end its job, on whatever machine [s]; tells it if nobody did."""
        try:
            return max(0.0, time.time() - self._cancel_path.stat().st_mtime)
        except FileNotFoundError:
            files.write_text(self._cancel_path, "")
            return 0.0

    def beats(self, within_s: float) -> bool:
        """Whether the supervisor of a running job wrote its heartbeat in the last `within_s` seconds."""
        status = files.read_model(self._status_path, JobStatus)
        if status is None or status.state is not JobState.RUNNING:
            return False
        with suppress(OSError):
            return time.time() - self._status_path.stat().st_mtime < within_s
        return False

    def scheduler_log(self) -> str:
        """Last lines of what the scheduler's job printed before our supervisor took over; empty if it printed none."""
        text = files.read_text(self.scheduler_log_path) or ""
        return "\n".join(text.splitlines()[-5:])

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Be the only process that submits this job, or concludes how it ended."""
        with files.exclusive(self.path / layout.PLACED_LOCK):
            yield


def placed_jobs(root: Path) -> Iterator[PlacedJobRecord]:
    """Every job below a directory that was handed to a scheduler."""
    for path in sorted(root.rglob(layout.PLACED)):
        yield PlacedJobRecord(path.parent)
