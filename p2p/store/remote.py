"""Local side of a job that runs on a node: its directory here mirrors the remote one."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.node import RemoteJob
from p2p.store import files, layout, locks
from p2p.store.clock import now

OWN = {
    *(layout.STATUS, layout.HANDLE, layout.LOCK, layout.CANCEL, layout.OUTPUT_LOG),
    *(layout.REMOTE, layout.MIRROR_LOCK),
    *(layout.PLACED, layout.PLACED_LOCK, layout.SCHEDULER_LOG),
}
"""Files in a job's directory that are no input of the job."""
PART = ".part"
"""Ending of a file that is on its way."""


class RemoteJobRecord:
    """Local directory of a job that runs on a node."""

    def __init__(self, directory: Path) -> None:
        self.path = directory
        self.log_path = directory / layout.OUTPUT_LOG
        self.light_paths = (self.log_path, directory / layout.METRICS / layout.SCALARS)
        """What grows while the job runs, and is copied while it does."""
        self._remote_path = directory / layout.REMOTE
        self._status_path = directory / layout.STATUS
        self._cancel_path = directory / layout.CANCEL
        self._lock_path = directory / layout.MIRROR_LOCK

    def read(self) -> RemoteJob | None:
        """Where the job runs; None for a local job or a broken file."""
        return files.read_model(self._remote_path, RemoteJob)

    @property
    def elsewhere(self) -> bool:
        """Whether the job was submitted to a node, even if the record is unreadable."""
        return self._remote_path.exists()

    def save(self, remote: RemoteJob) -> None:
        """Write `remote.json`."""
        files.write_model(self._remote_path, remote)

    def forget(self) -> None:
        """Turn it back into a local job."""
        files.remove(self._remote_path)

    def begin(self, spec: JobSpec, remote: RemoteJob) -> None:
        """Record the submission before anything is sent."""
        files.make_directory(self.path)
        files.remove(self._cancel_path)
        files.write_model(self.path / layout.JOB, spec)
        files.write_model(self._remote_path, remote)
        self.save_status(JobStatus(state=JobState.SUBMITTING))

    def has_job(self) -> bool:
        """Whether a job was ever submitted from here."""
        return (self.path / layout.JOB).is_file()

    def read_status(self) -> JobStatus | None:
        """Last known status."""
        return files.read_model(self._status_path, JobStatus)

    def save_status(self, status: JobStatus) -> None:
        """Write `status.json` if it changed."""
        if self.read_status() != status:
            files.write_model(self._status_path, status)

    def give_up(self) -> JobStatus:
        """Mark the job of a lost node as lost, so that it may be submitted elsewhere."""
        with self.mirroring(wait=True):
            status = self.read_status()
            if status is None or not status.state.finished:
                reason = "It was given up with its node, where it may still be running."
                status = JobStatus(state=JobState.LOST, error=reason, updated_at=now())
                self.save_status(status)
            return status

    def want_cancelled(self) -> None:
        """Record a wish to cancel, carried out when the node answers."""
        files.write_text(self._cancel_path, "")

    @property
    def cancel_wanted(self) -> bool:
        """Whether the job is to be cancelled."""
        return self._cancel_path.exists()

    @contextmanager
    def mirroring(self, wait: bool = False) -> Iterator[bool]:
        """Lock this directory for mirroring; False if another process has it, unless `wait`."""
        files.make_directory(self.path)
        descriptor = locks.open_lock(self._lock_path)
        try:
            if wait:
                locks.wait(descriptor, self._lock_path, locks.STEP_PATIENCE_S)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
        finally:
            os.close(descriptor)

    def looked_at(self, within_s: float) -> bool:
        """Whether the remote job was polled in the last `within_s` seconds."""
        with suppress(OSError):
            return 0 <= time.time() - self._lock_path.stat().st_mtime < within_s
        return False

    def note_look(self) -> None:
        """Record a poll of the remote job."""
        with suppress(OSError):
            os.utime(self._lock_path)

    def inputs(self) -> dict[str, Path]:
        """Input files of the job by relative path: regular files, no links."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            name = path.relative_to(self.path).as_posix()
            hidden = any(part.startswith(".") for part in path.relative_to(self.path).parts)
            if path.is_file() and not path.is_symlink() and not hidden and name not in OWN and path.suffix != PART:
                found[name] = path
        return found


def remote_jobs(root: Path) -> Iterator[RemoteJobRecord]:
    """Every job below a directory that runs on a node."""
    for path in sorted(root.rglob(layout.REMOTE)):
        yield RemoteJobRecord(path.parent)
