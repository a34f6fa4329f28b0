"""Sessions that are trained once for all processes of pytest-xdist, and read or copied by tests."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import p2p
from p2p.scheduler import supervisor
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.resources import cores
from p2p.store import layout

BALANCE = "keep the pole balanced for 2 seconds"
"""Most sessions that are really trained: judged and filmed for 2 s; without a duration it would be 10 s."""


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Directory that `make` filled, once per run of pytest, with all pictures; whoever comes meanwhile waits.

    Tests only read it: one that writes works on a copy.
    """
    base = factory.getbasetemp()
    common = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    place, complete = common / name, common / f"{name}.complete"
    with (common / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(place, ignore_errors=True)
            with drawing():
                make(place)
            end_films(place)
            complete.touch()
    return place


@contextmanager
def drawing() -> Iterator[None]:
    """Have the sessions made meanwhile come with their pictures, as at home."""
    asked = os.environ.pop("P2P_RENDERER", None)
    try:
        yield
    finally:
        if asked is not None:
            os.environ["P2P_RENDERER"] = asked


def passed_session(factory: pytest.TempPathFactory) -> Path:
    """Runs directory with one session, which its own loop trained until it passed."""

    def make(place: Path) -> None:
        p2p.run(BALANCE, env="InvertedPendulum-v5", n_seeds=1, n_report_rollouts=10, runs_dir=place).wait()

    return made_once(factory, "passed_session", make)


def end_films(root: Path) -> None:
    """Cancel the videos of all checkpoints, which nothing waits for, below a directory."""
    for pid in supervisor.processes():
        tags = (supervisor.SUPERVISOR_TAG, supervisor.JOB_TAG)  # one that waits is a supervisor and no more
        job = Path(next(filter(None, (supervisor.variable(pid, tag) for tag in tags)), "/"))
        if job.name == layout.FILM and job.is_relative_to(root) and job.exists():
            LocalBackend().cancel(job)


class FilmLine:
    """The places of the line for films, so that no test makes videos that nobody looks at.

    Args:
        locks: Directory of the locks of the machine's queue (`P2P_CORES_DIR`).
    """

    def __init__(self, locks: Path) -> None:
        self._locks = locks
        self._held: list[int] = []

    def hold(self) -> None:
        """Take all places, until this process ends: films wait for their turn, which never comes."""
        for number in range(max(1, cores() // 2)):
            place = os.open(self._locks / f"film_{number}", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(place, fcntl.LOCK_EX)
            os.ftruncate(place, 0)
            os.write(place, str(self._locks).encode())  # who has it, as a job says it
            self._held.append(place)

    def let_go(self) -> None:
        """Give the places back."""
        while self._held:
            os.close(self._held.pop())
