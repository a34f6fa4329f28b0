"""Background jobs that wait: the test holds the only slot, so that none of them begins to train."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from turns import hold_turn

from p2p.cli import main
from p2p.contracts.background import JobKind, JobTicket, JobView, StartTraining
from p2p.contracts.errors import InvalidConfig, InvalidInput, P2PError, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service.progress.job_views import find_job, get_job, job_log, list_jobs, wait_for_job
from p2p.service.progress.session_view import view_session
from p2p.service.sessions import background
from p2p.service.sessions.background import cancel_job, start_loop, start_training
from p2p.service.sessions.driving import resume_session, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1, n_report_rollouts=10)
START = (
    "import sys; from pathlib import Path; from p2p.service.workspace import Workspace;"
    "from p2p.service.sessions.background import start_training; from p2p.settings import Settings;"
    "from p2p.contracts.background import StartTraining;"
    "ws = Workspace(Settings(runs_dir=Path(sys.argv[1])));"
    "print(start_training(ws, sys.argv[2], StartTraining(idempotency_key=sys.argv[3])).job_id)"
)


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    ws = Workspace(Settings(runs_dir=tmp_path))
    slot = hold_turn(ws)
    yield ws
    for job in list_jobs(ws):
        cancel_job(ws, job.job_id)
    os.close(slot)


@pytest.fixture
def session_id(ws: Workspace) -> str:
    """A session whose first reward is accepted."""
    return accepted(ws)


def accepted(ws: Workspace) -> str:
    name = create_session(ws, POLE).session_id
    iteration = ws.record(name).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    return name


def killed(ws: Workspace, job: JobView, whom: str = "pid") -> JobView:
    """The job after the kill of its supervisor, or of its process ("child"), which it has when its turn has come."""
    handle = ws.jobs.new(job.job_id).path / layout.HANDLE
    while whom not in (value := json.loads(handle.read_bytes())):
        time.sleep(0.02)
    os.kill(value[whom], signal.SIGKILL)
    return wait_for_job(ws, job.job_id, 20)


def test_a_start_returns_at_once_with_its_place_in_the_queue(ws: Workspace, session_id: str) -> None:
    job = start_training(ws, session_id, StartTraining(seeds=(3, 4), total_timesteps=5000))
    assert (job.kind, job.state, job.queue_position) == (JobKind.TRAINING, JobState.WAITING, 1)
    assert (job.iteration, job.step, job.total) == (1, 0, 10_000)
    assert get_job(Workspace(ws.settings), job.job_id).state is JobState.WAITING


def test_jobs_wait_in_the_order_they_came_and_close_ranks(ws: Workspace, session_id: str) -> None:
    jobs = [start_training(ws, name).job_id for name in (session_id, accepted(ws), accepted(ws))]
    assert [get_job(ws, job).queue_position for job in jobs] == [1, 2, 3]
    assert cancel_job(ws, jobs[1]).state is JobState.CANCELLED
    assert [get_job(ws, job).queue_position for job in jobs] == [1, None, 2]
    assert [view.job_id for view in list_jobs(ws)] == jobs[::-1]
    assert [view.job_id for view in list_jobs(ws, session_id)] == jobs[:1]


@pytest.mark.parametrize("whom", ["pid", "child"], ids=["its supervisor", "its process"])
def test_one_that_is_killed_in_its_turn_is_lost_and_the_next_one_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whom: str
) -> None:
    monkeypatch.setattr(background, "TRAINING", ("{python}", "-c", "import time; time.sleep(600)"))
    ws = Workspace(Settings(runs_dir=tmp_path))
    first, second = (start_training(ws, accepted(ws)) for _ in range(2))
    assert (first.state, second.state) == (JobState.RUNNING, JobState.WAITING)
    lost = killed(ws, first, whom)
    assert lost.state is JobState.LOST
    assert lost.error is not None
    assert "Start it again" in lost.error
    while get_job(ws, second.job_id).state is not JobState.RUNNING:
        time.sleep(0.02)
    cancel_job(ws, second.job_id)


def test_one_that_is_killed_while_it_waits_is_lost_and_holds_up_nobody(ws: Workspace, session_id: str) -> None:
    first, second = (start_training(ws, name) for name in (session_id, accepted(ws)))
    lost = killed(ws, first)
    assert lost.state is JobState.LOST
    assert lost.error is not None
    assert "Start it again" in lost.error
    assert get_job(ws, second.job_id).queue_position == 1
    again = start_training(ws, session_id)
    assert (again.job_id != first.job_id, again.queue_position) == (True, 2)
    assert get_job(ws, first.job_id).state is JobState.LOST


def test_a_ticket_without_a_process_waits_as_long_as_somebody_starts_jobs_and_no_longer(
    ws: Workspace, session_id: str
) -> None:
    """Whatever the clock says: its caller holds a lock, which the kernel opens when it dies."""
    job_id, seen = f"job_{'c' * 32}", list[JobState]()
    for created_at in ("2020-01-01T00:00:00.000+00:00", "2099-01-01T00:00:00.000+00:00"):
        ticket = JobTicket(
            job_id=job_id, kind=JobKind.TRAINING, session_id=session_id, iteration=1, created_at=created_at
        )
        ws.jobs.new(job_id).save_ticket(ticket)
        with ws.jobs.starting():
            assert get_job(ws, job_id).state is JobState.LOST, "who holds the lock knows that nobody else does"
            other = threading.Thread(target=lambda: seen.append(get_job(ws, job_id).state))
            other.start()
            other.join()
        assert get_job(ws, job_id).state is JobState.LOST
    assert seen == [JobState.WAITING] * 2


def test_a_start_that_says_nothing_goes_on_with_what_a_lost_job_was_asked_for(ws: Workspace, session_id: str) -> None:
    asked = StartTraining(seeds=(3, 4), total_timesteps=5000, idempotency_key="first")
    killed(ws, start_training(ws, session_id, asked))
    again = start_training(ws, session_id)
    assert again.total == 10_000
    cancel_job(ws, again.job_id)
    assert start_training(ws, session_id).total != 10_000


def test_a_job_whose_caller_died_before_it_had_a_process_is_lost_in_the_end(ws: Workspace, session_id: str) -> None:
    ticket = JobTicket(
        job_id="job_" + "a" * 32,
        kind=JobKind.TRAINING,
        session_id=session_id,
        iteration=1,
        created_at="2026-01-01T00:00:00.000+00:00",
    )
    ws.jobs.new(ticket.job_id).save_ticket(ticket)
    lost = get_job(ws, ticket.job_id)
    assert lost.state is JobState.LOST
    assert lost.error is not None
    assert "died before" in lost.error
    assert job_log(ws, ticket.job_id) == ("", 0)
    assert start_training(ws, session_id).queue_position == 1


def test_the_same_key_is_one_job_for_two_processes_and_a_later_one(ws: Workspace, session_id: str) -> None:
    command = [sys.executable, "-c", START, str(ws.runs.path), session_id, "once"]
    callers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    job_ids = {caller.communicate(timeout=60)[0].strip() for caller in callers}
    assert len(job_ids) == 1
    again = start_training(Workspace(ws.settings), session_id, StartTraining(idempotency_key="once"))
    assert {again.job_id} == job_ids
    assert len(list_jobs(ws)) == 1


def test_a_key_is_bound_to_its_request_and_its_session(ws: Workspace, session_id: str) -> None:
    job = start_training(ws, session_id, StartTraining(idempotency_key="k", seeds=(3,)))
    with pytest.raises(InvalidInput, match=f"has started {job.job_id} with another request"):
        start_training(ws, session_id, StartTraining(idempotency_key="k", seeds=(4,)))
    other = start_training(ws, accepted(ws), StartTraining(idempotency_key="k", seeds=(3,)))
    assert other.job_id != job.job_id


def test_a_key_stays_bound_when_its_ticket_is_of_an_earlier_version_and_holds_the_request(
    ws: Workspace, session_id: str
) -> None:
    asked = StartTraining(idempotency_key="k", seeds=(3,))
    job = start_training(ws, session_id, asked)
    ticket = ws.jobs.new(job.job_id).path / layout.TICKET
    value = json.loads(ticket.read_bytes())
    del value["asked"]
    ticket.write_text(json.dumps(value | {"start": asked.model_dump(mode="json")}))
    assert start_training(ws, session_id, asked).job_id == job.job_id
    with pytest.raises(InvalidInput, match="with another request"):
        start_training(ws, session_id, StartTraining(idempotency_key="k", seeds=(4,)))


def test_the_configurations_of_a_training_are_handed_on_with_its_request(ws: Workspace, session_id: str) -> None:
    start_training(ws, session_id, StartTraining(seeds=(3, 4), total_timesteps=5000))
    request = ws.record(session_id).iteration(1).read_training_request()
    assert request is not None
    assert request.configs is not None
    assert {name: config.seed for name, config in request.configs.items()} == {
        "baseline_seed_3": 3,
        "baseline_seed_4": 4,
    }
    assert {config.total_timesteps for config in request.configs.values()} == {5000}


def test_of_two_callers_without_a_key_one_is_told_of_the_other(ws: Workspace, session_id: str) -> None:
    def start(_: int) -> str:
        try:
            return start_training(ws, session_id).job_id
        except InvalidInput as error:
            return str(error)

    with ThreadPoolExecutor(3) as pool:
        said = sorted(pool.map(start, range(3)), key=len)
    (job,) = list_jobs(ws)
    assert said[0] == job.job_id
    assert said[1] == said[2] == f"Iteration 1 of {session_id} is being trained already, by {job.job_id}."


def test_a_session_waits_for_its_caller_between_two_jobs(
    ws: Workspace, session_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = view_session(ws, session_id)
    assert (before.status, before.alive, before.by_caller, before.step) == (SessionStatus.PENDING, False, True, "train")
    job = start_training(ws, session_id)
    during = view_session(ws, session_id)
    assert (during.status, during.alive, during.by_caller) == (SessionStatus.WAITING, True, True)
    with pytest.raises(InvalidInput, match=f"is being trained .* {Remedy.CANCEL_JOB.of(job=job.job_id)}"):
        resume_session(ws, session_id)
    cancel_job(ws, job.job_id)
    after = view_session(ws, session_id)
    assert (after.status, after.alive, after.by_caller) == (SessionStatus.PENDING, False, True)
    assert main(["watch", session_id, "--runs-dir", str(ws.runs.path)]) == 0
    assert f"waiting for the caller to train it. To let p2p continue: p2p resume {session_id}" in " ".join(
        capsys.readouterr().out.split()
    )


def test_stopping_a_session_ends_the_job_that_trains_it_and_another_may_follow(ws: Workspace, session_id: str) -> None:
    job = start_training(ws, session_id)
    assert stop_session(ws, session_id).status is SessionStatus.CANCELLED
    assert get_job(ws, job.job_id).state is JobState.CANCELLED
    again = start_training(ws, session_id)
    assert (again.state, again.queue_position) == (JobState.WAITING, 1)
    assert view_session(ws, session_id).status is SessionStatus.WAITING
    assert get_job(ws, job.job_id).state is JobState.CANCELLED


def test_a_loop_waits_for_its_turn_too_and_each_start_of_it_is_a_job_of_its_own(ws: Workspace, session_id: str) -> None:
    first = start_training(ws, accepted(ws))
    loop = start_loop(ws, session_id, "go")
    assert (loop.kind, loop.state, loop.queue_position) == (JobKind.SESSION, JobState.WAITING, 2)
    assert start_loop(ws, session_id).job_id == loop.job_id
    assert start_loop(ws, session_id, "other").job_id == loop.job_id
    with pytest.raises(InvalidInput, match="is driven by another process"):
        start_training(ws, session_id)
    assert cancel_job(ws, loop.job_id).state is JobState.CANCELLED
    assert view_session(ws, session_id).status is SessionStatus.CANCELLED
    again = start_loop(ws, session_id)
    assert again.job_id != loop.job_id
    assert (again.state, again.queue_position) == (JobState.WAITING, 2)
    assert get_job(ws, loop.job_id).state is JobState.CANCELLED
    assert start_loop(ws, session_id, "go").job_id == loop.job_id
    with pytest.raises(InvalidInput, match="is driven by"):
        start_training(ws, session_id)
    cancel_job(ws, first.job_id)
    assert get_job(ws, again.job_id).queue_position == 1


def test_a_loop_of_a_session_that_is_being_trained_is_refused(ws: Workspace, session_id: str) -> None:
    job = start_training(ws, session_id)
    with pytest.raises(InvalidInput, match=job.job_id):
        start_loop(ws, session_id)
    assert len(list_jobs(ws)) == 1


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        (StartTraining(backend="cloud"), UnknownName, "backend 'cloud'"),
        (StartTraining(seeds=(1, 1000)), InvalidConfig, r"0 … 999, got 1000"),
        (StartTraining(seeds=(1, 1)), InvalidConfig, "trained once, got 1, 1"),
        (StartTraining(configs={"odd": {"gama": 0.5}}), InvalidConfig, "gama"),
        (StartTraining(configs={"../../evil": {}}), InvalidConfig, r"got '\.\./\.\./evil'"),
        (StartTraining(configs={"a/b": {}}), InvalidConfig, "lower-case letters"),
    ],
)
def test_what_cannot_be_trained_is_refused_and_leaves_nothing(
    ws: Workspace, session_id: str, request_: StartTraining, error: type[P2PError], message: str
) -> None:
    with pytest.raises(error, match=message):
        start_training(ws, session_id, request_)
    assert list_jobs(ws) == ()
    assert ws.record(session_id).iteration(1).read_training_request() is None


def test_a_job_is_found_by_the_beginning_or_the_end_of_its_id(ws: Workspace, session_id: str) -> None:
    job_id = start_training(ws, session_id).job_id
    assert {find_job(ws, text) for text in ("latest", job_id, job_id[:12], job_id[-8:])} == {job_id}
    for text in ("", "zzz", "../" + job_id):
        with pytest.raises(UnknownName, match=job_id):
            find_job(ws, text)
    for hostile in ("queue", "..", f"{job_id}/../{job_id}", job_id.upper()):
        with pytest.raises(UnknownName):
            get_job(ws, hostile)


def test_p2p_jobs_lists_shows_and_cancels(ws: Workspace, session_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    job_id = start_training(ws, session_id).job_id
    place = ["--runs-dir", str(ws.runs.path)]
    assert main(["jobs", *place]) == 0
    assert job_id in capsys.readouterr().out
    assert main(["jobs", "latest", "--cancel", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "cancelled"
    assert main(["jobs", job_id[-8:], *place]) == 0
    shown = capsys.readouterr().out
    assert "cancelled" in shown
