"""Configurations x seeds: all are trained, and the best is the one that does what was asked."""

from pathlib import Path

import pytest
from made_up import run_summary

from p2p.contracts.errors import InvalidInput, TrainingFailed
from p2p.contracts.job import Capacity, JobSpec, JobState, JobStatus
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.training import RunSummary
from p2p.service.rewards.writing import elicit_intent
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.iteration import train
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import files
from p2p.store.iterations import IterationRecord

Outcome = dict[str, float] | str
"""Success, score and return of a training; or the error it ends with."""
GOOD: Outcome = {"success": 0.9, "score": 0.8, "return": -50.0}
RICH: Outcome = {"success": 0.2, "score": 0.3, "return": 900.0}
BROKEN: Outcome = "Traceback\n  somewhere\nthe reward's term 'a' became nan at step 7"


ONE = Capacity(runs=1, cores=1, cores_per_run=1)


class OneCore:
    """A machine that runs one job at a time; each has ended as its outcome says when it is looked at again."""

    def __init__(self, outcomes: dict[str, Outcome], capacity: Capacity = ONE) -> None:
        self.outcomes, self._capacity = outcomes, capacity
        self.submitted: list[str] = []

    def capacity(self, _job_memory_mb: int) -> Capacity:
        return self._capacity

    def submit(self, _spec: JobSpec, directory: Path) -> JobStatus:
        self.submitted.append(directory.name)
        run, outcome = IterationRecord(directory), self.outcomes[directory.name]
        if isinstance(outcome, str):
            files.write_model(run.status_path, JobStatus(state=JobState.FAILED, exit_code=3, error=outcome))
        else:
            run.save_summary(_summary(outcome))
            run.set_status(JobState.COMPLETED)
        return JobStatus(state=JobState.RUNNING)

    def status(self, directory: Path) -> JobStatus:
        status = IterationRecord(directory).read_status()
        if status is None:
            raise InvalidInput("no job")
        return status


def _summary(outcome: dict[str, float]) -> RunSummary:
    return run_summary(
        final_episodic_return=outcome["return"],
        best_checkpoint=1000,
        best_selection_score=outcome["score"],
        best_selection_success=outcome["success"],
        best_selection_return=outcome["return"],
    )


def _prepared(tmp_path: Path, outcomes: dict[str, Outcome]) -> tuple[Workspace, str, OneCore]:
    ws, backend = Workspace(Settings(runs_dir=tmp_path)), OneCore(outcomes)
    request = NewSession(
        prompt="keep the pole balanced",
        env_id="InvertedPendulum-v5",
        configs={"slow": {"learning_rate": 1e-4}, "fast": {"num_envs": 4}},
    )
    session_id = create_session(ws, request).session_id
    elicit_intent(ws, session_id)
    ws.record(session_id).iteration(1).save_draft(RewardDraft(source="", reasoning=""))
    ws.backend = ws.training_backend = backend
    return ws, session_id, backend


def test_all_are_trained_on_one_core_each_with_its_own_configuration_and_seed(tmp_path: Path) -> None:
    names = [f"{config}_seed_{seed}" for config in ("slow", "fast") for seed in (10, 11)]
    ws, session_id, backend = _prepared(tmp_path, dict.fromkeys(names, GOOD))
    train(ws, session_id, 1)
    assert sorted(backend.submitted) == sorted(names)
    assert ws.record(session_id).iteration(1).read_plan().parallel == 1
    for run in ws.record(session_id).iteration(1).runs():
        config = run.read_config()
        assert config.seed == int(run.iteration_id[-2:])
        assert (config.learning_rate == 1e-4) is run.iteration_id.startswith("slow")
        assert (config.n_envs == 4) is run.iteration_id.startswith("fast")
        assert run.read_criteria() == ws.record(session_id).read_criteria()


@pytest.mark.parametrize(
    ("runs", "cores", "n_seeds", "max_parallel", "parallel", "owned"),
    [
        (2, 2, 1, None, 1, 1),  # the other core is for another session
        (2, 2, 2, None, 2, 2),
        (1, 2, 1, None, 1, 2),  # there is memory for no other training, which could use it
        (8, 8, 1, None, 1, 4),
        (8, 8, 3, None, 3, 4),
        (8, 8, 6, None, 6, 6),
        (8, 8, 1, 2, 1, 2),
        (1, 1, 1, None, 1, 1),
    ],
)
def test_trainings_leave_cores_to_another_session_where_it_could_use_them(
    tmp_path: Path, runs: int, cores: int, n_seeds: int, max_parallel: int | None, parallel: int, owned: int
) -> None:
    capacity = Capacity(runs=runs, cores=cores, cores_per_run=cores)
    ws = Workspace(Settings(runs_dir=tmp_path, max_parallel=max_parallel))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=n_seeds)
    session_id = create_session(ws, request).session_id
    ws.record(session_id).iteration(1).save_draft(RewardDraft(source=""))
    outcomes = {f"baseline_seed_{seed}": GOOD for seed in request.seeds}
    ws.backend = ws.training_backend = OneCore(outcomes, capacity)
    train(ws, session_id, 1)
    plan = ws.record(session_id).iteration(1).read_plan()
    assert (plan.parallel, plan.cores, plan.threads) == (parallel, owned, owned // parallel)


def test_the_best_configuration_does_more_of_what_was_asked_whatever_the_others_return(tmp_path: Path) -> None:
    outcomes = {"slow_seed_10": GOOD, "slow_seed_11": BROKEN, "fast_seed_10": RICH, "fast_seed_11": RICH}
    ws, session_id, _ = _prepared(tmp_path, outcomes)
    found = train(ws, session_id, 1)
    assert (found.best_config_id, found.best_run_id) == ("slow", "slow_seed_10")
    slow, fast = found.configs["slow"], found.configs["fast"]
    assert (slow.mean_best_score, slow.mean_final_return) == (0.8, -50.0), "what failed enters no mean"
    assert (fast.mean_best_score, fast.mean_final_return) == (0.3, 900.0)
    failed = slow.per_seed[1]
    assert (failed.status, failed.selection_score, failed.final_return) == ("error", None, None)
    assert failed.error == BROKEN


def test_an_iteration_in_which_all_fail_ends_with_the_last_line_of_the_first(tmp_path: Path) -> None:
    names = [f"{config}_seed_{seed}" for config in ("slow", "fast") for seed in (10, 11)]
    ws, session_id, backend = _prepared(tmp_path, dict.fromkeys(names, BROKEN))
    with pytest.raises(TrainingFailed, match=r"slow_seed_10: the reward's term 'a' became nan at step 7$"):
        train(ws, session_id, 1)
    assert len(backend.submitted) == 4, "none of them is tried twice"
    assert ws.record(session_id).iteration(1).read_aggregation() is None
