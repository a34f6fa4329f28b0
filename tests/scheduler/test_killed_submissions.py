"""A submitter killed at each system call of a submission, on a real Slurm: the job runs once or never, never twice."""

from pathlib import Path

import pytest
from job_helpers import shell, until
from system_calls import calls_of, cannot_trace, killed_at

from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobState
from p2p.scheduler.backends.slurm import SlurmBackend
from p2p.store.placed import PlacedJobRecord

pytestmark = pytest.mark.nightly
ONCE = shell("echo once >> runs")


def test_a_job_whose_submitter_is_killed_at_any_moment_runs_once_or_never_and_once_when_it_is_submitted_again(
    slurm_cluster: Cluster, jobs: Path
) -> None:
    if (reason := cannot_trace()) is not None:
        pytest.skip(reason)

    def submit(directory: Path) -> JobState:
        return SlurmBackend(slurm_cluster).submit(ONCE, directory).state

    calls = calls_of(lambda: submit(jobs / "whole"), jobs.parent / "trace")
    killed = list[Path]()
    for number, call in enumerate(calls):
        directory = jobs / f"{number}_{call}"
        if killed_at(lambda at=directory: submit(at), jobs.parent / "trace", call, calls[: number + 1].count(call)):
            killed.append(directory)
    print(f"{len(killed)} kills")
    assert len(killed) > 0.9 * len(calls), "the number of waits for sbatch differs from one submission to the next"
    backend = SlurmBackend(slurm_cluster)
    for directory in killed[::2]:  # of the others only the states are looked at
        submit(directory)
    for directory in killed:
        if PlacedJobRecord(directory).elsewhere:
            until(lambda at=directory: backend.status(at).state is JobState.COMPLETED)
    times = {directory.name: runs_of(directory) for directory in killed}
    assert set(times.values()) <= {0, 1}, times
    assert all(runs_of(directory) for directory in killed[::2])
    assert all(runs_of(directory) for directory in killed if PlacedJobRecord(directory).elsewhere)


def runs_of(directory: Path) -> int:
    """How often the job ran."""
    path = directory / "runs"
    return len(path.read_text().split()) if path.exists() else 0
