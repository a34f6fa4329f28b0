"""Who is at work is found out by locks, never by the clock; what was interrupted goes on when somebody wishes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.contracts.background import JobKind, JobTicket, StartTraining, TrainingRequest
from p2p.contracts.job import JobSpec, JobState, WaitsFor
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import NewSession, SessionStatus
from p2p.scheduler import supervisor
from p2p.service.jobs.waiting import in_turn
from p2p.service.machines.setup import check_setup
from p2p.service.progress.job_views import get_job
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.background import cancel_job
from p2p.service.sessions.driving import stop_session
from p2p.service.sessions.keeping import interrupted_sessions, lost_trainings
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import files, layout
from p2p.store.sessions import SessionRecord

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)
SLEEP = JobSpec(argv=("sleep", "60"))
LONG_AGO = "2020-01-01T00:00:00.000+00:00"


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    ws = Workspace(Settings(runs_dir=tmp_path))
    yield ws
    for spec in tmp_path.rglob(layout.JOB):
        ws.backend.cancel(spec.parent)


@pytest.fixture
def record(ws: Workspace) -> SessionRecord:
    return ws.record(create_session(ws, POLE).session_id)


def never_started(_ws: Workspace, _record: SessionRecord) -> None:
    pass


def alive(ws: Workspace, record: SessionRecord) -> None:
    ws.backend.submit(SLEEP, record.driver_dir)


def killed(ws: Workspace, record: SessionRecord) -> None:
    alive(ws, record)
    os.kill(json.loads((record.driver_dir / layout.HANDLE).read_bytes())["pid"], signal.SIGKILL)


def recycled(ws: Workspace, record: SessionRecord) -> None:
    """Its supervisor is gone, and its process id is that of somebody else now."""
    killed(ws, record)
    handle = json.loads((record.driver_dir / layout.HANDLE).read_bytes())
    (record.driver_dir / layout.HANDLE).write_text(json.dumps({**handle, "pid": os.getpid()}))


def unreadable(ws: Workspace, record: SessionRecord) -> None:
    killed(ws, record)
    (record.driver_dir / layout.HANDLE).write_text("{")


def left(ws: Workspace, record: SessionRecord) -> None:
    ws.backend.submit(JobSpec(argv=("true",)), record.driver_dir)


@pytest.mark.parametrize("hours", [-2, 0, 2, None])
@pytest.mark.parametrize("driver", [never_started, alive, killed, recycled, unreadable, left])
def test_a_session_is_interrupted_when_no_process_drives_it_whatever_its_clock_says(
    ws: Workspace, record: SessionRecord, driver: object, hours: int | None
) -> None:
    driver(ws, record)  # type: ignore[operator]
    record.set_status(SessionStatus.RUNNING, "kept")
    written = json.loads(record.status_path.read_bytes())
    if hours is not None:
        written["updated_at"] = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="milliseconds")
    record.status_path.write_text(json.dumps(written if hours is not None else {**written, "updated_at": LONG_AGO}))
    if driver is not alive:
        while view_session(ws, record.session_id).alive:
            pass
    wanted = SessionStatus.RUNNING if driver is alive else SessionStatus.INTERRUPTED
    for view in (view_session(ws, record.session_id), *list_sessions(ws)):
        assert (view.status, view.error) == (wanted, "kept")
    assert interrupted_sessions(ws) == (() if driver is alive else (record.session_id,))


@pytest.mark.parametrize("status", [s for s in SessionStatus if s not in (SessionStatus.RUNNING, "interrupted")])
def test_what_is_not_running_is_not_interrupted(ws: Workspace, record: SessionRecord, status: SessionStatus) -> None:
    record.set_status(status)
    assert view_session(ws, record.session_id).status is status
    assert interrupted_sessions(ws) == ()


def test_the_front_ends_tell_what_was_interrupted_and_how_it_goes_on(
    ws: Workspace, record: SessionRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = ["--runs-dir", str(ws.runs.path)]
    assert main(["resume", "--all", *runs]) == 0
    assert capsys.readouterr().out == "No session was interrupted.\n"
    record.set_status(SessionStatus.RUNNING)
    assert main(["list", *runs]) == 0
    assert "1 interrupted. To resume them: p2p resume --all" in capsys.readouterr().out
    check = next(check for check in check_setup(ws).checks if check.name == "sessions")
    assert "1 interrupted" in check.found
    assert Remedy.RESUME_ALL.of() in check.remedy
    assert main(["resume", "--all", *runs]) == 0
    assert f"Resumed {record.session_id}" in capsys.readouterr().out
    assert view_session(ws, record.session_id).status is SessionStatus.RUNNING
    assert stop_session(ws, record.session_id).status is SessionStatus.CANCELLED


def test_a_killed_job_keeps_its_turn_until_its_trainings_are_ended_or_adopted(
    ws: Workspace, record: SessionRecord
) -> None:
    iteration = record.iteration(1)
    dead, heir, other = (ws.jobs.new(f"job_{digit * 32}") for digit in "abc")
    ticket = JobTicket(
        job_id=dead.path.name, kind=JobKind.TRAINING, session_id=record.session_id, iteration=1, created_at=LONG_AGO
    )
    dead.save_ticket(ticket)
    iteration.save_training_request(TrainingRequest(job_id=ticket.job_id, start=StartTraining()))
    run = iteration.run("baseline", 10)
    begins = f"{sys.executable} -I -S {supervisor.__file__} {run.path}; sleep 600"
    files.write_model(run.path / layout.JOB, SLEEP.model_copy(update={"cores": 1}))
    ws.backend.submit(in_turn(ws, record, JobSpec(argv=("/bin/sh", "-c", begins))), dead.path)
    while not run.read_status() or ws.backend.status(run.path).state is not JobState.RUNNING:
        pass
    handle = json.loads((dead.path / layout.HANDLE).read_bytes())
    os.kill(handle["pid"], signal.SIGKILL)
    while get_job(ws, ticket.job_id).state is not JobState.LOST:
        pass
    assert [job.job_id for job in lost_trainings(ws)] == [ticket.job_id]
    assert ws.backend.status(run.path).state is JobState.RUNNING
    ws.backend.submit(in_turn(ws, record, SLEEP), heir.path)
    assert ws.backend.status(heir.path).state is JobState.RUNNING, "who adopts the trainings takes the turn too"
    ws.backend.cancel(heir.path)
    another = ws.record(create_session(ws, POLE).session_id)
    ws.backend.submit(in_turn(ws, another, SLEEP), other.path)
    status = ws.backend.status(other.path)
    assert (status.state, status.lacks) == (JobState.QUEUED, WaitsFor.TURN)
    cancel_job(ws, ticket.job_id)
    assert ws.backend.status(run.path).state is JobState.CANCELLED
    while ws.backend.status(other.path).state is not JobState.RUNNING:
        pass


def test_nobody_is_killed_whose_process_id_was_ours(ws: Workspace, record: SessionRecord) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        recycled(ws, record)
        handle = json.loads((record.driver_dir / layout.HANDLE).read_bytes())
        (record.driver_dir / layout.HANDLE).write_text(json.dumps({**handle, "pid": bystander.pid}))
        assert ws.backend.cancel(record.driver_dir).state is JobState.CANCELLED
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_cancellation_that_meets_a_start_still_ends_the_job(ws: Workspace, record: SessionRecord) -> None:
    for number in range(5):
        directory = record.path / f"job{number}"
        ws.backend.submit(SLEEP, directory)
        assert ws.backend.cancel(directory).state is JobState.CANCELLED
        status = directory / layout.STATUS
        assert json.loads(status.read_bytes())["state"] == "cancelled"
