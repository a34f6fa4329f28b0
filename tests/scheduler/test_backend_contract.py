"""What every registered backend promises, tried with real processes."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Protocol

import pytest
from job_helpers import is_running, pid_in, shell, until

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import Capabilities, JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.registry import BACKENDS, PLACES, cluster_kinds, load
from p2p.scheduler.backends.by_directory import open_backend
from p2p.store.nodes import NodeStore


class Anywhere(Protocol):
    """Where the backend under test runs its jobs."""

    def __call__(self, directory: Path) -> Path: ...


CAPABILITIES: dict[str, Capabilities] = {name: load("backend", BACKENDS, name).capabilities for name in BACKENDS}
SLOW = {name for name, can in CAPABILITIES.items() if can.copies or can.takes == "cluster"}
"""Backends that need a server of their own."""
LOGIN_NODE = "slurm behind ssh"
CAPABILITIES[LOGIN_NODE] = CAPABILITIES["ssh"]


IN_CLUSTERS = {name for name in SLOW if name != "slurm"}
"""The dearest of them."""


def kinds(at_night: Collection[str]) -> list[Any]:
    """All backends, of which some are tried at night alone."""
    marks = {
        name: [pytest.mark.slow] * (name in SLOW) + [pytest.mark.nightly] * (name in at_night) for name in BACKENDS
    }
    marks[LOGIN_NODE] = [pytest.mark.slow, pytest.mark.nightly]
    return [pytest.param(name, marks=marks[name]) for name in sorted(marks)]


of_the_supervisor = pytest.mark.parametrize("kind", kinds(SLOW), indirect=True)
"""What the one supervisor of jobs does in every backend."""
once_in_a_cluster = pytest.mark.parametrize("kind", kinds(IN_CLUSTERS), indirect=True)
"""What takes several jobs one after the other."""


@pytest.fixture(params=kinds(()))
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def backend(kind: str, request: pytest.FixtureRequest) -> Backend:
    backend: Backend
    if kind == LOGIN_NODE:
        backend = load("backend", BACKENDS, "ssh")("login", request.getfixturevalue("login_node").store)
        return backend
    made = load("backend", BACKENDS, kind)
    if CAPABILITIES[kind].takes == "cluster":
        backend = made(request.getfixturevalue(f"{kind}_cluster"))
    elif CAPABILITIES[kind].copies:
        backend = made("attic", request.getfixturevalue("lab").store)
    else:
        backend = made("local") if CAPABILITIES[kind].takes == "nodes" else made()
    return backend


@pytest.fixture
def goes_on(kind: str) -> None:
    if CAPABILITIES[kind].at_once:
        pytest.skip("its jobs have ended when they have been submitted")


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest) -> Anywhere:
    """Where a job really runs: in its directory, or in that on its node."""
    return request.getfixturevalue("lab").remote_directory if CAPABILITIES[kind].copies else Path


def finished(backend: Backend, directory: Path) -> JobStatus:
    def end() -> JobStatus | None:
        status = backend.status(directory)
        return status if status.state.finished else None

    return until(end)


def test_a_job_runs_in_its_directory_and_completes(backend: Backend, jobs: Path, place: Anywhere) -> None:
    status = backend.submit(shell("pwd; echo done > result"), jobs / "a")
    ran = place(jobs / "a")
    assert status.state in (JobState.QUEUED, JobState.RUNNING, JobState.COMPLETED)
    end = finished(backend, jobs / "a")
    assert (end.state, end.exit_code, end.signal, end.error) == (JobState.COMPLETED, 0, None, None)
    assert end.started_at is not None
    assert end.updated_at is not None
    assert end.started_at <= end.updated_at
    assert (jobs / "a/result").read_text() == "done\n"
    assert backend.logs(jobs / "a")[0] == f"{ran}\n"


@pytest.mark.parametrize("name", sorted(set(BACKENDS) - SLOW))
def test_a_job_is_started_by_the_name_of_its_backend_and_found_by_the_local_one(
    name: str, jobs: Path, tmp_path: Path
) -> None:
    backend = open_backend(name, NodeStore(tmp_path / "nodes"))
    backend.submit(shell("echo done"), jobs / "a")
    assert finished(backend, jobs / "a").state is JobState.COMPLETED
    assert open_backend("local", NodeStore(tmp_path / "nodes")).logs(jobs / "a")[0] == "done\n"


def test_python_stands_for_an_interpreter_that_knows_p2p(backend: Backend, jobs: Path) -> None:
    backend.submit(JobSpec(argv=("{python}", "-c", "import p2p; print(p2p.__version__)")), jobs / "a")
    assert finished(backend, jobs / "a").state is JobState.COMPLETED


def test_a_failed_job_tells_its_exit_code_and_its_last_lines(backend: Backend, jobs: Path) -> None:
    backend.submit(shell("for i in $(seq 50); do echo line $i; done; exit 7"), jobs / "a")
    end = finished(backend, jobs / "a")
    assert (end.state, end.exit_code, end.signal) == (JobState.FAILED, 7, None)
    assert end.error == "\n".join(f"line {i}" for i in range(41, 51))


@of_the_supervisor
def test_a_job_ended_by_a_signal_tells_which(backend: Backend, jobs: Path) -> None:
    backend.submit(shell("kill -SEGV $$"), jobs / "a")
    end = finished(backend, jobs / "a")
    assert (end.state, end.exit_code, end.signal) == (JobState.FAILED, None, 11)
    assert end.error


@of_the_supervisor
def test_a_command_that_does_not_exist_fails_and_is_named(backend: Backend, jobs: Path) -> None:
    backend.submit(JobSpec(argv=("no-such-command",)), jobs / "a")
    end = finished(backend, jobs / "a")
    assert (end.state, end.exit_code) == (JobState.FAILED, 127)
    assert "no-such-command" in (end.error or "")


def test_a_job_without_a_command_is_refused(backend: Backend, jobs: Path) -> None:
    with pytest.raises(InvalidInput, match="argv"):
        backend.submit(JobSpec(argv=()), jobs / "a")
    assert not (jobs / "a").exists()


@pytest.mark.usefixtures("goes_on")
def test_submitting_a_live_job_again_changes_nothing(backend: Backend, jobs: Path, place: Anywhere) -> None:
    backend.submit(shell("echo $$ >> pids; exec sleep 60"), jobs / "a")
    pid = pid_in(place(jobs / "a") / "pids")
    first = until(lambda: (now := backend.status(jobs / "a")).state is JobState.RUNNING and now)
    again = backend.submit(shell("echo other >> pids"), jobs / "a")
    assert (again.state, again.started_at) == (JobState.RUNNING, first.started_at)
    assert is_running(pid)
    assert (place(jobs / "a") / "pids").read_text() == f"{pid}\n"
    assert "other" not in (jobs / "a/job.json").read_text()


@once_in_a_cluster
def test_a_completed_job_is_not_started_again(backend: Backend, jobs: Path) -> None:
    backend.submit(shell("echo once >> runs"), jobs / "a")
    end = finished(backend, jobs / "a")
    assert backend.submit(shell("echo twice >> runs"), jobs / "a") == end
    assert (jobs / "a/runs").read_text() == "once\n"


@once_in_a_cluster
def test_a_failed_job_starts_again_with_what_is_submitted_now(backend: Backend, jobs: Path) -> None:
    for attempt in (1, 2):
        backend.submit(shell(f"echo attempt {attempt}; exit {attempt}"), jobs / "a")
        end = finished(backend, jobs / "a")
        assert (end.exit_code, end.error) == (attempt, f"attempt {attempt}")
    backend.submit(shell("true"), jobs / "a")
    assert finished(backend, jobs / "a").state is JobState.COMPLETED


@pytest.mark.usefixtures("goes_on")
def test_cancel_returns_when_the_job_is_gone_and_it_may_start_again(
    backend: Backend, jobs: Path, place: Anywhere
) -> None:
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "a")
    pid = pid_in(place(jobs / "a") / "pid")
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    assert not is_running(pid)
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    backend.submit(shell("true"), jobs / "a")
    assert finished(backend, jobs / "a").state is JobState.COMPLETED


@once_in_a_cluster
def test_cancelling_a_completed_job_leaves_it_completed(backend: Backend, jobs: Path) -> None:
    backend.submit(shell("true"), jobs / "a")
    end = finished(backend, jobs / "a")
    assert backend.cancel(jobs / "a") == end


@pytest.mark.usefixtures("goes_on")
def test_a_log_is_read_on_from_an_offset_without_splitting_characters(
    backend: Backend, jobs: Path, place: Anywhere
) -> None:
    backend.submit(shell(r"printf 'one\n\303'; until [ -e go ]; do sleep 0.02; done; printf '\244two\n'"), jobs / "a")
    assert until(lambda: backend.logs(jobs / "a")[0]) == "one\n"
    log = place(jobs / "a") / "output.log"
    until(lambda: log.stat().st_size == 5)
    text, offset = backend.logs(jobs / "a")
    assert (text, offset) == ("one\n", 4)
    (place(jobs / "a") / "go").touch()
    finished(backend, jobs / "a")
    assert backend.logs(jobs / "a", offset) == ("ätwo\n", 10)
    assert backend.logs(jobs / "a", 10) == ("", 10)
    with pytest.raises(InvalidInput, match="-1"):
        backend.logs(jobs / "a", -1)


@pytest.mark.parametrize("question", ["status", "cancel", "logs"])
def test_a_directory_without_a_job_is_named(backend: Backend, jobs: Path, question: str) -> None:
    jobs.mkdir()
    (jobs / "file").touch()
    for place in (jobs / "absent", jobs, jobs / "file"):
        with pytest.raises(InvalidInput, match=f"{place.name} is not a job"):
            getattr(backend, question)(place)


@pytest.mark.parametrize("name", sorted(BACKENDS))
def test_exactly_the_backends_that_take_machines_say_so_in_their_form(name: str) -> None:
    assert (name in PLACES) == bool(CAPABILITIES[name].takes)
    assert (name in cluster_kinds()) == (CAPABILITIES[name].takes == "cluster")
