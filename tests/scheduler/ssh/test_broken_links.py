"""A link to a node that breaks at every step of a job's life: the job runs once, and comes back whole."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from job_helpers import is_running, shell, until
from ssh_lab import Lab

from p2p.contracts.job import JobState, JobStatus
from p2p.scheduler.backends.ssh import SSHBackend

pytestmark = pytest.mark.slow

WORK = """\
echo run >> count
mkdir -p out
for i in 1 2 3; do head -c {size} /dev/urandom > out/$i; done
for i in $(seq 40); do echo line $i; sleep {pause}; done
sha256sum out/* > sums
"""
LINES = "".join(f"line {i}\n" for i in range(1, 41))
FAULTS = ("drop", "stall")
"""One that ends by itself and one that lasts."""
MORE_FAULTS = ("reset", "flap", "restart")
"""More of each kind."""


class Fault:
    """What happens to the link, and how it ends."""

    def __init__(self, lab: Lab, how: str) -> None:
        self._lab, self._how, self.lasts = lab, how, how in ("stall", "restart")
        self._flaps = 4

    def strike_after(self, n_bytes: int) -> None:
        """The next so many bytes get through."""
        strikes: dict[str, Callable[[], None]] = {
            "drop": self._lab.link.drop,
            "reset": self._lab.link.reset,
            "stall": self._lab.link.stall,
            "flap": lambda: self._flap(n_bytes),
            "restart": self._lab.sshd.stop,
        }
        self._lab.link.break_after(n_bytes, strikes[self._how])

    def heal(self) -> None:
        """The end of a fault that does not end by itself."""
        self._lab.sshd.start()
        self._lab.link.mend()

    def _flap(self, n_bytes: int) -> None:
        self._flaps -= 1
        if self._flaps:
            self._lab.link.break_after(n_bytes, lambda: self._flap(n_bytes))
        self._lab.link.reset()


@pytest.fixture(params=[*FAULTS, *(pytest.param(how, marks=pytest.mark.nightly) for how in MORE_FAULTS)])
def fault(request: pytest.FixtureRequest, lab: Lab) -> Fault:
    return Fault(lab, request.param)


@pytest.fixture
def backend(lab: Lab) -> SSHBackend:
    return SSHBackend("attic", lab.store)


def until_unreachable(backend: SSHBackend, directory: Path) -> JobStatus:
    def out_of_reach() -> JobStatus | None:
        status = backend.status(directory)
        return status if status.state is JobState.UNREACHABLE else None

    return until(out_of_reach)


def ended(backend: SSHBackend, directory: Path) -> JobStatus:
    def end() -> JobStatus | None:
        status = backend.status(directory)
        return status if status.state.finished else None

    return until(end)


def assert_ran_once_and_is_whole(directory: Path) -> None:
    assert (directory / "count").read_text() == "run\n"
    for line in (directory / "sums").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest
    assert not list(directory.rglob("*.part"))


@pytest.mark.parametrize("n_bytes", [3000, pytest.param(9000, marks=pytest.mark.nightly)])
def test_at_submission(fault: Fault, backend: SSHBackend, jobs: Path, n_bytes: int) -> None:
    fault.strike_after(n_bytes)  # while the keys are agreed on; while it is uploaded and started
    status = backend.submit(shell(WORK.format(size=1000, pause=0)), jobs / "a")
    if fault.lasts:
        assert status.state is JobState.UNREACHABLE
        assert "attic" in (status.error or "")
        assert until_unreachable(backend, jobs / "a").updated_at == status.updated_at  # since when
    fault.heal()
    assert ended(backend, jobs / "a").state is JobState.COMPLETED
    assert_ran_once_and_is_whole(jobs / "a")


def test_while_it_runs(fault: Fault, backend: SSHBackend, jobs: Path) -> None:
    backend.submit(shell(WORK.format(size=1000, pause=0.05)), jobs / "a")
    seen, offset = "", 0
    fault.strike_after(2000)
    while not backend.status(jobs / "a").state.finished:
        text, offset = backend.logs(jobs / "a", offset)
        seen += text
        if fault.lasts and backend.status(jobs / "a").state is JobState.UNREACHABLE:
            fault.heal()
    seen += backend.logs(jobs / "a", offset)[0]
    assert seen == LINES  # nothing is missing, nothing is there twice
    assert backend.status(jobs / "a").state is JobState.COMPLETED
    assert_ran_once_and_is_whole(jobs / "a")


def test_while_its_files_are_fetched(lab: Lab, fault: Fault, backend: SSHBackend, jobs: Path) -> None:
    backend.submit(shell(WORK.format(size=1_000_000, pause=0)), jobs / "a")
    until((lab.remote_directory(jobs / "a") / "sums").exists)
    fault.strike_after(1_500_000)
    if fault.lasts:
        until_unreachable(backend, jobs / "a")
        assert not (jobs / "a/sums").exists()
    fault.heal()
    assert ended(backend, jobs / "a").state is JobState.COMPLETED
    assert_ran_once_and_is_whole(jobs / "a")


def test_while_it_is_cancelled(lab: Lab, fault: Fault, backend: SSHBackend, jobs: Path) -> None:
    script = "echo run >> count; setsid sleep 100 & echo $! > pids; sleep 100 & echo $! >> pids; wait"
    backend.submit(shell(script), jobs / "a")
    remote_directory = lab.remote_directory(jobs / "a")
    pids = until(
        lambda: len(words := (remote_directory / "pids").read_text().split()) == 2 and [int(word) for word in words]
    )
    fault.strike_after(2000)
    status = backend.cancel(jobs / "a")
    if status.state is JobState.UNREACHABLE:
        fault.heal()
        status = ended(backend, jobs / "a")
    fault.heal()
    assert status.state is JobState.CANCELLED
    until(lambda: not any(is_running(pid) for pid in pids))
    assert (jobs / "a/count").read_text() == "run\n"
    assert backend.status(jobs / "a").state is JobState.CANCELLED


def test_many_look_while_the_link_breaks_again_and_again(lab: Lab, backend: SSHBackend, jobs: Path) -> None:
    backend.submit(shell(WORK.format(size=100_000, pause=0.05)), jobs / "a")
    over = threading.Event()

    def look() -> None:
        mine = SSHBackend(None, lab.store)
        while not over.is_set():
            mine.status(jobs / "a")
            over.wait(0.02)

    watchers = [threading.Thread(target=look) for _ in range(4)]
    for watcher in watchers:
        watcher.start()
    for _ in range(5):
        lab.link.break_after(20_000, lab.link.reset)
        over.wait(0.4)
    ended(backend, jobs / "a")
    over.set()
    for watcher in watchers:
        watcher.join()
    assert backend.logs(jobs / "a")[0] == LINES
    assert_ran_once_and_is_whole(jobs / "a")
