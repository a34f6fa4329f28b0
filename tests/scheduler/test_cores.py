"""Cores of this machine have one owner at a time, whichever runs directory it works in."""

import fcntl
import json
import os
import signal
from pathlib import Path

import pytest
from job_helpers import pid_in, shell, until

from p2p.contracts.job import JobState, WaitsFor
from p2p.scheduler import cores, machine_queue
from p2p.scheduler.backends.local import LocalBackend

backend = LocalBackend()
ALL = len(cores.usable_cores())


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "cores"))


def state(directory: Path) -> JobState:
    return backend.status(directory).state


def reaches(directory: Path, wanted: JobState) -> None:
    until(lambda: state(directory) is wanted)


def owner(directory: Path, wanted: int = ALL) -> Path:
    """A job that owns cores until it finds a file called `go`."""
    backend.submit(shell("echo $$ > pid; until [ -e go ]; do sleep 0.02; done", cores=wanted), directory)
    return directory


def handle(directory: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads((directory / "handle.json").read_bytes())
    return found


def test_a_job_waits_while_another_owns_the_cores_and_says_for_whom(jobs: Path) -> None:
    first = owner(jobs / "a")
    reaches(first, JobState.RUNNING)
    second = owner(jobs / "elsewhere/b")
    reaches(second, JobState.QUEUED)
    assert backend.status(second).waits_for == (str(first),)
    assert machine_queue.holders() == (str(first),)
    assert not (second / "pid").exists()
    (first / "go").touch()
    reaches(second, JobState.RUNNING)
    assert backend.status(second).waits_for == ()
    (second / "go").touch()
    reaches(second, JobState.COMPLETED)
    until(lambda: machine_queue.holders() == ())


@pytest.mark.skipif(ALL < 2, reason="needs two cores")
def test_jobs_run_side_by_side_on_cores_of_their_own(jobs: Path) -> None:
    mine = [owner(jobs / name, 1) for name in ("a", "b")]
    pinned = [os.sched_getaffinity(pid_in(job / "pid")) for job in mine]
    assert [len(cpus) for cpus in pinned] == [1, 1]
    assert not pinned[0] & pinned[1]


def test_who_came_first_goes_first_and_who_wants_many_is_not_passed_by(jobs: Path) -> None:
    first = owner(jobs / "first", 1)
    reaches(first, JobState.RUNNING)
    waiting = []
    for name in ("many", "late"):
        waiting.append(owner(jobs / name, ALL if name == "many" else 1))
        until(lambda: len(list(machine_queue.directory().glob("queue/[0-9]*"))) == len(waiting))
    many, late = waiting
    reaches(many, JobState.QUEUED)
    assert state(late) in (JobState.SUBMITTING, JobState.QUEUED)
    (first / "go").touch()
    reaches(many, JobState.RUNNING)
    assert state(late) is JobState.QUEUED
    (many / "go").touch()
    reaches(late, JobState.RUNNING)


@pytest.mark.parametrize("whom", ["pid", "child"])
def test_cores_of_the_dead_are_free(jobs: Path, whom: str) -> None:
    first = owner(jobs / "a")
    reaches(first, JobState.RUNNING)
    second = owner(jobs / "b")
    reaches(second, JobState.QUEUED)
    os.kill(handle(first)[whom], signal.SIGKILL)
    reaches(second, JobState.RUNNING)


def test_one_that_is_killed_or_cancelled_in_the_queue_holds_up_nobody(jobs: Path) -> None:
    first = owner(jobs / "a")
    reaches(first, JobState.RUNNING)
    killed, cancelled, last = (owner(jobs / name) for name in ("killed", "cancelled", "last"))
    for job in (killed, cancelled, last):
        reaches(job, JobState.QUEUED)
    os.kill(handle(killed)["pid"], signal.SIGKILL)
    assert backend.cancel(cancelled).state is JobState.CANCELLED
    reaches(killed, JobState.LOST)
    (first / "go").touch()
    reaches(last, JobState.RUNNING)


def test_those_of_a_line_take_turns_and_pass_over_the_dead(jobs: Path) -> None:
    seats = max(1, ALL // 2)
    until_go = shell("echo $$ > pid; until [ -e go ]; do sleep 0.02; done", line="film")
    at_work = [jobs / f"work_{number}" for number in range(seats)]
    for job in at_work:
        backend.submit(until_go, job)
        reaches(job, JobState.RUNNING)
    killed, cancelled, next_one, last = waiting = [jobs / name for name in ("killed", "cancelled", "next", "last")]
    for job in waiting:
        backend.submit(until_go, job)
        reaches(job, JobState.QUEUED)
    assert [backend.status(job).place for job in waiting] == [1, 2, 3, 4]
    assert backend.status(last).waits_for == tuple(map(str, at_work))
    assert owner(jobs / "training").is_dir()
    reaches(jobs / "training", JobState.RUNNING)  # a line of its own: no core is taken
    os.kill(handle(killed)["pid"], signal.SIGKILL)
    assert backend.cancel(cancelled).state is JobState.CANCELLED
    reaches(killed, JobState.LOST)
    (at_work[0] / "go").touch()
    reaches(next_one, JobState.RUNNING)
    assert state(last) is JobState.QUEUED
    os.kill(handle(next_one)["pid"], signal.SIGKILL)
    reaches(last, JobState.RUNNING)


def in_turn(directory: Path, group: str, cores_ahead: int = 1) -> Path:
    """A background job of a line with one place, which lives until it finds a file called `go`."""
    turn = {"line": "turn_0", "places": 1, "cores_ahead": cores_ahead, "group": group}
    backend.submit(shell("echo $$ > pid; until [ -e go ]; do sleep 0.02; done", **turn), directory)
    return directory


def test_who_lacks_its_turn_holds_up_nobody_who_waits_for_cores_alone(jobs: Path) -> None:
    first = in_turn(jobs / "first", "a", cores_ahead=0)
    reaches(first, JobState.RUNNING)
    second, third = (in_turn(jobs / name, name) for name in ("second", "third"))
    assert [backend.status(job).lacks for job in (second, third)] == [WaitsFor.TURN, WaitsFor.TURN]
    assert [backend.status(job).place for job in (second, third)] == [1, 2]
    assert backend.status(second).waits_for == (str(first),)
    reaches(owner(jobs / "training"), JobState.RUNNING)
    (first / "go").touch()
    until(lambda: backend.status(second).lacks is WaitsFor.CORES)
    assert backend.status(third).lacks is WaitsFor.TURN
    (jobs / "training/go").touch()
    reaches(second, JobState.RUNNING)
    assert state(third) is JobState.QUEUED


def test_trainings_take_over_the_place_of_the_job_that_begins_with_them(jobs: Path) -> None:
    busy = owner(jobs / "busy")
    reaches(busy, JobState.RUNNING)
    job = in_turn(jobs / "job", "a")
    assert backend.status(job).lacks is WaitsFor.CORES
    late = owner(jobs / "late")
    reaches(late, JobState.QUEUED)
    assert [backend.status(each).place for each in (job, late)] == [1, 2]
    (busy / "go").touch()
    reaches(job, JobState.RUNNING)
    assert machine_queue.holders() == (), "it leaves the cores to its trainings"
    assert state(late) is JobState.QUEUED
    run = jobs / "run"
    until_go = shell("echo $$ > pid; until [ -e go ]; do sleep 0.02; done", cores=ALL, group="a")
    backend.submit(until_go, run)
    reaches(run, JobState.RUNNING)
    machine_queue.withdraw("a")
    backend.submit(until_go, jobs / "next_run")
    reaches(jobs / "next_run", JobState.QUEUED)
    (run / "go").touch()
    reaches(late, JobState.RUNNING)
    assert state(jobs / "next_run") is JobState.QUEUED, "those that begin later wait as newcomers"


def test_a_place_in_the_queue_is_given_up_with_the_death_of_the_job_that_keeps_it(jobs: Path) -> None:
    job = in_turn(jobs / "job", "a")
    reaches(job, JobState.RUNNING)
    late = owner(jobs / "late")
    reaches(late, JobState.QUEUED)
    os.kill(handle(job)["pid"], signal.SIGKILL)
    reaches(late, JobState.RUNNING)


def test_a_turn_is_taken_while_trainings_of_a_killed_job_run_and_free_for_its_own_session(jobs: Path) -> None:
    job = in_turn(jobs / "job", "a")
    reaches(job, JobState.RUNNING)
    run = jobs / "run"
    backend.submit(shell("until [ -e go ]; do sleep 0.02; done", cores=1, group="a"), run)
    reaches(run, JobState.RUNNING)
    os.kill(handle(job)["pid"], signal.SIGKILL)
    reaches(job, JobState.LOST)
    heir = in_turn(jobs / "heir", "a", cores_ahead=0)
    reaches(heir, JobState.RUNNING)
    (heir / "go").touch()
    reaches(heir, JobState.COMPLETED)
    other = in_turn(jobs / "other", "b", cores_ahead=0)
    assert backend.status(other).lacks is WaitsFor.TURN
    (run / "go").touch()
    reaches(other, JobState.RUNNING)


def test_an_entry_of_an_earlier_version_says_nothing_and_waits_for_cores(jobs: Path) -> None:
    first = owner(jobs / "first", 1)
    reaches(first, JobState.RUNNING)
    old = machine_queue.directory() / f"queue/{0:020d}_1"
    with old.open("w") as entry:
        fcntl.flock(entry, fcntl.LOCK_EX)
        second = owner(jobs / "second", ALL)
        reaches(second, JobState.QUEUED)
        assert backend.status(second).place == 2
        (first / "go").touch()
        until(lambda: machine_queue.holders() == ())
        assert state(second) is JobState.QUEUED
    reaches(second, JobState.RUNNING)


def test_what_can_never_fit_is_refused_at_once(jobs: Path) -> None:
    job = owner(jobs / "a", ALL + 1)
    reaches(job, JobState.FAILED)
    assert f"asks for {ALL + 1} cores, and this machine has {ALL}" in (backend.status(job).error or "")
