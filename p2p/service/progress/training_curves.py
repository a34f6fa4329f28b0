"""Curves of the trainings of an iteration, for charts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.metrics import Curve
from p2p.contracts.training_curves import MAX_POINTS, EvaluationPoint, IterationCurves, RunCurves
from p2p.service.progress.thinning import thin
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.scalar_columns import STEP, read_columns

MIN_POINTS = 2
DIGITS = 6
"""Significant digits of a value."""


def curves(
    ws: Workspace,
    session_id: str,
    iteration: int,
    run_id: str | None = None,
    names: Sequence[str] | None = None,
    points: int = 1000,
    since: int | None = None,
) -> IterationCurves:
    """Curves of the runs of an iteration, also while they train, with their evaluations.

    Args:
        session_id: Whose.
        iteration: Its number.
        run_id: Only of this run; None for all.
        names: Columns of the metrics, such as "episodic_return" or "reward_term_speed"; None for all that there are.
            A name that a run does not have is left out.
        points: Of each curve about as many at most, 2 … 5000.
        since: Only what comes after this step; None for all.

    Raises:
        UnknownName: there is no such session, iteration or run.
        InvalidInput: `points` is out of range.
    """
    if not MIN_POINTS <= points <= MAX_POINTS:
        raise InvalidInput(f"points lies in {MIN_POINTS} … {MAX_POINTS}, got {points}.")
    chosen = ws.iteration_begun(session_id, iteration)
    runs = {run.iteration_id: run for run in chosen.runs()}
    if run_id is not None and run_id not in runs:
        raise UnknownName("run", run_id, runs)
    wanted = [run for name, run in runs.items() if run_id in (None, name)]
    aggregation = chosen.read_aggregation()
    return IterationCurves(
        session_id=session_id,
        iteration=iteration,
        best_run_id=aggregation.best_run_id if aggregation is not None else None,
        runs=tuple(_run_curves(run, names, points, since) for run in wanted),
    )


def _run_curves(run: IterationRecord, names: Sequence[str] | None, points: int, since: int | None) -> RunCurves:
    table = read_columns(run.scalars_path, names, since)
    config = run.read_config()
    found = []
    for name, column in table.columns.items():
        if kept := [point for point in thin(column, points) if since is None or point[0] > since]:
            steps = tuple(int(step) for step, _ in kept)
            values = tuple(None if value is None else float(f"{value:.{DIGITS}g}") for _, value in kept)
            found.append(Curve(run_id=run.iteration_id, name=name, steps=steps, values=values))
    return RunCurves(
        run_id=run.iteration_id,
        config_id=run.config_id,
        seed=run.seed,
        step=table.step,
        total_timesteps=config.total_timesteps if config is not None else 0,
        rows=table.rows,
        names=table.names,
        curves=tuple(found),
        evaluations=tuple(_point(run.iteration_id, row[STEP], row) for row in table.evaluations if STEP in row),
    )


def _point(run_id: str, step: int, row: Mapping[str, Any]) -> EvaluationPoint:
    return EvaluationPoint(
        run_id=run_id,
        step=step,
        mean_return=_finite(row.get("mean_return")),
        intent_score=_finite(row.get("intent_score")),
        success_rate=_finite(row.get("success_rate")),
        criteria=_numbers(row.get("criteria")),
        criteria_met=_numbers(row.get("criteria_met")),
    )


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _numbers(values: Any) -> dict[str, float | None]:
    return {key: _finite(value) for key, value in values.items()} if isinstance(values, dict) else {}
