"""A disk that is full: a runs directory on a small tmpfs, filled up to a random rest and freed again.

The campaign conducts itself in a process with mounts of its own, which needs root or user namespaces.
"""

import errno
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from findings import Findings
from small_sessions import accepted_session
from watching import left, until

from p2p.contracts.background import JobView
from p2p.contracts.errors import EnvironmentProblem, P2PError
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.session import EventName, SessionStatus
from p2p.scheduler.backends.local import LocalBackend
from p2p.service.progress.job_views import get_job, list_jobs, wait_for_job
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.background import cancel_job, start_training
from p2p.service.sessions.driving import stop_session
from p2p.service.sessions.steering import steer
from p2p.service.workspace import Workspace
from p2p.settings import Settings

DISK_MB = 16
PAGE = 4096
TRAINED_EVERY = 5
JOB = JobSpec(argv=("/bin/sh", "-c", "until [ -e go ]; do sleep 0.1; done; echo 1 >> ends"))


def full_disk(count: int, place: Path) -> Findings:
    """`count` times full and freed again."""
    place.mkdir(parents=True)
    mine = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "p2p-full-disk", str(place)]
    if (reason := _refusal([*mine, *mount])) is not None:
        return Findings(skipped=reason)
    inside = f'{" ".join(mount)} && exec "$0" "$@"'
    command = [*mine, "/bin/sh", "-c", inside, sys.executable, __file__, str(count), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Findings(**json.loads(done.stdout.splitlines()[-1]))


def _refusal(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return f"no tmpfs can be mounted: {done.stderr.strip()[:80]}" if done.returncode else None


def _conduct(count: int, place: Path) -> Findings:
    """On the small disk."""
    findings, dice = Findings(), random.Random(0)
    findings.watch_for("unclear errors", "records lost or broken", "jobs ended by it", "no going on", "processes left")
    disk = _Disk(place)
    for number in range(count):
        ws = Workspace(Settings(runs_dir=place / str(number), min_free_disk_gb=0))
        session_id = accepted_session(ws)
        job = place / str(number) / "a_job"
        LocalBackend().submit(JOB, job)
        before = _records(place)
        disk.fill(leave=PAGE * dice.choice((0, 0, 1, 2, 3, 5, 8)))
        findings.count("fillings")
        for name, attempt in _attempts(ws, session_id).items():
            _attempt(name, attempt, findings)
        _compare(before, _records(place), findings)
        _finish_job(job, disk, number, findings)
        _go_on(ws, session_id, findings)
        for view in list_jobs(ws):
            cancel_job(ws, view.job_id)
        if number % TRAINED_EVERY == 0:
            _train(ws, disk, findings)
        disk.clear(number)
    for pid in left(place):
        findings.went_wrong("processes left", str(pid))
    return findings


class _Disk:
    """The small disk, and what fills it."""

    def __init__(self, place: Path) -> None:
        self._place, self._filler = place, place / "filler"

    def fill(self, leave: int) -> None:
        with self._filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(PAGE))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        os.truncate(self._filler, max(0, self._filler.stat().st_size - leave))

    def free(self) -> None:
        self._filler.unlink(missing_ok=True)

    def clear(self, number: int) -> None:
        """Leave nothing of a round."""
        subprocess.run(["rm", "-rf", str(self._place / str(number))], check=True)


def _attempts(ws: Workspace, session_id: str) -> dict[str, Callable[[], object]]:
    record = ws.record(session_id)
    return {
        "create a session": lambda: accepted_session(ws),
        "change its status": lambda: record.set_status(SessionStatus.RUNNING),
        "write an event": lambda: record.events.emit(EventName.SESSION_RESUMED, filling="x" * 2 * PAGE),
        "name it": lambda: record.update_metadata(alias="x" * PAGE),
        "steer it": lambda: steer(ws, session_id, "softer"),
        "train": lambda: start_training(ws, session_id),
        "submit a job": lambda: LocalBackend().submit(JOB, record.path / "another_job"),
        "list": partial(list_sessions, ws),
        "show": lambda: view_session(ws, session_id),
        "jobs": partial(list_jobs, ws),
        "stop": lambda: stop_session(ws, session_id),
    }


def _attempt(name: str, attempt: Callable[[], object], findings: Findings) -> None:
    """It works, if there was a rest of room, or fails with words on space."""
    try:
        attempt()
        findings.count("attempts that found room")
    except EnvironmentProblem as error:
        findings.count("attempts refused")
        if "space" not in str(error) and "disk" not in str(error):
            findings.went_wrong("unclear errors", f"{name}: {error}")
    except P2PError as error:
        findings.went_wrong("unclear errors", f"{name}: {type(error).__name__}: {error}")
    except Exception as error:  # what a client would see as a defect
        findings.went_wrong("unclear errors", f"{name}: {error!r}")


def _records(place: Path) -> dict[str, object]:
    """Every JSON file; one that does not parse is None."""
    found: dict[str, object] = {}
    for path in place.rglob("*.json"):
        if not path.name.startswith("."):
            try:
                found[str(path)] = json.loads(path.read_bytes())
            except ValueError:
                found[str(path)] = None
    return found


def _compare(before: dict[str, object], after: dict[str, object], findings: Findings) -> None:
    for path in before:
        if after.get(path) is None:
            findings.went_wrong("records lost or broken", path)
    findings.count("records read", len(after))


def _finish_job(job: Path, disk: _Disk, number: int, findings: Findings) -> None:
    """A live job outlives the full disk; one that ends while it is full is lost in words, and goes on when told to."""
    backend = LocalBackend()
    time.sleep(2.5)  # at least one heartbeat
    if backend.status(job).state is not JobState.RUNNING:
        findings.went_wrong("jobs ended by it", f"{backend.status(job)}")
    if number % 2:
        disk.free()
    try:
        (job / "go").touch()
    except OSError:  # there is no room for a name either
        disk.free()
        (job / "go").touch()

    def end() -> JobStatus | None:
        status = backend.status(job)
        return status if status.state.finished else None

    ended = until(end, 30)
    if ended.state is JobState.LOST and "disk is full" not in (ended.error or ""):
        findings.went_wrong("unclear errors", f"{ended}")
    disk.free()
    if ended.state is not JobState.COMPLETED:
        findings.count("jobs that ended while it was full")
        backend.submit(JOB, job)
        if (again := until(end, 30)).state is not JobState.COMPLETED:
            findings.went_wrong("no going on", f"{again}")


def _go_on(ws: Workspace, session_id: str, findings: Findings) -> None:
    """What was refused works when there is room."""
    for name, attempt in _attempts(ws, session_id).items():
        try:
            attempt()
        except P2PError as error:
            findings.went_wrong("no going on", f"{name}: {error}")


def _train(ws: Workspace, disk: _Disk, findings: Findings) -> None:
    """A training that meets the full disk says so, and goes on when there is room."""
    session_id = accepted_session(ws, 60_000)
    job_id = start_training(ws, session_id).job_id
    until(lambda: get_job(ws, job_id).step > 0, 120)
    disk.fill(leave=0)
    ended = _followed(ws, job_id)
    disk.free()
    if ended.state is JobState.COMPLETED or not any(word in (ended.error or "") for word in ("space", "disk")):
        findings.went_wrong("unclear errors", f"training: {ended.state}, {ended.error}")
    again = _followed(ws, start_training(ws, session_id).job_id)
    if again.state is not JobState.COMPLETED:
        findings.went_wrong("no going on", f"training: {again.error}")
    findings.count("trainings that met it")


def _followed(ws: Workspace, job_id: str) -> JobView:
    while not (view := wait_for_job(ws, job_id)).state.finished:
        pass
    return view


if __name__ == "__main__":
    print(json.dumps(asdict(_conduct(int(sys.argv[1]), Path(sys.argv[2])))))
