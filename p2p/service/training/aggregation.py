"""Combined results of an iteration's runs."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from p2p.contracts.job import JobState
from p2p.contracts.judgment import MET_SHARE_NEEDED
from p2p.contracts.training import ConfigAggregate, IterationAggregation, RunResult
from p2p.store.iterations import IterationRecord


def aggregate(runs: Sequence[IterationRecord]) -> IterationAggregation | None:
    """Aggregate the completed runs by configuration, with the best by selection rollouts; None if none completed.

    A failed run is listed with its error and enters no mean.
    """
    results = [run_result(run) for run in runs]
    completed = [result for result in results if result.status == "completed"]
    return _joined(results, max(completed, key=_merit)) if completed else None


def aggregate_checkpoints(runs: Sequence[IterationRecord]) -> IterationAggregation | None:
    """Aggregate all runs so far, early ended ones by their best evaluated checkpoint; None if there is none.

    Means are over completed runs alone, as everywhere.
    """
    results = [_as_far_as_it_came(run) for run in runs]
    measured = [result for result in results if result.best_checkpoint is not None]
    if not measured:
        return None
    return _joined(results, max(measured, key=_merit)).model_copy(update={"by_checkpoints": True})


def ended_early(run: IterationRecord, result: RunResult) -> str:
    """Note on a run judged by a checkpoint because it ended early; empty for a completed run."""
    if result.status == "completed":
        return ""
    config = run.read_config()
    planned = f" of {config.total_timesteps:,}" if config is not None else ""
    return (
        f"The training ended early: run {result.run_id} was {_end(run)}, and is judged by its checkpoint at step "
        f"{result.best_checkpoint:,}{planned}."
    )


def _end(run: IterationRecord) -> JobState:
    """End state of a run; "running" without a live supervisor counts as lost."""
    status = run.read_status()
    return status.state if status is not None and status.state.finished else JobState.LOST


def checkpoints_by_merit(
    runs: Sequence[IterationRecord], aggregation: IterationAggregation
) -> list[tuple[IterationRecord, int]]:
    """Recorded checkpoints that meet the measured criteria often enough, as (run, step).

    First the best of each run, as runs differ more from one another than checkpoints of one do, then the others. A run
    that failed has none, unless the iteration is judged by what its runs left.
    """
    results = [result for config in aggregation.configs.values() for result in config.per_seed]
    counting = {one.run_id for one in results if aggregation.by_checkpoints or one.status == "completed"}
    found = []
    for run in (run for run in runs if run.iteration_id in counting):
        rows = [row for row in run.parse_scalars()[1] if (row.get("success_rate") or 0.0) >= MET_SHARE_NEEDED]
        ranked = sorted((row for row in rows if _recorded(run, row["global_step"])), key=_rank, reverse=True)
        found += [(place > 0, _rank(row), run, int(row["global_step"])) for place, row in enumerate(ranked)]
    best_first = sorted(found, key=lambda each: each[1], reverse=True)
    return [(run, step) for _, _, run, step in sorted(best_first, key=lambda each: each[0])]


def _recorded(run: IterationRecord, step: int) -> bool:
    """Whether a checkpoint has its policy, its evaluation, and a complete rollout to look at."""
    checkpoint = run.checkpoint(step)
    there = checkpoint.policy_path.exists() and run.trajectory(step, "median").exists()
    return there and checkpoint.read_evaluation() is not None


def _joined(results: Sequence[RunResult], best: RunResult) -> IterationAggregation:
    assert best.best_checkpoint is not None, "the best run has a checkpoint"
    configs = {}
    for config_id in dict.fromkeys(result.config_id for result in results):
        own = [r for r in results if r.config_id == config_id]
        scores = [r.selection_score for r in own if r.status == "completed" and r.selection_score is not None]
        returns = [r.final_return for r in own if r.final_return is not None]
        configs[config_id] = ConfigAggregate(
            mean_best_score=mean(scores) if scores else None,
            std_best_score=stdev(scores) if len(scores) > 1 else None,
            mean_final_return=mean(returns) if returns else None,
            std_final_return=stdev(returns) if len(returns) > 1 else None,
            per_seed=tuple(own),
        )
    return IterationAggregation(
        best_config_id=best.config_id,
        best_run_id=best.run_id,
        best_checkpoint=best.best_checkpoint,
        configs=configs,
    )


def _as_far_as_it_came(run: IterationRecord) -> RunResult:
    """Result of an incomplete run, with the numbers of its best evaluated checkpoint."""
    result = run_result(run)
    if result.status == "completed":
        return result
    kept = {one.step for one in run.checkpoints() if one.policy_path.exists() and one.read_evaluation() is not None}
    rows = {row["global_step"]: row for row in run.parse_scalars()[1] if row.get("global_step") in kept}
    if not rows:
        return result
    step, row = max(rows.items(), key=lambda item: _rank(item[1]))
    return result.model_copy(
        update={
            "best_checkpoint": step,
            "selection_score": row.get("intent_score"),
            "selection_success": row.get("success_rate"),
            "selection_return": row.get("mean_return"),
        }
    )


def _rank(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Sort key of a run's checkpoints, from the evaluation row."""
    return row.get("success_rate") or 0.0, row.get("intent_score") or 0.0, row.get("mean_return", float("-inf"))


def run_result(run: IterationRecord) -> RunResult:
    """Result of one run."""
    summary = run.read_summary()
    status = run.read_status()
    state = _end(run)
    if state is not JobState.COMPLETED or summary is None:
        error = status.error if status is not None and status.error else f"ended as {state} without a summary"
        failed = "cancelled" if state is JobState.CANCELLED else "error"
        return RunResult(run_id=run.iteration_id, config_id=run.config_id, seed=run.seed, status=failed, error=error)
    return RunResult(
        run_id=run.iteration_id,
        config_id=run.config_id,
        seed=run.seed,
        status="completed",
        final_return=summary.final_episodic_return,
        best_checkpoint=summary.best_checkpoint,
        selection_score=summary.best_selection_score,
        selection_success=summary.best_selection_success,
        selection_return=summary.best_selection_return,
    )


def _merit(result: RunResult) -> tuple[float, float, float]:
    """Sort key on selection rollouts: success rate, then score, then return."""
    return (
        result.selection_success if result.selection_success is not None else -1.0,
        result.selection_score if result.selection_score is not None else -1.0,
        result.selection_return if result.selection_return is not None else float("-inf"),
    )
