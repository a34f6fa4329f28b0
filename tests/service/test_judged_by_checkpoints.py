"""Trainings that were cancelled, failed or lost, judged and revised by the checkpoints they left."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finished_iterations import FinishedJobs, summary
from typer.testing import CliRunner

from p2p.cli import sessions as session_commands
from p2p.cli.app import app
from p2p.contracts.errors import InvalidInput, TrainingFailed
from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Statistic
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.judgment import Verdict
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import ExtendSession, NewSession, SessionStatus
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.service.judging.caller_judgment import judge_evidence, submit_judgment
from p2p.service.rewards.caller_revision import revision_brief
from p2p.service.rewards.criteria import intent_of
from p2p.service.rewards.revision import revise
from p2p.service.sessions.extending import continue_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.iteration import train
from p2p.service.training.plan import run_configs
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import files, layout
from p2p.store.arrays import save_features
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

STEPS = 100_000
FAST = Criterion(
    key="fast",
    title="Fast",
    description="",
    category=Category.GAIT,
    predicate=Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=3.0,
        unit="m/s",
        margin=1.0,
    ),
)

RECORDED = {"velocity_x": np.full(10, 4.0), "slip:bfoot": np.linspace(0.0, 0.9, 10), "height:head": np.ones(10)}
LABELS = {1: "p10", 5: "median", 9: "p90"}


def rollouts(run_id: str, step: int, purpose: Purpose) -> Evaluation:
    made = tuple(Rollout(seed=seed, episode_return=1.0, length=10, label=LABELS.get(seed)) for seed in range(10))
    return Evaluation(run_id=run_id, checkpoint=step, purpose=purpose, dt=0.05, rollouts=made)


class Machine(FinishedJobs):
    """A backend whose jobs have ended; its report rollouts run at 4 m/s, and no training reaches its end."""

    def __init__(self) -> None:
        self.reported: list[tuple[str, int]] = []
        self.running: set[str] = set()

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        iteration = IterationRecord(directory.parent)
        if directory.name == layout.REPORT and (request := iteration.report.read_request()) is not None:
            self.reported.append((request.run_id, request.checkpoint))
            save_features(iteration.report.features_path, [RECORDED for _ in range(10)])
            iteration.report.save_evaluation(rollouts(request.run_id, request.checkpoint, Purpose.REPORT))
        return super().submit(spec, directory)

    def status(self, directory: Path) -> JobStatus:
        if directory.name in self.running:
            return JobStatus(state=JobState.RUNNING)
        return super().status(directory)

    def cancel(self, directory: Path) -> JobStatus:
        return self.status(directory)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def ws(tmp_path: Path, machine: Machine) -> Workspace:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    ws.backend = ws.training_backend = machine
    return ws


def cancelled(
    ws: Workspace,
    *states: JobState,
    checkpoints: tuple[int, ...] = (20_000, 40_000),
    criteria: tuple[Criterion, ...] = (FAST,),
) -> SessionRecord:
    """A session whose first iteration has a run in each of these states, with evaluated checkpoints."""
    request = NewSession(
        prompt="run forward", env_id="HalfCheetah-v5", n_seeds=len(states), config={"total_timesteps": STEPS}
    )
    intent = intent_of(ws, "run forward", "HalfCheetah-v5", criteria, 0.5)
    record = ws.record(create_session(ws, request, intent=intent).session_id)
    iteration, draft = record.iteration(1), RewardDraft(source="x = 1")
    iteration.save_draft(draft)
    iteration.save_reward_report(RewardReport(spec=None))
    for ((config_id, seed), config), state in zip(
        run_configs(record.read_session(), draft).items(), states, strict=True
    ):
        run = iteration.run(config_id, seed)
        run.save_config(config.model_copy(update={"iteration_id": run.iteration_id}))
        run.save_reward_source(draft.source)
        for step in checkpoints:
            measured(run, step, score=0.5 if step == 20_000 else 0.3 + seed / 1000)
        run.set_status(state)
    return record


def measured(run: IterationRecord, step: int, score: float) -> None:
    """A checkpoint with its selection rollouts."""
    checkpoint = run.checkpoint(step)
    files.write_text(checkpoint.policy_path, "a policy")
    checkpoint.save_evaluation(rollouts(run.iteration_id, step, Purpose.SELECTION))
    row: dict[str, Any] = {"type": "eval", "global_step": step, "mean_return": 1.0}
    run.append_scalars({**row, "success_rate": score, "intent_score": score})


def test_evidence_has_numbers_of_the_parts_that_criteria_read_and_of_no_others(ws: Workspace) -> None:
    assert FAST.predicate is not None
    reads = FAST.predicate.model_copy(update={"feature": "slip:bfoot", "comparison": Comparison.AT_MOST})
    slips = FAST.model_copy(update={"key": "slips", "predicate": reads})
    record = cancelled(ws, JobState.CANCELLED, criteria=(FAST, slips))
    numbers = {one.name: one for one in judge_evidence(ws, record.session_id).numbers}
    assert set(numbers) == {"velocity_x", "slip:bfoot"}
    assert (numbers["slip:bfoot"].unit, numbers["slip:bfoot"].maximum, numbers["slip:bfoot"].maximum_s) == (
        "m/s",
        0.9,
        0.5,
    )


@pytest.mark.parametrize("state", [JobState.CANCELLED, JobState.FAILED, JobState.LOST])
def test_a_training_that_ended_early_is_judged_by_its_best_checkpoint_and_says_so(
    ws: Workspace, machine: Machine, state: JobState
) -> None:
    record = cancelled(ws, state)
    evidence = judge_evidence(ws, record.session_id)
    named = f"run baseline_seed_10 was {state}, and is judged by its checkpoint at step 20,000 of 100,000"
    assert named in evidence.code.diagnosis
    judgment = submit_judgment(ws, record.session_id, 1, None)
    assert judgment.verdict is Verdict.PASSED
    assert judgment.diagnosis.count(named) == 1
    assert machine.reported == [("baseline_seed_10", 20_000)]
    aggregation = record.iteration(1).read_aggregation()
    assert aggregation is not None
    assert aggregation.by_checkpoints
    (result,) = aggregation.configs["baseline"].per_seed
    assert result.status == ("cancelled" if state is JobState.CANCELLED else "error")
    assert aggregation.configs["baseline"].mean_best_score is None


def test_what_was_judged_by_checkpoints_is_revised_and_extended(ws: Workspace) -> None:
    record = cancelled(ws, JobState.CANCELLED)
    record.set_status(SessionStatus.CANCELLED)
    with pytest.raises(InvalidInput, match=Remedy.JUDGE.of(session=record.session_id, iteration=1)):
        continue_session(ws, record.session_id, ExtendSession(wish="softer"), driven=False)
    submit_judgment(ws, record.session_id, 1, None)
    brief = revision_brief(ws, record.session_id)
    assert "was cancelled" in brief.diagnosis
    assert revise(ws, record.session_id, 1).based_on == 1
    made = continue_session(ws, record.session_id, ExtendSession(wish="softer"), driven=False)
    assert made.extends is not None


def test_the_best_of_all_runs_counts_and_a_completed_one_needs_no_word(ws: Workspace) -> None:
    record = cancelled(ws, JobState.COMPLETED, JobState.CANCELLED)
    done = record.iteration(1).runs()[0]
    done.save_summary(summary(STEPS, 0.9).model_copy(update={"best_selection_success": 0.9}))
    assert "ended early" not in submit_judgment(ws, record.session_id, 1, None).diagnosis
    aggregation = record.iteration(1).read_aggregation()
    assert aggregation is not None
    assert (aggregation.best_run_id, aggregation.best_checkpoint) == (done.iteration_id, STEPS)
    assert aggregation.configs["baseline"].mean_best_score == 0.9
    assert [result.status for result in aggregation.configs["baseline"].per_seed] == ["completed", "cancelled"]


def test_a_run_that_goes_on_or_has_measured_nothing_is_not_judged(ws: Workspace, machine: Machine) -> None:
    record = cancelled(ws, JobState.CANCELLED, JobState.CANCELLED)
    machine.running.add("baseline_seed_11")
    with pytest.raises(InvalidInput, match="no rollouts to judge yet"):
        judge_evidence(ws, record.session_id)
    bare = cancelled(ws, JobState.CANCELLED, checkpoints=())
    with pytest.raises(InvalidInput, match="no rollouts to judge yet"):
        judge_evidence(ws, bare.session_id)
    assert machine.reported == []


def test_checkpoints_that_were_only_looked_at_do_not_end_a_training(ws: Workspace, machine: Machine) -> None:
    record = cancelled(ws, JobState.CANCELLED)
    judge_evidence(ws, record.session_id)
    with pytest.raises(TrainingFailed, match="No run of iteration 1 reached its end"):
        train(ws, record.session_id, 1)  # it is tried again, and the machine trains nothing
    assert record.iteration(1).read_aggregation() is None
    measured(record.iteration(1).runs()[0], 60_000, score=0.8)
    judge_evidence(ws, record.session_id)
    submit_judgment(ws, record.session_id, 1, None)
    assert machine.reported == [("baseline_seed_10", 20_000), ("baseline_seed_10", 60_000)]
    assert train(ws, record.session_id, 1).best_checkpoint == 60_000  # judged: it counts


def test_p2p_judge_judges_what_was_stopped(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    record = cancelled(ws, JobState.CANCELLED)
    record.set_status(SessionStatus.CANCELLED)
    monkeypatch.setattr(session_commands, "open_workspace", lambda _runs_dir: ws)
    result = CliRunner().invoke(app, ["judge", record.session_id])
    assert result.exit_code == 0, result.exception
    assert "run baseline_seed_10 was cancelled" in " ".join(result.output.split())
