"""A job that waits says so in every front end: for what, who holds it, its place, since when and for how long."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from turns import hold_turn

from p2p.cli import main
from p2p.contracts.job import JobSpec, JobState, WaitsFor
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import NewSession, SessionStatus
from p2p.contracts.training import TrainConfig
from p2p.scheduler import cores, machine_queue
from p2p.service.jobs.waiting import estimated_wait
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.progress.job_views import get_job
from p2p.service.progress.session_view import view_session
from p2p.service.sessions import driving
from p2p.service.sessions.background import cancel_job, start_loop, start_training
from p2p.service.sessions.driving import start_session, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)
SLEEP = JobSpec(argv=("sleep", "600"))
ALL_CORES = SLEEP.model_copy(update={"cores": len(cores.usable_cores())})


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "cores"))
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import time; time.sleep(600)"))
    yield tmp_path
    for job in tmp_path.rglob(layout.JOB):
        Workspace(Settings(runs_dir=tmp_path)).backend.cancel(job.parent)


def trained(ws: Workspace, state: JobState) -> str:
    """A session whose driver lives and whose only run is in a state."""
    name = create_session(ws, POLE).session_id
    iteration = ws.record(name).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    run = iteration.run("baseline", 10)
    run.save_config(TrainConfig(total_timesteps=1000))
    run.append_scalars({"type": "train", "global_step": 400, "elapsed_time": 20.0})
    start_session(ws, name)
    ws.backend.submit(ALL_CORES, run.path)
    while ws.backend.status(run.path).state is not state:
        pass
    return name


def test_a_session_whose_trainings_wait_for_cores_of_another_runs_directory_says_so(
    places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere, here = (Workspace(Settings(runs_dir=places / name)) for name in ("elsewhere", "here"))
    holder = trained(elsewhere, JobState.RUNNING)
    waits = trained(here, JobState.QUEUED)
    view = view_session(here, waits)
    assert (view.status, view.alive) == (SessionStatus.WAITING, True)
    assert view_session(elsewhere, holder).status is SessionStatus.RUNNING
    assert view.waiting is not None
    assert view.waiting.waits_for is WaitsFor.CORES
    (held,) = view.waiting.holders
    assert (held.runs_dir, held.session_id) == (str(places / "elsewhere"), holder)
    assert view.waiting.since is not None
    assert view.waiting.place == 1
    assert view.waiting.estimate_s == pytest.approx(30.0), "600 steps at 20 steps a second"
    for command in (["list"], ["show", waits]):
        assert main([*command, "--runs-dir", str(here.runs.path)]) == 0
        assert "waiting" in capsys.readouterr().out
    main(["show", waits, "--runs-dir", str(here.runs.path)])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"waits for cores held by {holder} in {places / 'elsewhere'}, 1 in line, since" in shown
    assert main(["show", waits, "--json", "--runs-dir", str(here.runs.path)]) == 0
    assert json.loads(capsys.readouterr().out)["waiting"]["holders"][0]["session_id"] == holder


def test_those_that_wait_for_cores_know_their_places(places: Path) -> None:
    ws = Workspace(Settings(runs_dir=places / "runs"))
    trained(ws, JobState.RUNNING)
    names = [trained(ws, JobState.QUEUED) for _ in range(2)]

    def seen() -> list[int | None]:
        waits = [view_session(ws, name).waiting for name in names]
        return [wait.place if wait is not None else None for wait in waits]

    while None in seen():
        pass
    assert seen() == [1, 2]
    stop_session(ws, names[0])
    while seen() != [None, 1]:
        pass


def test_a_background_job_that_waits_for_its_turn_names_who_has_it(places: Path) -> None:
    ws = Workspace(Settings(runs_dir=places / "runs"))
    slot = hold_turn(ws)
    try:
        name = create_session(ws, POLE).session_id
        iteration = ws.record(name).iteration(1)
        iteration.save_draft(RewardDraft(source="pass"))
        iteration.save_reward_report(RewardReport(spec=None))
        job = start_training(ws, name)
        assert job.state is JobState.WAITING
        assert job.waiting is not None
        assert (job.waiting.waits_for, job.waiting.place, job.waiting.holders) == (WaitsFor.TURN, 1, ())
        assert job.waiting.since == job.created_at
        assert view_session(ws, name).waiting == job.waiting
        cancel_job(ws, job.job_id)
        assert get_job(ws, job.job_id).waiting is None
    finally:
        os.close(slot)


def test_a_background_job_names_the_one_that_has_its_turn(places: Path) -> None:
    ws = Workspace(Settings(runs_dir=places / "runs"))
    first, second = (create_session(ws, POLE).session_id for _ in range(2))
    held = start_loop(ws, first)
    job = start_loop(ws, second)
    assert (held.state, job.state, job.queue_position) == (JobState.RUNNING, JobState.WAITING, 1)
    assert job.waiting is not None
    assert [(one.runs_dir, one.session_id, one.job) for one in job.waiting.holders] == [
        (str(ws.runs.path), first, held.job_id)
    ]


def test_a_training_that_has_its_turn_waits_for_a_core_in_the_same_queue_and_keeps_its_place(places: Path) -> None:
    """Its trainings take over its place: whoever came while it waited comes after them."""
    ws = Workspace(Settings(runs_dir=places / "runs"))
    holder = trained(ws, JobState.RUNNING)
    name = create_session(ws, POLE).session_id
    iteration = ws.record(name).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    job = start_training(ws, name)
    assert (job.state, job.queue_position) == (JobState.WAITING, None)
    assert job.waiting is not None
    assert (job.waiting.waits_for, job.waiting.place) == (WaitsFor.CORES, 1)
    assert [held.session_id for held in job.waiting.holders] == [holder]
    late = trained(Workspace(Settings(runs_dir=places / "elsewhere")), JobState.QUEUED)
    waits = view_session(Workspace(Settings(runs_dir=places / "elsewhere")), late).waiting
    assert waits is not None
    assert waits.place == 2
    cancel_job(ws, job.job_id)


def test_a_training_job_whose_runs_all_wait_for_cores_waits_too(places: Path) -> None:
    ws = Workspace(Settings(runs_dir=places / "runs"))
    holder, name = trained(ws, JobState.RUNNING), trained(ws, JobState.QUEUED)
    job = start_loop(ws, name)
    assert (job.state, job.queue_position) == (JobState.WAITING, None)
    assert job.waiting is not None
    assert [held.session_id for held in job.waiting.holders] == [holder]


def test_sessions_that_end_together_are_filmed_one_after_the_other_and_say_so(
    places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ws = Workspace(Settings(runs_dir=places / "runs"))
    names = [create_session(ws, POLE).session_id for _ in range(ALL_CORES.cores // 2 + 2)]
    films = [ws.record(name).film_dir for name in names]
    spec = worker_job("film")
    for film in films:
        ws.backend.submit(spec.model_copy(update={"argv": SLEEP.argv}), film)
        while ws.backend.status(film).state is JobState.SUBMITTING:
            pass
    views = [view_session(ws, name) for name in names]
    states = [view.film.state for view in views if view.film is not None]
    seats = max(1, ALL_CORES.cores // 2)
    assert states == [JobState.RUNNING] * seats + [JobState.WAITING] * (len(names) - seats)
    last = views[-1].film
    assert last is not None
    assert last.waiting is not None
    assert {holder.session_id for holder in last.waiting.holders} == set(names[:seats])
    main(["show", names[-1], "--runs-dir", str(ws.runs.path)])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"videos of all checkpoints: waits for its turn to be filmed held by {names[0]} in" in shown
    ws.record(names[-1]).set_status(SessionStatus.PASSED)
    main(["stop", names[-1], "--runs-dir", str(ws.runs.path)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "has already ended: passed. The remaining videos of its checkpoints are cancelled." in shown
    assert ws.backend.status(films[-1]).state is JobState.CANCELLED


@pytest.mark.parametrize(
    ("times", "place", "expected"),
    [([30.0], 1, 30.0), ([30.0], 3, 90.0), ([10.0, 40.0], 2, 40.0), ([10.0, 40.0], 3, 50.0), ([None], 1, None)],
)
def test_an_estimate_follows_the_holders_and_the_place(
    times: list[float | None], place: int, expected: float | None
) -> None:
    assert estimated_wait(times, place) == expected
    assert estimated_wait([], place) is None
    assert estimated_wait(times, None) is None
