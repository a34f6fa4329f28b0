"""A scheduler is asked once for all jobs, left alone when it is silent, and offered no jobs when it is full."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from job_helpers import shell

from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import NodeUnreachable
from p2p.contracts.job import JobState, JobStatus
from p2p.scheduler.backends import job_table
from p2p.scheduler.backends.job_table import Ending, JobTable, Phase, Report
from p2p.scheduler.backends.placed import PlacedBackend, Placement
from p2p.scheduler.backends.slurm import SlurmBackend
from p2p.store.placed import PlacedJobRecord

RUNNING = Report(Phase.RUNNING)


class Scheduler(PlacedBackend):
    """A scheduler of three places, which is asked and filled by the test."""

    def __init__(self, place: Path) -> None:
        super().__init__(Cluster(name="toy", kind=f"toy {place}"))
        self.has: dict[str, Report] = {}
        self.offered = self.asked = 0
        self.answers = True

    def require_client(self) -> None:
        pass

    def enqueue(self, placement: Placement) -> str:
        self.offered += 1
        self._answer()
        if len(self.has) == 3:
            return "no room"
        self.has[placement.name] = Report(Phase.WAITING, "Priority")
        return ""

    def ask(self) -> Mapping[str, Report]:
        self.asked += 1
        self._answer()
        return dict(self.has)

    def end(self, name: str) -> None:
        self.has.pop(name, None)

    def _answer(self) -> None:
        if not self.answers:
            raise NodeUnreachable("It does not answer.")


@pytest.fixture
def toy(tmp_path: Path) -> Scheduler:
    return Scheduler(tmp_path)


def test_one_answer_serves_all_who_ask_soon_after() -> None:
    table, asked = JobTable(), list[int]()

    def ask() -> dict[str, Report]:
        asked.append(1)
        return {"a": RUNNING, "b": RUNNING}

    assert [table.find(name, ask) for name in "abab"] == [RUNNING] * 4
    assert len(asked) == 1
    assert table.find("a", ask, fresh=True) == RUNNING
    table.outdate()
    assert table.find("a", ask) == RUNNING
    assert len(asked) == 3


def test_a_full_scheduler_is_offered_nothing_for_a_while_and_then_the_rest(
    toy: Scheduler, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [toy.submit(shell("true"), jobs / f"run_{i}") for i in range(10)]
    assert [status.error for status in states] == [None] * 3 + ["no room"] * 7
    assert {toy.status(jobs / f"run_{i}").error for i in range(10)} == {"Priority", "no room"}
    assert toy.offered == 4
    toy.has.clear()
    monkeypatch.setattr(job_table, "FULL_S", 0.0)
    toy.status(jobs / "run_9")
    assert toy.offered == 5
    assert toy.status(jobs / "run_9").error == "Priority"


def test_a_silent_scheduler_is_not_asked_for_every_job(toy: Scheduler, jobs: Path) -> None:
    toy.answers = False
    states = [toy.submit(shell("true"), jobs / f"run_{i}") for i in range(50)]
    states += [toy.status(jobs / f"run_{i}") for i in range(50)]
    assert {status.state for status in states} == {JobState.UNREACHABLE}
    assert toy.offered + toy.asked < 10
    toy.answers = True


def test_a_job_that_was_never_submitted_is_cancelled_without_a_word_to_the_scheduler(
    toy: Scheduler, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.answers = False
    toy.submit(shell("true"), jobs / "a")
    toy.answers = True
    monkeypatch.setattr(job_table, "SILENT_S", 0.0)
    assert toy.cancel(jobs / "a").state is JobState.CANCELLED
    assert toy.offered == 1


def test_two_slurms_in_one_process_are_two() -> None:
    first, other, again = (
        SlurmBackend(Cluster(name=name, kind="slurm", variables={"SLURM_CONF": place}))
        for name, place in (("lab", "/a/slurm.conf"), ("big", "/b/slurm.conf"), ("gpu", "/a/slurm.conf"))
    )
    assert first.table is again.table
    assert first.table is not other.table


@pytest.mark.parametrize(
    ("ending", "state", "interrupted"),
    [
        (Ending.UNKNOWN, JobState.FAILED, False),
        (Ending.CANCELLED, JobState.CANCELLED, False),
        (Ending.INTERRUPTED, JobState.LOST, True),
    ],
)
def test_a_command_that_was_killed_ended_as_its_scheduler_says(
    toy: Scheduler, jobs: Path, ending: Ending, state: JobState, interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy, "cluster", toy.cluster.model_copy(update={"settle_s": 0.0}))
    toy.submit(shell("true"), jobs / "a")
    PlacedJobRecord(jobs / "a").save_status(JobStatus(state=JobState.FAILED, signal=15, error="killed"))
    toy.has = dict.fromkeys(toy.has, Report(Phase.OVER, "why", ending))
    toy.table.outdate()
    status = toy.status(jobs / "a")
    assert (status.state, status.interrupted) == (state, interrupted)
    toy.has.clear()  # and forgotten later, which changes nothing
    assert toy.status(jobs / "a") == status


def test_a_command_that_was_killed_waits_where_its_scheduler_queues_it_again_a_moment_later(
    toy: Scheduler, jobs: Path
) -> None:
    toy.submit(shell("true"), jobs / "a")
    PlacedJobRecord(jobs / "a").save_status(JobStatus(state=JobState.FAILED, signal=15, error="killed"))
    toy.has = dict.fromkeys(toy.has, Report(Phase.OVER, "why", Ending.UNKNOWN))
    toy.table.outdate()
    assert toy.status(jobs / "a").state is JobState.RUNNING
    toy.has = dict.fromkeys(toy.has, Report(Phase.WAITING, "requeued"))
    toy.table.outdate()
    assert toy.status(jobs / "a").state is JobState.QUEUED


def test_a_command_that_was_killed_is_lost_where_the_scheduler_forgot_why(
    toy: Scheduler, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy, "cluster", toy.cluster.model_copy(update={"settle_s": 0.0}))
    toy.submit(shell("true"), jobs / "a")
    PlacedJobRecord(jobs / "a").save_status(JobStatus(state=JobState.FAILED, signal=15, error="killed"))
    toy.has.clear()
    toy.table.outdate()
    status = toy.status(jobs / "a")
    assert status.state is JobState.LOST
    assert toy.forgotten.reason in (status.error or "")
    assert toy.status(jobs / "a") == status
