"""Run jobs on this machine, each under a supervisor that outlives the process that started it."""

import codecs
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobState, JobStatus
from p2p.scheduler import supervisor
from p2p.scheduler.machine_queue import place_of
from p2p.scheduler.processes import ask_for_the_end, is_supervised, kill, unsupervised
from p2p.scheduler.resources import JOB_MEMORY_MB, cores, cores_of_a_training, parallel_jobs
from p2p.store import files, locks
from p2p.store.clock import now
from p2p.store.untrusted_files import harmless_text, open_to_read

KILL_AFTER_S = 15.0
"""Patience of `cancel` with a supervisor, which itself kills after 2 s, and waits for the jobs its job started."""
START_LIMIT_S = 300.0
"""Patience with a supervisor that starts: it takes 0.1 s of processor time, which a busy machine may spread far."""
LEAVE_S = 60.0
"""Patience with a supervisor that has recorded the end of its job, or was killed, and still holds the lock."""
LOG_CHUNK = 1 << 20
"""Most bytes of one answer of `logs`."""


class LocalBackend:
    """Stateless backend for this machine: every answer is read from the job's directory."""

    capabilities = Capabilities(here=True, keys=True)

    def capacity(self, job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:
        """Number of jobs of this memory [MiB] that fit on this machine at a time."""
        return Capacity(runs=parallel_jobs(job_memory_mb), cores=cores(), cores_per_run=cores_of_a_training(cores()))

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Start `spec` in `directory`, which is also its working directory.

        A live or completed job is left as it is; one that failed, was cancelled or got lost starts again.

        Raises:
            InvalidInput: `spec` has no command.
            StorageProblem: the directory cannot be written.
            EnvironmentProblem: no supervisor could be started, or another process holds the job's lock.
        """
        if not spec.argv:
            raise InvalidInput("A job needs a command: expected argv with at least one word.")
        directory = directory.resolve()
        files.make_directory(directory)
        deadline = time.monotonic() + LEAVE_S
        while (status := _read(directory)) and status.state.finished and is_supervised(directory):
            if time.monotonic() > deadline:
                raise locks.held_up(directory / supervisor.LOCK, LEAVE_S)
            time.sleep(0.01)  # it is about to leave
        if is_supervised(directory) and supervisor.is_alive(supervisor.read(directory / supervisor.HANDLE)):
            return self.status(directory)  # a supervisor that looked later might find the job lost, and start it
        with _submitting(directory):
            if not is_supervised(directory) and not (status and status.state is JobState.COMPLETED):
                files.write_model(directory / supervisor.JOB, spec)
            try:
                _start_supervisor(directory)
            except EnvironmentProblem:  # it may have been killed in its first moment: once more
                _start_supervisor(directory)
        return self.status(directory)

    def status(self, directory: Path) -> JobStatus:
        """Status of the job; `updated_at` of a running one is its last heartbeat.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        _require_job(directory)
        while True:
            before = _read(directory)
            supervised = is_supervised(directory)
            after = _read(directory)
            if supervised:
                return _with_heartbeat(directory, after or JobStatus(state=JobState.SUBMITTING))
            if after is None and _is_being_submitted(directory):
                return JobStatus(state=JobState.QUEUED)
            if after is None and (_read(directory) is not None or is_supervised(directory)):
                continue  # its supervisor has come meanwhile
            if after is None:
                broken = (directory / supervisor.STATUS).exists()
                why = "Its status.json cannot be read" if broken else "Its submitter was killed before it had begun"
                return JobStatus(state=JobState.LOST, error=f"{why}; submit the job again.")
            if after.state.finished:
                return after
            if before is not None and before.started_at == after.started_at:
                reason = "Its supervisor could not record an end (killed, or the disk is full); submit the job again."
                return after.model_copy(update={"state": JobState.LOST, "error": reason})

    def cancel(self, directory: Path) -> JobStatus:
        """End the job, its processes and the jobs it submitted; return when they are gone.

        Raises:
            InvalidInput: `directory` holds no job.
            StorageProblem: the wish to cancel cannot be written.
            EnvironmentProblem: another process than its supervisor holds the job's lock.
        """
        _require_job(directory)
        directory = directory.resolve()
        begun = time.monotonic()
        try:
            while not _is_over(directory):
                if (waited := time.monotonic() - begun) > KILL_AFTER_S:
                    kill(directory)
                if waited > KILL_AFTER_S + LEAVE_S:
                    raise locks.held_up(directory / supervisor.LOCK, waited)
                ask_for_the_end(directory)
                time.sleep(0.05)
        except OSError as error:
            raise files.storage_problem(directory / supervisor.CANCEL, error) from error
        return self.status(directory)

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Read up to 1 MiB of the log from byte `offset`; return it with the next offset. Half-written characters wait.

        Raises:
            InvalidInput: `directory` holds no job, or `offset` is negative.
        """
        _require_job(directory)
        if offset < 0:
            raise InvalidInput(f"A log offset counts bytes from 0, got {offset}.")
        try:
            with open_to_read(directory / supervisor.LOG, longest=None) as file:
                file.seek(offset)
                data = file.read(LOG_CHUNK)
        except FileNotFoundError:
            return "", offset
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        text = decoder.decode(data)
        return harmless_text(text), offset + len(data) - len(decoder.getstate()[0])

    def wait(self, directories: Iterable[Path], poll_s: float = 0.2) -> Iterator[tuple[Path, JobStatus]]:
        """Yield the jobs of `directories` with their last status as they end."""
        pending = list(directories)
        while pending:
            for directory in tuple(pending):
                status = self.status(directory)
                if status.state.finished:
                    pending.remove(directory)
                    yield directory, status
            if pending:
                time.sleep(poll_s)


@contextmanager
def _submitting(directory: Path) -> Iterator[None]:
    """Hold the directory itself, so that readers can tell a job that is being started from one that never was.

    Where it cannot be locked (NFS), such a job is taken for one that is being started.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def _is_being_submitted(directory: Path) -> bool:
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _start_supervisor(directory: Path) -> None:
    seen = supervisor.read(directory / supervisor.STATUS).get("updated_at") or ""
    command = [sys.executable, "-I", "-S", supervisor.__file__, str(directory), seen]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_LIMIT_S,
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentProblem(f"Cannot start the supervisor of {directory}: {error}.") from error
    if done.returncode:
        raise EnvironmentProblem(done.stderr.strip() or f"The supervisor of {directory} did not report its process.")


def _require_job(directory: Path) -> None:
    if not (directory / supervisor.JOB).is_file():
        raise InvalidInput(f"{directory} is not a job: expected {supervisor.JOB} in it, as written by its submission.")


def _read(directory: Path) -> JobStatus | None:
    return files.read_model(directory / supervisor.STATUS, JobStatus)


def _with_heartbeat(directory: Path, status: JobStatus) -> JobStatus:
    if status.state is JobState.QUEUED:
        place = None
        with suppress(OSError):  # the queue is not ours
            place = place_of(str(directory.resolve()))
        return status.model_copy(update={"place": place})
    if status.state is not JobState.RUNNING:
        return status
    beat = datetime.fromtimestamp((directory / supervisor.STATUS).stat().st_mtime, UTC)
    return status.model_copy(update={"updated_at": beat.isoformat(timespec="milliseconds")})


def _is_over(directory: Path) -> bool:
    """Whether the job is over; one without a supervisor is declared cancelled, unless it had ended."""
    with unsupervised(directory) as alone:
        if not alone:
            return False
        status = _read(directory)
        if status is None or not status.state.finished:
            kill(directory)
            started_at = status.started_at if status else None
            ended = JobStatus(state=JobState.CANCELLED, started_at=started_at, updated_at=now())
            files.write_model(directory / supervisor.STATUS, ended)
        return True
