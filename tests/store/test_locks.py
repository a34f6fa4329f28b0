"""Waiting for a lock ends, and says for whom it was."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.job import JobSpec, JobState
from p2p.scheduler import supervisor
from p2p.scheduler.backends import local
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.processes import is_supervised, unsupervised
from p2p.store import files, locks
from p2p.store.background import BackgroundDirectory
from p2p.store.sessions import RunsDirectory

HOLD = """
import fcntl, sys, time
held = open(sys.argv[1], "a")
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Path]:
    """A lock that another process holds, which has nothing to do with p2p."""
    path = tmp_path / "lock"
    path.touch()
    script = tmp_path / "holding.py"
    script.write_text(HOLD)
    with subprocess.Popen([sys.executable, str(script), str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield path
        process.send_signal(signal.SIGKILL)


def _named(message: str) -> None:
    if sys.platform == "linux":
        assert "holding.py lock)" in message
        assert "of user" in message
        assert "/holding.py" not in message


def test_a_lock_is_waited_for_with_a_deadline_and_its_holder_is_named(stranger: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="waited 0 s") as error, files.exclusive(stranger, patience_s=0.05):
        pass
    _named(str(error.value))


def test_a_lock_nobody_holds_is_taken_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        with files.exclusive(tmp_path / "lock", patience_s=0.0):
            pass


def test_control_characters_of_a_holder_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    words = [sys.executable, "-c", HOLD, str(path), "\x1b]0;owned\x07" + "x" * 500]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        shown = locks.holder(path)
        process.kill()
    assert "\x1b" not in shown
    assert len(shown) < 300


@pytest.mark.parametrize("place", ["events.lock", "status.lock", "step.lock", "starting", "names.lock"])
def test_locks_are_closed_to_others_also_those_of_an_earlier_version(tmp_path: Path, place: str) -> None:
    runs = RunsDirectory(tmp_path)
    record, jobs = runs.session("one"), BackgroundDirectory(tmp_path)
    files.make_directory(record.path)
    files.make_directory(tmp_path / "jobs")
    path = {"starting": tmp_path / "jobs", "names.lock": tmp_path}.get(place, record.path) / place
    path.touch(mode=0o644)
    with record.exclusive(), runs.naming(), jobs.starting(), files.exclusive(path.with_name("unused.lock")):
        record.touch_heartbeat()
    with files.exclusive(path):
        assert path.stat().st_mode & 0o777 == 0o600


def _finished(directory: Path) -> Path:
    directory.mkdir()
    backend = LocalBackend()
    backend.submit(JobSpec(argv=(sys.executable, "-c", "")), directory)
    assert next(iter(backend.wait([directory])))[1].state is JobState.COMPLETED
    return directory / "lock"


def test_the_lock_of_a_job_is_closed_to_others(tmp_path: Path) -> None:
    assert _finished(tmp_path / "job").stat().st_mode & 0o777 == 0o600


def test_the_lock_of_a_job_of_an_earlier_version_is_closed_by_the_first_look(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch(mode=0o644)
    assert not is_supervised(tmp_path)
    assert lock.stat().st_mode & 0o777 == 0o600


def test_a_lock_is_never_open_to_others_not_even_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two somebody could open it; and a confined worker may change no permissions."""

    def forbidden(_descriptor: int, _mode: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", forbidden)
    os.close(locks.open_lock(tmp_path / "of the store"))
    with unsupervised(tmp_path):
        pass
    (tmp_path / "job").mkdir()
    assert supervisor.claim(tmp_path / "job", [])
    made = [tmp_path / "of the store", tmp_path / supervisor.LOCK, tmp_path / "job" / supervisor.LOCK]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o600, 0o600, 0o600]


@pytest.mark.parametrize("do", ["submit", "cancel"])
def test_a_job_whose_lock_a_stranger_holds_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, do: str
) -> None:
    monkeypatch.setattr(local, "LEAVE_S", 0.1)
    monkeypatch.setattr(local, "KILL_AFTER_S", 0.1)
    lock = _finished(tmp_path / "job")
    script = tmp_path / "holding.py"
    script.write_text(HOLD)
    with subprocess.Popen([sys.executable, str(script), str(lock)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        backend = LocalBackend()
        with pytest.raises(EnvironmentProblem, match="is locked by") as error:
            backend.submit(JobSpec(argv=("true",)), lock.parent) if do == "submit" else backend.cancel(lock.parent)
        process.kill()
    _named(str(error.value))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_cannot_open_a_lock(tmp_path: Path) -> None:
    with files.exclusive(tmp_path / "lock"):
        pass
    descriptor = os.open(tmp_path, os.O_RDONLY)  # pytest's own directories are closed to him in any case
    child = os.fork()
    if child == 0:
        try:
            os.setuid(54_322)
            os.open("lock", os.O_RDONLY, dir_fd=descriptor)
        except PermissionError:
            os._exit(7)
        os._exit(0)
    os.close(descriptor)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
