"""Every row of the table of deaths, made with real processes that are really killed."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.cli.follow import follow
from p2p.cli.output import Output
from p2p.contracts.background import JobKind, JobTicket, StartTraining, TrainingRequest
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.job import JobSpec
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.service.progress.details import why_it_stopped
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions import driving
from p2p.service.sessions.deaths import DEATHS, Death
from p2p.service.sessions.driving import resume_session, start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout
from p2p.store.sessions import SessionRecord

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)
SLEEP = JobSpec(argv=("sleep", "600"))
SILENT = ("{python}", "-c", "import time; time.sleep(600)")
"""A driver that never comes to its first word."""


@pytest.fixture(autouse=True)
def _silent_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "DRIVER", SILENT)


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    ws = Workspace(Settings(runs_dir=tmp_path))
    yield ws
    for job in tmp_path.rglob(layout.JOB):
        ws.backend.cancel(job.parent)


@pytest.fixture
def record(ws: Workspace) -> SessionRecord:
    return ws.record(create_session(ws, POLE).session_id)


def kill(directory: Path, who: str) -> None:
    handle = json.loads((directory / layout.HANDLE).read_bytes())
    os.kill(handle["pid" if who == "supervisor" else "child"], signal.SIGKILL)


def killed(ws: Workspace, directory: Path, who: str) -> None:
    kill(directory, who)
    while not ws.backend.status(directory).state.finished:
        pass


def begun(ws: Workspace, record: SessionRecord) -> None:
    """A driver that has written what a driver writes first."""
    start_session(ws, record.session_id)
    record.events.emit_once(EventName.SESSION_STARTED, None)
    record.set_status(SessionStatus.RUNNING)


def draft(record: SessionRecord) -> None:
    record.iteration(1).save_draft(RewardDraft(source="pass"))


def trains(ws: Workspace, record: SessionRecord) -> Path:
    draft(record)
    record.iteration(1).save_reward_report(RewardReport(spec=None))
    run = record.iteration(1).run("baseline", 10)
    ws.backend.submit(SLEEP, run.path)
    return run.path


def terminal_before(ws: Workspace, record: SessionRecord, _who: str) -> None:
    """Nothing was started."""


def terminal_after(ws: Workspace, record: SessionRecord, _who: str) -> None:
    start_session(ws, record.session_id)


def before_its_first_word(ws: Workspace, record: SessionRecord, who: str) -> None:
    """Each of its two chances."""
    start_session(ws, record.session_id)
    record.iteration(1).path.mkdir()  # as far as the finding's driver had come
    killed(ws, record.driver_dir, who)


def while_a_reward_is_written(ws: Workspace, record: SessionRecord, who: str) -> None:
    begun(ws, record)
    draft(record)
    killed(ws, record.driver_dir, who)


def while_runs_train(ws: Workspace, record: SessionRecord, who: str) -> None:
    begun(ws, record)
    run = trains(ws, record)
    killed(ws, record.driver_dir, who)
    assert not ws.backend.status(run).state.finished, "its runs go on"


def filmed(ws: Workspace, record: SessionRecord, _who: str) -> None:
    begun(ws, record)
    ws.backend.submit(SLEEP, record.film_dir)
    record.set_status(SessionStatus.PASSED)
    killed(ws, record.driver_dir, "driver")


def worker_trains(ws: Workspace, record: SessionRecord, _who: str) -> None:
    begun(ws, record)
    killed(ws, trains(ws, record), "worker")


def worker_films(ws: Workspace, record: SessionRecord, _who: str) -> None:
    filmed(ws, record, "")
    killed(ws, record.film_dir, "worker")


def caller_leaves(ws: Workspace, record: SessionRecord, _who: str) -> None:
    trains(ws, record)
    ws.backend.cancel(record.iteration(1).run("baseline", 10).path)


def caller_trains(ws: Workspace, record: SessionRecord, _who: str) -> None:
    run, job = trains(ws, record), f"job_{'a' * 32}"
    ticket = JobTicket(
        job_id=job,
        kind=JobKind.TRAINING,
        session_id=record.session_id,
        iteration=1,
        created_at="2026-01-01T00:00:00.000+00:00",
    )
    ws.jobs.new(job).save_ticket(ticket)
    record.iteration(1).save_training_request(TrainingRequest(job_id=job, start=StartTraining()))
    ws.backend.submit(SLEEP, ws.jobs.new(job).path)
    assert view_session(ws, record.session_id).status is SessionStatus.RUNNING
    killed(ws, ws.jobs.new(job).path, "driver")
    assert not ws.backend.status(run).state.finished, "its runs go on"


SCENES: dict[str, Callable[[Workspace, SessionRecord, str], None]] = {
    "before the driver was started": terminal_before,
    "after the driver was started": terminal_after,
    "before it wrote anything; a terminal starts it again": before_its_first_word,
    "before the driver wrote anything; the same": before_its_first_word,
    "while a reward is written or checked": while_a_reward_is_written,
    "while runs train, which go on": while_runs_train,
    "after the session's end, while it is filmed": filmed,
    "while it trains; the driver starts it again, twice": worker_trains,
    "while it films after the session's end": worker_films,
    "of a tool, between two steps": caller_leaves,
    "while it trains for its caller": caller_trains,
}


@pytest.mark.parametrize("death", DEATHS, ids=lambda death: f"{death.who}, {death.when}")
def test_what_a_session_says_when_one_of_its_processes_was_killed(
    ws: Workspace, record: SessionRecord, death: Death, monkeypatch: pytest.MonkeyPatch
) -> None:
    SCENES[death.when](ws, record, death.who)
    if "wrote anything" in death.when:  # whoever follows it starts it a second time, and that one is killed too
        monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import os; os.kill(os.getpid(), 9)"))
    view = view_session(ws, record.session_id)
    assert view.status is death.status
    assert list_sessions(ws)[0].status is death.status
    if death.exit_code is None:
        assert view.alive
    else:
        assert main(["watch", record.session_id, "--runs-dir", str(ws.runs.path)]) == death.exit_code
        assert view_session(ws, record.session_id).status is death.status
    if death.resume.startswith("refuses"):
        with pytest.raises(InvalidInput, match="has ended as passed"):
            resume_session(ws, record.session_id)
        return
    monkeypatch.setattr(driving, "DRIVER", SILENT)
    runs = [run.path for iteration in record.iteration_records() for run in iteration.runs()]
    before = [ws.backend.status(run) for run in runs]
    assert resume_session(ws, record.session_id).status is SessionStatus.RUNNING
    assert view_session(ws, record.session_id).alive
    for run, status in zip(runs, before, strict=True):
        assert ws.backend.status(run).started_at == status.started_at, "nothing is trained twice"


def test_a_start_that_died_before_its_first_word_is_repeated_once(
    ws: Workspace, record: SessionRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = tmp_path / "starts"
    dies = f"import os; open({str(starts)!r}, 'a').write('x'); os.kill(os.getpid(), 9)"
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", dies))
    start_session(ws, record.session_id)
    with pytest.raises(P2PError) as lost:
        follow(ws, record.session_id, Output(as_json=True))
    assert lost.value.exit_code == 4
    assert Remedy.RESUME.of(session=record.session_id) in str(lost.value)
    assert starts.read_text() == "xx"


def test_a_reward_handed_in_at_a_terminal_never_waits_for_a_caller(ws: Workspace) -> None:
    """Between the session and its driver a terminal may die."""
    name = create_session(ws, POLE.model_copy(update={"author": "given"}), reward="x = 1\n").session_id
    assert not view_session(ws, name).by_caller
    assert main(["watch", name, "--runs-dir", str(ws.runs.path)]) == 2


def test_a_driver_that_fails_without_a_word_is_told_of_in_whole_sentences(
    ws: Workspace, record: SessionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "raise SystemExit(3)"))
    start_session(ws, record.session_id)
    while not ws.backend.status(record.driver_dir).state.finished:
        pass
    message = str(why_it_stopped(ws, record.session_id))
    assert "ended before its session did: It ended without a word in its log. Its log is in" in message
