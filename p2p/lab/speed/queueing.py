"""What it costs to hand many runs to a backend, to watch them and to see their ends."""

import resource
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from p2p.contracts.base import Contract
from p2p.contracts.job import JobSpec, JobState
from p2p.contracts.protocols import Backend
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.store.iterations import IterationRecord
from p2p.training.trainer import Trainer

ENDED_AT_ONCE = 8
"""Runs that are cancelled at a time when the watching is over."""


class QueueingReport(Contract):
    """Costs of the process that submits and watches, with the commands that it starts."""

    backend: str
    n_runs: int
    n_completed: int
    submitted_s: float
    """Until all runs were handed over [s]."""
    submit_cpu_s: float
    """Processor time of that [s]."""
    watched_s: float
    """From then until the last run had ended, or the watching did [s]."""
    watch_cpu_share: float
    """Processor time of that, as a share of one core."""
    peak_memory_mb: float
    """Largest resident memory of the process [MiB]."""


class _WatchedEnough(Exception):
    """The time for watching is over."""


class _Clock:
    """Notes when all runs were handed over, and ends the watching; called at every look at the runs.

    Args:
        watch_s: How long they are watched from then on; None for no end [s].
    """

    def __init__(self, watch_s: float | None) -> None:
        self.watch_s = watch_s
        self.submitted: tuple[float, float] | None = None

    def __call__(self) -> None:
        """Note this look.

        Raises:
            _WatchedEnough: the time is over.
        """
        if self.submitted is None:
            self.submitted = time.perf_counter(), _processor_s()
        elif self.watch_s is not None and time.perf_counter() - self.submitted[0] > self.watch_s:
            raise _WatchedEnough


def measure_queueing(
    backend: Backend, name: str, n_runs: int, job_s: float, place: Path, watch_s: float | None = None
) -> QueueingReport:
    """Have `Trainer` run jobs that only sleep, in directories below `place`.

    Args:
        backend: Where they run.
        name: What the backend is called.
        n_runs: How many.
        job_s: How long each sleeps [s].
        place: Empty directory; on a cluster, one that its machines share.
        watch_s: How long they are watched; what runs then is cancelled. None watches until all have ended [s].

    Raises:
        EnvironmentProblem: the backend refuses them.
    """
    runs = [IterationRecord(place / f"sleep_seed_{seed}") for seed in range(n_runs)]
    parallel = backend.capacity(JOB_MEMORY_MB).runs
    clock = _Clock(watch_s)
    begun, before = time.perf_counter(), _processor_s()
    with suppress(_WatchedEnough):
        Trainer(backend, JobSpec(argv=("sleep", str(job_s)), cores=1), parallel, clock).train(runs)
    ended, after = time.perf_counter(), _processor_s()
    submitted_at, spent = clock.submitted or (ended, after)
    states = [backend.status(run.path).state for run in runs]
    left = [run.path for run, state in zip(runs, states, strict=True) if not state.finished]
    with ThreadPoolExecutor(ENDED_AT_ONCE) as threads:
        list(threads.map(backend.cancel, left))
    return QueueingReport(
        backend=name,
        n_runs=n_runs,
        n_completed=states.count(JobState.COMPLETED),
        submitted_s=submitted_at - begun,
        submit_cpu_s=spent - before,
        watched_s=ended - submitted_at,
        watch_cpu_share=(after - spent) / max(ended - submitted_at, 1e-9),
        peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def table(report: QueueingReport) -> str:
    """Report in Markdown."""
    cells = {
        "backend": report.backend,
        "runs": f"{report.n_runs:,}",
        "handed over in": f"{report.submitted_s:.1f} s",
        "processor time of that": f"{report.submit_cpu_s:.1f} s",
        "watched for": f"{report.watched_s:.0f} s",
        "share of a core": f"{report.watch_cpu_share:.1%}",
        "completed meanwhile": f"{report.n_completed:,}",
        "memory": f"{report.peak_memory_mb:.0f} MiB",
    }
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells, ["---"] * len(cells), cells.values()))


def _processor_s() -> float:
    """Processor time of this process and of the commands that it has started [s]."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
