import shutil
import time
from pathlib import Path

import pytest
from finished_iterations import FinishedJobs, summary
from shared_sessions import passed_session

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, StorageProblem, TrainingFailed
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.service import steps
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.judging.closing import close
from p2p.service.progress.listing import find_session, list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import resume_session, set_priority, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.iteration import train
from p2p.service.workspace import Workspace
from p2p.session import run_session
from p2p.settings import Settings
from p2p.store import files

PENDULUM = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
SUMMARY = summary(1000, 0.5).model_copy(update={"warnings": ("the return rose and the score did not",)})


@pytest.fixture
def session_id(ws: Workspace) -> str:
    return create_session(ws, PENDULUM).session_id


def _drive(ws: Workspace, session_id: str) -> int:
    return run_session.main(["--session-id", session_id, "--runs-dir", str(ws.runs.path)])


def test_a_session_is_not_overwritten_by_another_of_its_id(ws: Workspace, session_id: str) -> None:
    with pytest.raises(InvalidInput, match=f"There is a {session_id} already"):
        create_session(ws, PENDULUM.model_copy(update={"seed": 2}), session_id=session_id)
    assert view_session(ws, session_id).session.seed == 1


def test_a_limit_that_no_session_may_have_is_refused_and_not_kept(ws: Workspace, session_id: str) -> None:
    with pytest.raises(InvalidInput, match="got 0"):
        resume_session(ws, session_id, max_iterations=0)
    assert view_session(ws, session_id).session.max_iterations == PENDULUM.max_iterations


def test_the_latest_session_is_the_one_created_last_whatever_it_is_called(ws: Workspace) -> None:
    create_session(ws, PENDULUM, session_id="zebra")
    create_session(ws, PENDULUM, session_id="ant")
    assert find_session(ws, "latest") == "ant"


def test_a_stopped_session_says_so_in_its_history_too(ws: Workspace, session_id: str) -> None:
    assert stop_session(ws, session_id).status is SessionStatus.CANCELLED
    history = ws.record(session_id).read_history()
    assert history is not None
    assert history.status is SessionStatus.CANCELLED


def test_a_driver_that_cannot_write_down_the_end_leaves_with_4(
    ws: Workspace, session_id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise StorageProblem("the disk is full")

    monkeypatch.setattr(steps, "write_reward", full)
    monkeypatch.setattr("p2p.session.run_session.close", full)
    assert _drive(ws, session_id) == 4
    assert capsys.readouterr().err.splitlines()[-1] == "the disk is full"


def test_an_error_does_not_hide_that_the_session_was_stopped(
    ws: Workspace, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        ws.record(session_id).set_status(SessionStatus.CANCELLED)
        raise TrainingFailed("all runs were cancelled")

    monkeypatch.setattr(steps, "write_reward", stopped)
    assert _drive(ws, session_id) == 3
    assert view_session(ws, session_id).status is SessionStatus.CANCELLED


def test_a_training_announces_what_looks_wrong_and_which_run_was_lost(ws: Workspace, session_id: str) -> None:
    ws.backend = ws.training_backend = FinishedJobs()
    record = ws.record(session_id)
    iteration = record.iteration(1)
    iteration.save_draft(RewardDraft(source="", reasoning=""))
    good, lost = (iteration.run("baseline", seed) for seed in record.read_session().seeds)
    good.save_summary(SUMMARY)
    good.set_status(JobState.COMPLETED)
    lost.set_status(JobState.RUNNING)
    assert [run.state for run in view_session(ws, session_id).runs] == ["completed", "lost"]
    results = train(ws, session_id, 1).configs["baseline"].per_seed
    assert [result.error for result in results] == [None, "ended as lost without a summary"]
    (warning,) = (event for event in record.events.read() if event.event is EventName.GUARDRAIL)
    assert warning.data == {"run_id": good.iteration_id, "message": SUMMARY.warnings[0]}


def test_a_training_that_this_machine_cannot_do_is_a_problem_of_the_machine(ws: Workspace, session_id: str) -> None:
    ws.backend = ws.training_backend = FinishedJobs()
    record = ws.record(session_id)
    iteration = record.iteration(1)
    iteration.save_draft(RewardDraft(source="", reasoning=""))
    for seed in record.read_session().seeds:
        status = JobStatus(state=JobState.FAILED, error="Cannot write x: no space left.", exit_code=4)
        files.write_model(iteration.run("baseline", seed).status_path, status)
    with pytest.raises(EnvironmentProblem, match="baseline_seed_10: Cannot write x"):
        train(ws, session_id, 1)


@pytest.mark.parametrize("outcome", [SessionStatus.CANCELLED, SessionStatus.MAX_ITERATIONS])
def test_a_stopped_session_gives_the_machine_back_and_is_not_filmed(
    ws: Workspace, session_id: str, outcome: SessionStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = FinishedJobs()
    ws.backend = backend
    submitted: list[JobSpec] = []
    monkeypatch.setattr(backend, "submit", lambda spec, _: submitted.append(spec))
    ws.record(session_id).iteration(1).run("baseline", 10).save_summary(SUMMARY)
    if outcome is SessionStatus.CANCELLED:
        stop_session(ws, session_id)
        assert submitted == []
    else:
        close(ws, session_id, outcome)
        (film,) = submitted
        assert "film" in film.argv
        assert film.niceness == 19, "it gives way to trainings"


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("films")
def test_the_job_of_an_ended_session_films_all_its_checkpoints(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    ws = Workspace(Settings(runs_dir=shutil.copytree(passed_session(tmp_path_factory), tmp_path / "runs")))
    (listed,) = list_sessions(ws)
    record = ws.record(listed.session.session_id)
    (run,) = record.iteration(1).runs()
    for more in run.checkpoints()[2:]:
        shutil.rmtree(more.path)
    at_once = worker_job("film").model_copy(update={"niceness": 0})  # beside other tests it would wait for them all
    ws.background.submit(at_once, record.film_dir)
    while not (job := ws.background.status(record.film_dir)).state.finished:
        time.sleep(0.1)
    assert job.state is JobState.COMPLETED, job.error
    checkpoints = {checkpoint.path.name for checkpoint in run.checkpoints()}
    assert len(checkpoints) == 2
    assert {name.split("_")[1] for name in run.video_filenames()} == checkpoints


def test_a_training_of_normal_priority_gives_way_to_nobody_and_resume_may_say_so(
    ws: Workspace, session_id: str
) -> None:
    assert (worker_job("train").niceness, worker_job("train", priority="normal").niceness) == (10, 0)
    assert worker_job("film", priority="normal").niceness == 19
    assert view_session(ws, session_id).session.priority == "low"
    set_priority(ws, session_id, "normal")
    set_priority(ws, session_id, None)
    assert view_session(ws, session_id).session.priority == "normal"
    backend = FinishedJobs()
    submitted: list[JobSpec] = []
    submit = backend.submit
    backend.submit = lambda spec, directory: submitted.append(spec) or submit(spec, directory)  # type: ignore
    ws.backend = ws.training_backend = backend
    ws.record(session_id).iteration(1).save_draft(RewardDraft(source="", reasoning=""))
    with pytest.raises(TrainingFailed):
        train(ws, session_id, 1)  # nothing is trained by this backend
    assert {spec.niceness for spec in submitted} == {0}
