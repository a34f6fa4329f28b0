from collections.abc import Callable
from pathlib import Path

from made_up import run_summary

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.training import ResumePoint
from p2p.scheduler.backends.local import LocalBackend
from p2p.service.training.aggregation import aggregate
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.training.trainer import RETRIES, Trainer

JOB = JobSpec(argv=("true",))


class ScriptedBackend:
    """Ends each job as its script says, one state per submission; a job runs for two looks."""

    def __init__(self, script: Callable[[str, int], JobStatus]) -> None:
        self.script = script
        self.submissions: dict[str, int] = {}
        self.looks: dict[str, int] = {}
        self.most_at_once = 0

    def submit(self, _spec: JobSpec, directory: Path) -> JobStatus:
        name = directory.name
        self.submissions[name] = self.submissions.get(name, 0) + 1
        self.looks[name] = 2
        self.most_at_once = max(self.most_at_once, sum(looks > 0 for looks in self.looks.values()))
        return JobStatus(state=JobState.RUNNING)

    def status(self, directory: Path) -> JobStatus:
        name = directory.name
        if name not in self.submissions:
            raise InvalidInput("no job")
        self.looks[name] -= 1
        if self.looks[name] > 0:
            return JobStatus(state=JobState.RUNNING)
        return self.script(name, self.submissions[name])

    def cancel(self, directory: Path) -> JobStatus:
        return self.status(directory)

    def logs(self, _directory: Path, offset: int = 0) -> tuple[str, int]:
        return "", offset


def _runs(tmp_path: Path, n: int) -> list[IterationRecord]:
    return [IterationRecord(tmp_path / f"baseline_seed_{seed}") for seed in range(n)]


def _completed(_name: str, _submission: int) -> JobStatus:
    return JobStatus(state=JobState.COMPLETED, exit_code=0)


def test_no_more_runs_train_at_a_time_than_allowed(tmp_path: Path) -> None:
    backend = ScriptedBackend(_completed)
    Trainer(backend, JOB, 2, lambda: None).train(_runs(tmp_path, 5), poll_s=0)
    assert backend.most_at_once == 2
    assert backend.submissions == {f"baseline_seed_{seed}": 1 for seed in range(5)}


def test_a_killed_run_is_started_again_and_a_failed_one_is_not(tmp_path: Path) -> None:
    def script(name: str, submission: int) -> JobStatus:
        if name.endswith("0"):
            return JobStatus(state=JobState.FAILED, exit_code=3, error="the reward is nan")
        return _completed(name, submission) if submission == 2 else JobStatus(state=JobState.LOST)

    backend = ScriptedBackend(script)
    Trainer(backend, JOB, 2, lambda: None).train(_runs(tmp_path, 2), poll_s=0)
    assert backend.submissions == {"baseline_seed_0": 1, "baseline_seed_1": 2}


def test_a_run_that_is_killed_again_and_again_is_given_up(tmp_path: Path) -> None:
    backend = ScriptedBackend(lambda _name, _submission: JobStatus(state=JobState.FAILED, signal=9))
    Trainer(backend, JOB, 2, lambda: None).train(_runs(tmp_path, 1), poll_s=0)
    assert backend.submissions == {"baseline_seed_0": RETRIES + 1}


def test_a_run_that_a_scheduler_gave_up_before_it_began_waits_again_and_one_that_got_nowhere_does_not(
    tmp_path: Path,
) -> None:
    def script(name: str, submission: int) -> JobStatus:
        began = "2026-01-01T00:00:00.000+00:00" if name.endswith("0") else None
        if submission > 3 * RETRIES:
            return _completed(name, submission)
        return JobStatus(state=JobState.LOST, interrupted=True, started_at=began)

    backend = ScriptedBackend(script)
    Trainer(backend, JOB, 2, lambda: None).train(_runs(tmp_path, 2), poll_s=0)
    assert backend.submissions == {"baseline_seed_0": RETRIES + 1, "baseline_seed_1": 3 * RETRIES + 1}


def test_a_run_that_is_interrupted_but_gets_further_is_started_as_often_as_it_takes(tmp_path: Path) -> None:
    (run,) = _runs(tmp_path, 1)

    def script(_name: str, submission: int) -> JobStatus:
        run.save_resume_point(resume_point(rollouts=submission))
        return _completed("", 0) if submission == 9 else JobStatus(state=JobState.LOST, interrupted=True)

    backend = ScriptedBackend(script)
    Trainer(backend, JOB, 1, lambda: None).train([run], poll_s=0)
    assert backend.submissions == {run.path.name: 9}


def resume_point(rollouts: int) -> ResumePoint:
    return ResumePoint(inputs={}, rollouts=rollouts, seconds=1.0, resumed=0, peak_memory_mb=1, evaluated=(), pending=())


def _finish(run: IterationRecord, success: float, score: float, final: float) -> None:
    summary = run_summary(
        final_episodic_return=final,
        best_checkpoint=1000,
        best_selection_score=score,
        best_selection_success=success,
        best_selection_return=final,
    )
    run.save_summary(summary)
    run.set_status(JobState.COMPLETED)


def test_a_failed_seed_is_listed_with_its_error_and_enters_no_mean(tmp_path: Path) -> None:
    good, better, broken = _runs(tmp_path, 3)
    _finish(good, success=0.5, score=0.9, final=-10.0)
    _finish(better, success=0.6, score=0.8, final=-30.0)
    files.write_text(broken.path / "output.log", "boom")
    broken.set_status(JobState.FAILED, "boom")
    aggregation = aggregate([good, better, broken])
    assert aggregation is not None
    assert aggregation.best_run_id == better.iteration_id
    config = aggregation.configs["baseline"]
    assert config.mean_final_return == -20.0
    assert [result.status for result in config.per_seed] == ["completed", "completed", "error"]
    assert config.per_seed[2].error == "boom"
    assert config.per_seed[2].final_return is None


def test_nothing_is_aggregated_when_no_run_completed(tmp_path: Path) -> None:
    (run,) = _runs(tmp_path, 1)
    run.set_status(JobState.CANCELLED)
    assert aggregate([run]) is None


def test_a_run_over_its_limits_is_not_started_again(tmp_path: Path) -> None:
    ended = JobStatus(state=JobState.FAILED, signal=9, error="The job was ended: it took 900 MiB of memory")
    backend = ScriptedBackend(lambda _name, _submission: ended)
    Trainer(backend, JOB, 2, lambda: None).train(_runs(tmp_path, 1), poll_s=0)
    assert backend.submissions == {"baseline_seed_0": 1}


def test_a_worker_that_ends_itself_with_exit_code_0_has_trained_nothing(tmp_path: Path) -> None:
    (run,) = _runs(tmp_path, 1)
    backend = LocalBackend()
    job = JobSpec(argv=("{python}", "-c", "import os; os._exit(0)"))
    Trainer(backend, job, 1, lambda: None).train([run], poll_s=0.05)
    assert backend.status(run.path).state is JobState.COMPLETED
    assert aggregate([run]) is None
