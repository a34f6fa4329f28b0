"""What the runs of an iteration reached together."""

from collections.abc import Sequence
from statistics import mean, stdev

from p2p.contracts.job import JobState
from p2p.contracts.training import ConfigAggregate, IterationAggregation, RunResult
from p2p.store.iterations import IterationRecord


def aggregate(runs: Sequence[IterationRecord]) -> IterationAggregation | None:
    """All runs by configuration, and the best by selection rollouts; None when none completed.

    A failed run is listed with its error and enters no mean.
    """
    results = [run_result(run) for run in runs]
    completed = [result for result in results if result.status == "completed"]
    if not completed:
        return None
    best = max(completed, key=_merit)
    assert best.best_checkpoint is not None, "a completed run has a checkpoint"
    config_ids = list(dict.fromkeys(result.config_id for result in results))
    return IterationAggregation(
        best_config_id=best.config_id,
        best_run_id=best.run_id,
        best_checkpoint=best.best_checkpoint,
        configs={
            config_id: _config_aggregate([r for r in results if r.config_id == config_id]) for config_id in config_ids
        },
    )


def run_result(run: IterationRecord) -> RunResult:
    """One run, as it ended; one whose supervisor was killed still calls itself running, and is lost."""
    summary, status = run.read_summary(), run.read_status()
    state = status.state if status is not None and status.state.finished else JobState.LOST
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
    """Success rate first, then score, then return, all on selection rollouts."""
    return (
        result.selection_success if result.selection_success is not None else -1.0,
        result.selection_score if result.selection_score is not None else -1.0,
        result.selection_return if result.selection_return is not None else float("-inf"),
    )


def _config_aggregate(results: list[RunResult]) -> ConfigAggregate:
    scores = [r.selection_score for r in results if r.selection_score is not None]
    returns = [r.final_return for r in results if r.final_return is not None]
    return ConfigAggregate(
        mean_best_score=mean(scores) if scores else None,
        std_best_score=stdev(scores) if len(scores) > 1 else None,
        mean_final_return=mean(returns) if returns else None,
        std_final_return=stdev(returns) if len(returns) > 1 else None,
        per_seed=tuple(results),
    )
