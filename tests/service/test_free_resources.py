"""What a training must find free before it starts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from made_up import run_summary

from p2p.contracts.background import StartTraining
from p2p.contracts.errors import EnvironmentProblem, StorageProblem
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.contracts.training import TrainConfig
from p2p.scheduler.free_resources import require_memory, training_memory_mb
from p2p.scheduler.resources import memory_mb
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.judging.closing import close
from p2p.service.progress.job_views import list_jobs
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.background import cancel_job, start_loop, start_training
from p2p.service.sessions.driving import resume_session, start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
MORE_THAN_ANY_DISK_GB = 1e9
SUMMARY = run_summary()


def accepted(ws: Workspace) -> str:
    """A session whose first reward waits to be trained."""
    name = create_session(ws, POLE).session_id
    iteration = ws.record(name).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    return name


@pytest.mark.parametrize("step", [start_session, resume_session, start_loop, start_training])
def test_nothing_starts_on_a_disk_that_is_nearly_full(tmp_path: Path, step: Callable[[Workspace, str], object]) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path, min_free_disk_gb=MORE_THAN_ANY_DISK_GB))
    name = accepted(ws)
    with pytest.raises(StorageProblem, match=r"GiB are free on the disk of .*P2P_MIN_FREE_DISK_GB"):
        step(ws, name)
    assert view_session(ws, name).status is SessionStatus.PENDING
    assert not view_session(ws, name).alive
    assert list_jobs(ws) == ()


def test_videos_stop_before_trainings_do_and_the_session_says_so(tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path, min_free_disk_gb=MORE_THAN_ANY_DISK_GB))
    name = accepted(ws)
    record = ws.record(name)
    record.iteration(1).run("baseline", 10).save_summary(SUMMARY)
    close(ws, name, SessionStatus.MAX_ITERATIONS)
    assert not record.film_dir.exists()
    assert "videos" in str(next(e for e in record.events.read() if e.event is EventName.GUARDRAIL).data["message"])


def test_what_no_memory_of_this_machine_can_hold_is_refused_with_both_figures(tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path))
    name = accepted(ws)
    wanted = StartTraining(configs={"huge": {"n_envs": 100_000, "n_steps": 100_000}})
    with pytest.raises(EnvironmentProblem, match=r"needs [\d,]+ MiB of memory; this machine has [\d,]+\. It can never"):
        start_training(ws, name, wanted)
    assert list_jobs(ws) == ()


def test_what_may_not_take_so_much_is_refused_before_it_is_ended_for_it() -> None:
    total, _ = memory_mb()
    assert total is not None
    assert total > 2048, "on less, what is always allowed is all there is"
    with pytest.raises(EnvironmentProblem, match=r"may take 50% of .*P2P_MAX_MEMORY_SHARE"):
        require_memory(total * 3 // 4, 0.5)


def test_every_worker_has_a_limit_of_memory_and_a_training_that_of_the_settings(tmp_path: Path) -> None:
    assert worker_job("film").max_memory_share == 0.5
    ws = Workspace(Settings(runs_dir=tmp_path, max_memory_share=0.25))
    job = start_training(ws, accepted(ws))
    spec = JobSpec.model_validate_json((ws.jobs.new(job.job_id).path / layout.JOB).read_bytes())
    cancel_job(ws, job.job_id)
    assert spec.env["P2P_MAX_MEMORY_SHARE"] == "0.25"


def test_a_training_needs_more_memory_the_more_it_records() -> None:
    small, large = (training_memory_mb(TrainConfig(n_steps=n), 17, 6) for n in (64, 64_000))
    assert 200 < small < 300 < large
    require_memory(small)
