"""Run worker jobs: submit, wait, and report failures."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, JobLost, P2PError, TrainingFailed
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import Priority
from p2p.store import files

SINGLE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""One thread for linear algebra: for small networks more are slower. What else a run may use is P2P_THREADS."""

LITTLE_MEMORY = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "262144"}
"""For glibc: what evaluations take is given back, not kept in pieces, which is a tenth of a run's memory."""

MAX_LOG_MB = 64
MAX_DISK_MB = 20_000
"""A worker that writes more, into its log or into its directory, is out of control."""
MAX_MEMORY_SHARE = 0.5
"""A worker that takes more of the machine's memory is ended before the machine is."""
TRAINING_NICENESS = 10
"""On the machine of the one who waits, who works on it meanwhile, and whose server shall answer at once."""

FILM_NICENESS = 19
"""Nobody waits for the videos of all checkpoints: they give way to everything, trainings too."""

POLL_S = 0.2

PROBE_PREFIX = "p2p-probe-"
"""Of the names of temporary directories."""

WORKER = "p2p.worker"
"""Module that is started, with the verbs below; the lab has one of its own."""

NICENESS = {"train": TRAINING_NICENESS, "film": FILM_NICENESS}
"""Of the verbs of the worker that give way to others, as nice(1) counts."""

LINES = {"film": "film"}
"""Verbs whose jobs wait for one another: sessions that end together are filmed in the order of their ends."""

LIMITS = {"describe": {"max_wall_s": 60, "max_memory_mb": 6144}}
"""Of verbs that read a stranger's file."""

ERRORS: dict[int | None, type[P2PError]] = {2: InvalidInput, 3: TrainingFailed, 4: EnvironmentProblem}
"""What the exit code of a worker stands for."""


def worker_job(
    verb: str,
    threads: int = 1,
    memory_share: float = MAX_MEMORY_SHARE,
    priority: Priority = "low",
    module: str = WORKER,
) -> JobSpec:
    """Job specification for one worker verb; a training owns the cores it uses."""
    env = SINGLE_THREAD | LITTLE_MEMORY | {"P2P_THREADS": str(threads)}
    owned = threads if verb == "train" else 0
    niceness = 0 if verb == "train" and priority == "normal" else NICENESS.get(verb, 0)
    command = ("{python}", "-m", module, verb, ".")
    limits = {"max_log_mb": MAX_LOG_MB, "max_disk_mb": MAX_DISK_MB, **LIMITS.get(verb, {})}
    return JobSpec(
        argv=command,
        env=env,
        cores=owned,
        line=LINES.get(verb),
        niceness=niceness,
        max_memory_share=memory_share,
        **limits,
    )


def run_to_end(backend: Backend, verb: str, directory: Path, module: str = WORKER) -> None:
    """Run one verb of a worker and wait for it.

    Raises:
        InvalidInput, TrainingFailed, EnvironmentProblem: what the worker refused or failed at.
        JobLost: the worker was killed.
    """
    backend.submit(worker_job(verb, module=module), directory)
    with cancelled_by_ctrl_c(backend, directory):
        wait([directory], backend)
    raise_failure(backend.status(directory), f"{verb} in {directory}")


@contextmanager
def probe_directory() -> Iterator[Path]:
    """Temporary directory of a job that looks at this machine; those of killed probes are removed."""
    files.sweep(Path(tempfile.gettempdir()), f"{PROBE_PREFIX}*")
    with tempfile.TemporaryDirectory(prefix=PROBE_PREFIX, ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


@contextmanager
def cancelled_by_ctrl_c(backend: Backend, directory: Path) -> Iterator[None]:
    """Cancel the job if the caller is interrupted inside the block."""
    try:
        yield
    except KeyboardInterrupt:
        backend.cancel(directory)
        raise


def completed(backend: Backend, directory: Path) -> bool:
    """Whether the job of a directory completed; False if there is none."""
    try:
        return backend.status(directory).state is JobState.COMPLETED
    except InvalidInput:
        return False


def wait(directories: Sequence[Path], backend: Backend, tick: Callable[[], None] = lambda: None) -> None:
    """Wait until every job has ended; `tick` is called at each look."""
    while not all(backend.status(directory).state.finished for directory in directories):
        tick()
        time.sleep(POLL_S)


def raise_failure(status: JobStatus, what: str) -> None:
    """Raise the error of a job that did not complete."""
    if status.state is JobState.COMPLETED:
        return
    if status.state is JobState.FAILED and status.exit_code in ERRORS:
        raise ERRORS[status.exit_code](failure_message(status))
    if status.state is JobState.FAILED and status.signal is None:
        raise TrainingFailed(f"{what} failed: {failure_message(status)}")
    if status.over_a_limit:
        raise TrainingFailed(f"{what} failed: {last_line(status.error)}")
    raise JobLost(f"{what} was {status.state} before its end. A session goes on with: {Remedy.RESUME.of()}")


def failure_message(status: JobStatus) -> str:
    """Last line of the job's log: its error message."""
    return last_line(status.error) or f"exit code {status.exit_code}, signal {status.signal}"


def last_line(text: str | None) -> str:
    """Last nonblank line of an error; empty without one."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""
