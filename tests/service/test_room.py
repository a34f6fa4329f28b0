"""What a training must find free before it starts."""

from pathlib import Path

import pytest
from made_up import run_summary

from p2p.contracts.background import StartTraining
from p2p.contracts.errors import EnvironmentProblem, StorageProblem
from p2p.contracts.events import EventName
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import NewSession, SessionStatus
from p2p.contracts.training import TrainConfig
from p2p.scheduler.floors import require_memory, training_memory_mb
from p2p.scheduler.resources import memory_mb
from p2p.service import Service
from p2p.service.training.jobs import worker_job
from p2p.settings import Settings
from p2p.store import layout

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
MORE_THAN_ANY_DISK_GB = 1e9
SUMMARY = run_summary()


def accepted(service: Service) -> str:
    """A session whose first reward waits to be trained."""
    name = service.create_session(POLE).session_id
    iteration = service.record(name).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    return name


@pytest.mark.parametrize("step", ["start_session", "resume_session", "start_loop", "start_training"])
def test_nothing_starts_on_a_disk_that_is_nearly_full(tmp_path: Path, step: str) -> None:
    service = Service(Settings(runs_dir=tmp_path, min_free_disk_gb=MORE_THAN_ANY_DISK_GB))
    name = accepted(service)
    with pytest.raises(StorageProblem, match=r"GiB are free on the disk of .*P2P_MIN_FREE_DISK_GB"):
        getattr(service, step)(name)
    assert service.view_session(name).status is SessionStatus.PENDING
    assert not service.view_session(name).alive
    assert service.list_jobs() == ()


def test_videos_stop_before_trainings_do_and_the_session_says_so(tmp_path: Path) -> None:
    service = Service(Settings(runs_dir=tmp_path, min_free_disk_gb=MORE_THAN_ANY_DISK_GB))
    name = accepted(service)
    record = service.record(name)
    record.iteration(1).run("baseline", 10).save_summary(SUMMARY)
    service.close(name, SessionStatus.MAX_ITERATIONS)
    assert not record.film_dir.exists()
    assert "videos" in str(next(e for e in record.events.read() if e.event is EventName.GUARDRAIL).data["message"])


def test_what_no_memory_of_this_machine_can_hold_is_refused_with_both_figures(tmp_path: Path) -> None:
    service = Service(Settings(runs_dir=tmp_path))
    name = accepted(service)
    wanted = StartTraining(configs={"huge": {"n_envs": 100_000, "n_steps": 100_000}})
    with pytest.raises(EnvironmentProblem, match=r"needs [\d,]+ MiB of memory; this machine has [\d,]+\. It can never"):
        service.start_training(name, wanted)
    assert service.list_jobs() == ()


def test_what_may_not_take_so_much_is_refused_before_it_is_ended_for_it() -> None:
    total, _ = memory_mb()
    assert total is not None
    assert total > 2048, "on less, what is always allowed is all there is"
    with pytest.raises(EnvironmentProblem, match=r"may take 50% of .*P2P_MAX_MEMORY_SHARE"):
        require_memory(total * 3 // 4, 0.5)


def test_every_worker_has_a_limit_of_memory_and_a_training_that_of_the_settings(tmp_path: Path) -> None:
    assert worker_job("film").max_memory_share == 0.5
    service = Service(Settings(runs_dir=tmp_path, max_memory_share=0.25))
    job = service.start_training(accepted(service))
    spec = JobSpec.model_validate_json((service.jobs.new(job.job_id).path / layout.JOB).read_bytes())
    service.cancel_job(job.job_id)
    assert spec.env["P2P_MAX_MEMORY_SHARE"] == "0.25"


def test_a_training_needs_more_memory_the_more_it_records() -> None:
    small, large = (training_memory_mb(TrainConfig(n_steps=n), 17, 6) for n in (64, 64_000))
    assert 200 < small < 300 < large
    require_memory(small)
