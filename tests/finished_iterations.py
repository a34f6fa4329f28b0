"""What trainings and judgments leave of an iteration, without training anything; and a backend with nothing to do."""

from pathlib import Path

import made_up
from made_up import run_summary

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import Capacity, JobSpec, JobState, JobStatus
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.training import RunSummary
from p2p.service.training.aggregation import aggregate
from p2p.service.training.plan import run_configs
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


class FinishedJobs:
    """A backend whose jobs have ended; none of those still called running lives, and what is new ends at once."""

    def capacity(self, _job_memory_mb: int) -> Capacity:
        return Capacity(runs=2, cores=2, cores_per_run=2)

    def submit(self, _spec: JobSpec, directory: Path) -> JobStatus:
        if IterationRecord(directory).read_status() is None:
            IterationRecord(directory).set_status(JobState.COMPLETED)
        return self.status(directory)

    def status(self, directory: Path) -> JobStatus:
        status = IterationRecord(directory).read_status()
        if status is None:
            raise InvalidInput("no job")
        return status if status.state.finished else status.model_copy(update={"state": JobState.LOST})


def summary(steps: int, score: float) -> RunSummary:
    return run_summary(
        total_timesteps=steps,
        final_episodic_return=10 * score,
        best_checkpoint=steps,
        best_selection_score=score,
        best_selection_success=0.0,
    )


def judgment(run_id: str, score: float, steps: int, passed: bool = False) -> Judgment:
    return made_up.judgment(
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        intent_score=score,
        success_rate=1.0 if passed else 0.0,
        success_high=1.0,
        n_rollouts=10,
        diagnosis="It is up all the time." if passed else "The pole lies.",
        failure_tags=() if passed else ("up_not_met",),
        run_id=run_id,
        best_checkpoint=steps,
    )


def leave_training(record: SessionRecord, number: int, draft: RewardDraft, best: str = "baseline") -> str:
    """Leave what the training of a reward leaves; one configuration did best, and its best run is returned."""
    iteration = record.iteration(number)
    iteration.save_draft(draft)
    iteration.save_reward_report(RewardReport(spec=None))
    runs = []
    for (config_id, seed), config in run_configs(record.read_session(), draft).items():
        run = iteration.run(config_id, seed)
        runs.append(run)
        run.save_config(config.model_copy(update={"iteration_id": run.iteration_id}))
        run.save_summary(summary(config.total_timesteps, 0.5 if config_id == best else 0.1 * (seed % 10)))
        run.set_status(JobState.COMPLETED)
    aggregation = aggregate(runs)
    assert aggregation is not None
    iteration.save_aggregation(aggregation)
    return aggregation.best_run_id
