import sys
from pathlib import Path

import pytest

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, StorageProblem, TrainingFailed
from p2p.contracts.events import EventName
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service import Service
from p2p.service.training.jobs import worker_job
from p2p.session import run_session
from p2p.settings import Settings
from p2p.store import files

sys.path.append(str(Path(__file__).parents[1] / "session"))
from finished_iterations import FinishedJobs, summary

PENDULUM = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
SUMMARY = summary(1000, 0.5).model_copy(update={"warnings": ("the return rose and the score did not",)})


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(Settings(runs_dir=tmp_path))


@pytest.fixture
def session_id(service: Service) -> str:
    return service.create_session(PENDULUM).session_id


def _drive(service: Service, session_id: str) -> int:
    return run_session.main(["--session-id", session_id, "--runs-dir", str(service.runs.path)])


def test_a_session_is_not_overwritten_by_another_of_its_id(service: Service, session_id: str) -> None:
    with pytest.raises(InvalidInput, match=f"There is a {session_id} already"):
        service.create_session(PENDULUM.model_copy(update={"seed": 2}), session_id=session_id)
    assert service.view_session(session_id).session.seed == 1


def test_a_limit_that_no_session_may_have_is_refused_and_not_kept(service: Service, session_id: str) -> None:
    with pytest.raises(InvalidInput, match="got 0"):
        service.resume_session(session_id, max_iterations=0)
    assert service.view_session(session_id).session.max_iterations == PENDULUM.max_iterations


def test_the_latest_session_is_the_one_created_last_whatever_it_is_called(service: Service) -> None:
    service.create_session(PENDULUM, session_id="zebra")
    service.create_session(PENDULUM, session_id="ant")
    assert service.find_session("latest") == "ant"


def test_a_stopped_session_says_so_in_its_history_too(service: Service, session_id: str) -> None:
    assert service.stop_session(session_id).status is SessionStatus.CANCELLED
    history = service.record(session_id).read_history()
    assert history is not None
    assert history.status is SessionStatus.CANCELLED


def test_a_driver_that_cannot_write_down_the_end_leaves_with_4(
    service: Service, session_id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise StorageProblem("the disk is full")

    monkeypatch.setattr(Service, "write_reward", full)
    monkeypatch.setattr(Service, "close", full)
    assert _drive(service, session_id) == 4
    assert capsys.readouterr().err.splitlines()[-1] == "the disk is full"


def test_an_error_does_not_hide_that_the_session_was_stopped(
    service: Service, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        service.record(session_id).set_status(SessionStatus.CANCELLED)
        raise TrainingFailed("all runs were cancelled")

    monkeypatch.setattr(Service, "write_reward", stopped)
    assert _drive(service, session_id) == 3
    assert service.view_session(session_id).status is SessionStatus.CANCELLED


def test_a_training_announces_what_looks_wrong_and_which_run_was_lost(service: Service, session_id: str) -> None:
    service.backend = service.training_backend = FinishedJobs()
    record = service.record(session_id)
    iteration = record.iteration(1)
    iteration.save_draft(RewardDraft(source="", reasoning=""))
    good, lost = (iteration.run("baseline", seed) for seed in record.read_session().seeds)
    good.save_summary(SUMMARY)
    good.set_status(JobState.COMPLETED)
    lost.set_status(JobState.RUNNING)
    assert [run.state for run in service.view_session(session_id).runs] == ["completed", "lost"]
    results = service.train(session_id, 1).configs["baseline"].per_seed
    assert [result.error for result in results] == [None, "ended as lost without a summary"]
    (warning,) = (event for event in record.events.read() if event.event is EventName.GUARDRAIL)
    assert warning.data == {"run_id": good.iteration_id, "message": SUMMARY.warnings[0]}


def test_a_training_that_this_machine_cannot_do_is_a_problem_of_the_machine(service: Service, session_id: str) -> None:
    service.backend = service.training_backend = FinishedJobs()
    record = service.record(session_id)
    iteration = record.iteration(1)
    iteration.save_draft(RewardDraft(source="", reasoning=""))
    for seed in record.read_session().seeds:
        status = JobStatus(state=JobState.FAILED, error="Cannot write x: no space left.", exit_code=4)
        files.write_model(iteration.run("baseline", seed).status_path, status)
    with pytest.raises(EnvironmentProblem, match="baseline_seed_10: Cannot write x"):
        service.train(session_id, 1)


@pytest.mark.parametrize("outcome", [SessionStatus.CANCELLED, SessionStatus.MAX_ITERATIONS])
def test_a_stopped_session_gives_the_machine_back_and_is_not_filmed(
    service: Service, session_id: str, outcome: SessionStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = FinishedJobs()
    service.backend = backend
    submitted: list[JobSpec] = []
    monkeypatch.setattr(backend, "submit", lambda spec, _: submitted.append(spec))
    service.record(session_id).iteration(1).run("baseline", 10).save_summary(SUMMARY)
    if outcome is SessionStatus.CANCELLED:
        service.stop_session(session_id)
        assert submitted == []
    else:
        service.close(session_id, outcome)
        (film,) = submitted
        assert "film" in film.argv
        assert film.niceness == 19, "it gives way to trainings"


def test_a_training_of_normal_priority_gives_way_to_nobody_and_resume_may_say_so(
    service: Service, session_id: str
) -> None:
    assert (worker_job("train").niceness, worker_job("train", priority="normal").niceness) == (10, 0)
    assert worker_job("film", priority="normal").niceness == 19
    assert service.view_session(session_id).session.priority == "low"
    service.set_priority(session_id, "normal")
    service.set_priority(session_id, None)
    assert service.view_session(session_id).session.priority == "normal"
    backend = FinishedJobs()
    submitted: list[JobSpec] = []
    submit = backend.submit
    backend.submit = lambda spec, directory: submitted.append(spec) or submit(spec, directory)  # type: ignore
    service.backend = service.training_backend = backend
    service.record(session_id).iteration(1).save_draft(RewardDraft(source="", reasoning=""))
    with pytest.raises(TrainingFailed):
        service.train(session_id, 1)  # nothing is trained by this backend
    assert {spec.niceness for spec in submitted} == {0}
