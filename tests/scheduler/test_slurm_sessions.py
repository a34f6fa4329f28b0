"""Sessions whose trainings a real Slurm has, and whose driver is killed."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from job_helpers import until
from shared_sessions import BALANCE, passed_session
from slurm_lab import SlurmLab

import p2p
from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobState
from p2p.contracts.session import SessionStatus
from p2p.scheduler.backends.slurm import SlurmBackend
from p2p.store import layout
from p2p.store.clusters import ClusterStore

pytestmark = pytest.mark.slow
HELD = {"extra": ["--hold"]}
"""Each job of the cluster waits until it is released."""


class Training:
    """The one training of a session, as Slurm has it."""

    def __init__(self, slurm: SlurmLab, backend: SlurmBackend, path: Path) -> None:
        self.slurm, self.backend, self.path = slurm, backend, path

    def numbers(self) -> list[str]:
        """Slurm's numbers of all jobs that were made of it."""
        rows = self.slurm.run("squeue", "--noheader", "--states=all", "--format=%i %Z").splitlines()
        return [row.split()[0] for row in rows if row.split()[1] == str(self.path)]

    def until_it_is(self, state: JobState, words: str = "") -> None:
        def reached() -> bool:
            status = self.backend.status(self.path)
            return status.state is state and words in (status.error or "")

        until(reached)

    def is_held(self) -> None:
        self.until_it_is(JobState.QUEUED, "JobHeldUser")

    def runs(self) -> None:
        self.slurm.run("scontrol", "release", *self.numbers())
        self.until_it_is(JobState.RUNNING)

    def is_requeued(self) -> None:
        self.runs()
        until(lambda: self.slurm.succeeds("scontrol", "requeue", *self.numbers()))
        self.until_it_is(JobState.QUEUED, "BeginTime")

    def has_ended(self) -> None:
        self.runs()
        self.until_it_is(JobState.COMPLETED)

    def may_go_on(self) -> None:
        """Slurm keeps it back no longer."""
        self.slurm.run("scontrol", "release", *self.numbers())
        self.slurm.run("scontrol", "update", f"JobId={self.numbers()[0]}", "StartTime=now")


@pytest.mark.parametrize(
    "moment",
    [
        Training.is_requeued,
        pytest.param(Training.is_held, marks=pytest.mark.nightly),
        pytest.param(Training.runs, marks=pytest.mark.nightly),
        pytest.param(Training.has_ended, marks=pytest.mark.nightly),
    ],
)
def test_a_session_whose_driver_is_killed_goes_on_with_the_training_that_slurm_has(
    moment: Callable[[Training], None],
    slurm: SlurmLab,
    slurm_cluster: Cluster,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = slurm_cluster.model_copy(update={"name": "lab", "options": HELD, "variables": slurm.variables})
    ClusterStore(tmp_path / "nodes").add(cluster)
    monkeypatch.setenv("P2P_NODES_DIR", str(tmp_path / "nodes"))
    monkeypatch.setenv("P2P_BACKEND", "slurm:lab")
    runs = tmp_path / "runs"
    session = p2p.run(BALANCE, env="InvertedPendulum-v5", n_seeds=1, n_report_rollouts=10, runs_dir=runs)
    placed = until(lambda: next(session.path.glob("iter_1/*/placed.json"), None))
    training = Training(slurm, SlurmBackend(cluster), placed.parent)
    training.is_held()
    if moment is not Training.is_held:
        moment(training)
    driver = json.loads((session.path / "driver" / layout.HANDLE).read_bytes())
    for pid in (driver["pid"], driver["child"]):
        os.kill(pid, signal.SIGKILL)
    until(lambda: session.status is SessionStatus.INTERRUPTED)  # a process that is dying still drives it
    session.resume()
    training.may_go_on()
    assert session.wait(300.0).passed, session.error
    assert len(training.numbers()) == 1
    monkeypatch.delenv("P2P_BACKEND")
    (local,) = passed_session(tmp_path_factory).glob("session_*")
    assert policies(session.path) == policies(local)


def policies(session: Path) -> dict[str, bytes]:
    found = {path.parent.name: path.read_bytes() for path in session.glob("iter_1/*/checkpoints/*/policy.npz")}
    assert found
    return found
