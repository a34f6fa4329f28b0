"""Jobs of the lab: verbs of `python -m p2p.lab.worker`."""

from pathlib import Path

from p2p.contracts.job import JobSpec
from p2p.contracts.protocols import Backend
from p2p.service.jobs import worker_jobs

WORKER = "p2p.lab.worker"


def lab_job(verb: str) -> JobSpec:
    """The job that runs one verb of the lab in its directory."""
    return worker_jobs.worker_job(verb, module=WORKER)


def run_to_end(backend: Backend, verb: str, directory: Path) -> None:
    """Run one verb of the lab and wait for it; raises as `worker_jobs.run_to_end` does."""
    worker_jobs.run_to_end(backend, verb, directory, WORKER)
