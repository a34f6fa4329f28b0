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
from p2p.contracts.events import EventName
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service import Service
from p2p.service.sessions import driving
from p2p.service.sessions.deaths import DEATHS, Death
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
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(Settings(runs_dir=tmp_path))
    yield service
    for job in tmp_path.rglob(layout.JOB):
        service.backend.cancel(job.parent)


@pytest.fixture
def record(service: Service) -> SessionRecord:
    return service.record(service.create_session(POLE).session_id)


def kill(directory: Path, who: str) -> None:
    handle = json.loads((directory / layout.HANDLE).read_bytes())
    os.kill(handle["pid" if who == "supervisor" else "child"], signal.SIGKILL)


def killed(service: Service, directory: Path, who: str) -> None:
    kill(directory, who)
    while not service.backend.status(directory).state.finished:
        pass


def begun(service: Service, record: SessionRecord) -> None:
    """A driver that has written what a driver writes first."""
    service.start_session(record.session_id)
    record.events.emit_once(EventName.SESSION_STARTED, None)
    record.set_status(SessionStatus.RUNNING)


def draft(record: SessionRecord) -> None:
    record.iteration(1).save_draft(RewardDraft(source="pass"))


def trains(service: Service, record: SessionRecord) -> Path:
    draft(record)
    record.iteration(1).save_reward_report(RewardReport(spec=None))
    run = record.iteration(1).run("baseline", 10)
    service.backend.submit(SLEEP, run.path)
    return run.path


def terminal_before(service: Service, record: SessionRecord, _who: str) -> None:
    """Nothing was started."""


def terminal_after(service: Service, record: SessionRecord, _who: str) -> None:
    service.start_session(record.session_id)


def before_its_first_word(service: Service, record: SessionRecord, who: str) -> None:
    """Each of its two chances."""
    service.start_session(record.session_id)
    record.iteration(1).path.mkdir()  # as far as the finding's driver had come
    killed(service, record.driver_dir, who)


def while_a_reward_is_written(service: Service, record: SessionRecord, who: str) -> None:
    begun(service, record)
    draft(record)
    killed(service, record.driver_dir, who)


def while_runs_train(service: Service, record: SessionRecord, who: str) -> None:
    begun(service, record)
    run = trains(service, record)
    killed(service, record.driver_dir, who)
    assert not service.backend.status(run).state.finished, "its runs go on"


def filmed(service: Service, record: SessionRecord, _who: str) -> None:
    begun(service, record)
    service.backend.submit(SLEEP, record.film_dir)
    record.set_status(SessionStatus.PASSED)
    killed(service, record.driver_dir, "driver")


def worker_trains(service: Service, record: SessionRecord, _who: str) -> None:
    begun(service, record)
    killed(service, trains(service, record), "worker")


def worker_films(service: Service, record: SessionRecord, _who: str) -> None:
    filmed(service, record, "")
    killed(service, record.film_dir, "worker")


def caller_leaves(service: Service, record: SessionRecord, _who: str) -> None:
    trains(service, record)
    service.backend.cancel(record.iteration(1).run("baseline", 10).path)


def caller_trains(service: Service, record: SessionRecord, _who: str) -> None:
    run, job = trains(service, record), f"job_{'a' * 32}"
    ticket = JobTicket(
        job_id=job,
        kind=JobKind.TRAINING,
        session_id=record.session_id,
        iteration=1,
        created_at="2026-01-01T00:00:00.000+00:00",
    )
    service.jobs.new(job).save_ticket(ticket)
    record.iteration(1).save_training_request(TrainingRequest(job_id=job, start=StartTraining()))
    service.backend.submit(SLEEP, service.jobs.new(job).path)
    assert service.view_session(record.session_id).status is SessionStatus.RUNNING
    killed(service, service.jobs.new(job).path, "driver")
    assert not service.backend.status(run).state.finished, "its runs go on"


SCENES: dict[str, Callable[[Service, SessionRecord, str], None]] = {
    "before the driver was started": terminal_before,
    "after the driver was started": terminal_after,
    "before its first word; a terminal starts it once more": before_its_first_word,
    "before the driver's first word; the same": before_its_first_word,
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
    service: Service, record: SessionRecord, death: Death, monkeypatch: pytest.MonkeyPatch
) -> None:
    SCENES[death.when](service, record, death.who)
    if "first word" in death.when:  # whoever follows it starts it a second time, and that one is killed too
        monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import os; os.kill(os.getpid(), 9)"))
    view = service.view_session(record.session_id)
    assert view.status is death.status
    assert service.list_sessions()[0].status is death.status
    if death.exit_code is None:
        assert view.alive
    else:
        assert main(["watch", record.session_id, "--runs-dir", str(service.runs.path)]) == death.exit_code
        assert service.view_session(record.session_id).status is death.status
    if death.resume.startswith("refuses"):
        with pytest.raises(InvalidInput, match="has ended as passed"):
            service.resume_session(record.session_id)
        return
    monkeypatch.setattr(driving, "DRIVER", SILENT)
    runs = [run.path for iteration in record.iteration_records() for run in iteration.runs()]
    before = [service.backend.status(run) for run in runs]
    assert service.resume_session(record.session_id).status is SessionStatus.RUNNING
    assert service.view_session(record.session_id).alive
    for run, status in zip(runs, before, strict=True):
        assert service.backend.status(run).started_at == status.started_at, "nothing is trained twice"


def test_a_start_that_died_before_its_first_word_is_repeated_once(
    service: Service, record: SessionRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = tmp_path / "starts"
    dies = f"import os; open({str(starts)!r}, 'a').write('x'); os.kill(os.getpid(), 9)"
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", dies))
    service.start_session(record.session_id)
    with pytest.raises(P2PError) as lost:
        follow(service, record.session_id, Output(as_json=True))
    assert lost.value.exit_code == 4
    assert f"p2p resume {record.session_id}" in str(lost.value)
    assert starts.read_text() == "xx"


def test_a_reward_handed_in_at_a_terminal_never_waits_for_a_caller(service: Service) -> None:
    """Between the session and its driver a terminal may die."""
    name = service.create_session(POLE.model_copy(update={"author": "given"}), reward="x = 1\n").session_id
    assert not service.view_session(name).by_caller
    assert main(["watch", name, "--runs-dir", str(service.runs.path)]) == 2
