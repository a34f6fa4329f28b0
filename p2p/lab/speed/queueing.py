"""What it costs to hand many runs to a backend, to watch them and to see their ends."""

import resource
import time
from pathlib import Path

from p2p.contracts.base import Contract
from p2p.contracts.job import JobSpec, JobState
from p2p.contracts.protocols import Backend
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.store.iterations import IterationRecord
from p2p.training.trainer import Trainer


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
    """From then until the last run had ended [s]."""
    watch_cpu_share: float
    """Processor time of that, as a share of one core."""
    peak_memory_mb: float
    """Largest resident memory of the process [MiB]."""


def measure_queueing(backend: Backend, name: str, n_runs: int, job_s: float, place: Path) -> QueueingReport:
    """Have `Trainer` run jobs that only sleep, in directories below `place`.

    Args:
        backend: Where they run.
        name: What the backend is called.
        n_runs: How many.
        job_s: How long each sleeps [s].
        place: Empty directory; on a cluster, one that its machines share.

    Raises:
        EnvironmentProblem: the backend refuses them.
    """
    runs = [IterationRecord(place / f"sleep_seed_{seed}") for seed in range(n_runs)]
    begun, before = time.perf_counter(), _processor_s()
    submitted = [begun, before]

    def note() -> None:
        if submitted[0] == begun:
            submitted[:] = time.perf_counter(), _processor_s()

    parallel = backend.capacity(JOB_MEMORY_MB).runs
    Trainer(backend, JobSpec(argv=("sleep", str(job_s)), cores=1), parallel, note).train(runs)
    watched_s = time.perf_counter() - submitted[0]
    return QueueingReport(
        backend=name,
        n_runs=n_runs,
        n_completed=sum(backend.status(run.path).state is JobState.COMPLETED for run in runs),
        submitted_s=submitted[0] - begun,
        submit_cpu_s=submitted[1] - before,
        watched_s=watched_s,
        watch_cpu_share=(_processor_s() - submitted[1]) / watched_s,
        peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def table(report: QueueingReport) -> str:
    """Report in Markdown."""
    head = ("backend", "runs", "completed", "handed over in", "watched for", "share of a core", "memory")
    row = (
        report.backend,
        f"{report.n_runs:,}",
        f"{report.n_completed:,}",
        f"{report.submitted_s:.1f} s",
        f"{report.watched_s:.0f} s",
        f"{report.watch_cpu_share:.1%}",
        f"{report.peak_memory_mb:.0f} MiB",
    )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), row))


def _processor_s() -> float:
    """Processor time of this process and of the commands that it has started [s]."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
