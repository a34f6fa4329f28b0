"""A real Slurm that is disturbed at random moments, again and again."""

import random
import time
from pathlib import Path

import pytest
from job_helpers import shell, until
from slurm_lab import SlurmLab
from small_training import policies, prepared

from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobSpec, JobState
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.backends.slurm import SlurmBackend
from p2p.service.jobs.worker_jobs import worker_job
from p2p.store.iterations import IterationRecord
from p2p.training.trainer import Trainer

pytestmark = pytest.mark.nightly
KILLS = 50
AT_A_TIME = 4


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> IterationRecord:
    (run,) = prepared(tmp_path_factory.mktemp("undisturbed"), "run")
    Trainer(LocalBackend(), worker_job("train"), 1, lambda: None).train([run])
    return run


@pytest.mark.parametrize("seed", range(20))
def test_a_training_requeued_twice_at_random_equals_one_that_was_not(
    seed: int, slurm: SlurmLab, slurm_cluster: Cluster, jobs: Path, undisturbed: IterationRecord
) -> None:
    dice = random.Random(seed)
    rollouts = len(undisturbed.parse_scalars()[0])
    moments = sorted(dice.sample(range(1, rollouts), 2))
    (run,) = prepared(jobs, "requeued")
    backend = SlurmBackend(slurm_cluster)

    def disturb() -> None:
        if moments and len(run.parse_scalars()[0]) >= moments[0]:
            time.sleep(dice.uniform(0.0, 0.3))
            moments.pop(0)
            (number,) = slurm.run("squeue", "--noheader", "--format=%i").split() or [""]
            if number and slurm.succeeds("scontrol", "requeue", number):
                until(lambda: backend.status(run.path).error == "BeginTime")
                slurm.run("scontrol", "update", f"JobId={number}", "StartTime=now")

    Trainer(backend, worker_job("train"), 1, disturb).train([run], poll_s=0.05)
    assert policies(run) == policies(undisturbed)


class Flow:
    """Jobs of some seconds, of which a few are live at any time; each notes its starts, and starts beside another."""

    def __init__(self, slurm: SlurmLab, backend: SlurmBackend, place: Path, dice: random.Random) -> None:
        self.slurm, self.backend, self.place, self.dice = slurm, backend, place, dice
        self.live: dict[Path, JobSpec] = {}
        self.ended = 0
        self.submitted_again = 0
        self.faults: list[str] = []

    def told(self) -> str:
        """How its live jobs stand, in p2p's words and in Slurm's."""
        ours = "\n".join(f"{directory.name}: {self.backend.status(directory)}" for directory in self.live)
        return f"{ours}\n{self.slurm.run('squeue', '--states=all')}\n{self.slurm.run('sinfo', '--list-reasons')}"

    def hurry(self) -> None:
        """Have Slurm start what it holds or delays, as after a start that failed."""
        numbers = self.slurm.run("squeue", "--noheader", "--states=PENDING", "--format=%i").split()
        for number in numbers:
            self.slurm.run("scontrol", "release", number)
            self.slurm.run("scontrol", "update", f"JobId={number}", "StartTime=now")

    def watch(self, seconds: float) -> None:
        """Look for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.look()
            time.sleep(0.2)

    def look(self, begin: bool = True) -> None:
        """See which have ended and how; begin others in their place."""
        for directory, spec in list(self.live.items()):
            status = self.backend.status(directory)
            if status.state is JobState.LOST:
                self.submitted_again += 1
                self.backend.submit(spec, directory)
            elif status.state.finished:
                del self.live[directory]
                self.ended += 1
                expected = int(directory.name.rpartition("_")[2])
                if status.exit_code != expected:
                    self.faults.append(f"{directory.name} ended with {status}")
                if (directory / "doubled").exists():
                    self.faults.append(f"{directory.name} ran twice at a time")
        while begin and len(self.live) < AT_A_TIME:
            directory = self.place / f"{self.ended + len(self.live)}_{self.dice.randrange(3)}"
            code = directory.name.rpartition("_")[2]
            seconds = self.dice.uniform(0.0, 8.0)
            spec = shell(f"exec 9> own; flock -n 9 || echo > doubled; sleep {seconds:.1f}; exit {code}")
            self.live[directory] = spec
            self.backend.submit(spec, directory)


@pytest.mark.timeout(3600)
def test_a_controller_that_is_killed_at_random_loses_doubles_and_misreports_no_job(
    slurm: SlurmLab, slurm_cluster: Cluster, jobs: Path
) -> None:
    dice = random.Random(7)
    flow = Flow(slurm, SlurmBackend(slurm_cluster), jobs, dice)
    for _ in range(KILLS):
        flow.watch(dice.uniform(0.0, 4.0))
        slurm.kill("slurmctld", saved=False)
        flow.watch(dice.uniform(0.0, 2.0))
        slurm.make_good()
        flow.hurry()
    deadline = time.monotonic() + 300.0
    while flow.live:
        assert time.monotonic() < deadline, flow.told()
        flow.look(begin=False)
        slurm.make_good()
        flow.hurry()
    print(f"{KILLS} kills, {flow.ended} jobs, {flow.submitted_again} of them submitted again")
    assert not flow.faults
