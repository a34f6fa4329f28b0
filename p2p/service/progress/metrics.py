"""Training metrics, short enough for a model to read."""

from collections.abc import Iterable
from typing import Any

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.metrics import MetricsKind, MetricsView
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import RunLine
from p2p.service.progress.comparing import compare_iterations, neighbour
from p2p.service.progress.curves import curve
from p2p.service.progress.session_view import run_progress
from p2p.service.rounding import rounded_term, short
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord

MIN_POINTS = 2
MAX_POINTS = 50
ROUNDED = ("steps_per_second", "eta_s", "episode_return", "success_rate")
"""Numbers of a run that are shown with few digits."""
TERM = "reward_term_"
CURRICULUM = "curriculum_"
"""Of the columns that say where the curriculum of a training is."""
DYNAMICS = ("approx_kl", "clip_fraction", "explained_variance", "entropy", "policy_std", "value_loss")


def metrics(
    ws: Workspace,
    session_id: str,
    iteration: int | None = None,
    view: MetricsKind | str = MetricsKind.PROGRESS,
    run_id: str | None = None,
    points: int = MAX_POINTS,
    with_iteration: int | None = None,
) -> MetricsView:
    """One view of an iteration's training metrics, also while it trains.

    Args:
        session_id: Whose.
        iteration: Its number; None takes the newest.
        view: Which numbers.
        run_id: Only this run. None: for terms and dynamics the best run, or the first while there is none; for
            the others all.
        points: Of each curve, 2 … 50.
        with_iteration: The other iteration of `compare`; None takes the one before, or the one after the first.

    Raises:
        UnknownName: there is no such session, iteration, view or run.
        InvalidInput: `points` is out of range, or there is nothing to show or compare yet.
    """
    if view not in list(MetricsKind):
        raise UnknownName("view", str(view), [str(kind) for kind in MetricsKind])
    if not MIN_POINTS <= points <= MAX_POINTS:
        raise InvalidInput(f"points lies in {MIN_POINTS} … {MAX_POINTS}, got {points}.")
    kind = MetricsKind(view)
    iterations = ws.record(session_id).iteration_records()
    if iteration is not None:
        chosen = ws.iteration_begun(session_id, iteration)
    elif iterations:
        chosen = iterations[-1]
    else:
        raise InvalidInput(
            f"{session_id} has no iteration yet: write a reward ({Remedy.WRITE_REWARD.of()}) and train it."
        )
    runs = chosen.runs()
    aggregation = chosen.read_aggregation()
    if not runs:
        raise InvalidInput(
            f"Nothing of iteration {chosen.number} of {session_id} has been trained yet. "
            f"Train it: {Remedy.TRAIN.of(session=session_id)}."
        )
    best = aggregation.best_run_id if aggregation is not None else None
    names = [run.iteration_id for run in runs]
    if run_id is not None and run_id not in names:
        raise UnknownName("run", run_id, names)
    of_one = run_id
    if of_one is None and kind in (MetricsKind.TERMS, MetricsKind.DYNAMICS):
        of_one = best or names[0]
    wanted = [run for run in runs if of_one in (None, run.iteration_id)]
    summaries = {run.iteration_id: summary for run in wanted if (summary := run.read_summary()) is not None}
    terms = {name: tuple(rounded_term(term) for term in one.terms) for name, one in summaries.items()}
    dynamics = {name: {key: short(value) for key, value in one.dynamics.items()} for name, one in summaries.items()}
    comparison = None
    if kind is MetricsKind.COMPARE:
        other = with_iteration if with_iteration is not None else neighbour(ws, session_id, chosen.number)
        comparison = compare_iterations(ws, session_id, other, chosen.number)
    lines = {run.iteration_id: _run_line(ws, run) for run in runs}
    ended = [f"{name}: {text}" for name, summary in summaries.items() for text in summary.warnings]
    curves = []
    for run in wanted:
        series = _series(kind, *run.parse_scalars())
        found = [curve(run.iteration_id, name, rows, key, points) for name, key, rows in series]
        curves += [one for one in found if one is not None]
    hints = [f"{run.iteration_id}: {hint}" for run in wanted if (hint := lines[run.iteration_id].hint)]
    return MetricsView(
        session_id=session_id,
        iteration=chosen.number,
        view=kind,
        best_run_id=best,
        runs=tuple(lines[run.iteration_id] for run in (runs if run_id is None else wanted)),
        curves=tuple(curves),
        terms=terms if kind is MetricsKind.TERMS else {},
        dynamics=dynamics if kind is MetricsKind.DYNAMICS else {},
        warnings=(*ended, *hints),
        comparison=comparison,
    )


def _run_line(ws: Workspace, run: IterationRecord) -> RunLine:
    progress = run_progress(run, ws.backend)
    line = {name: getattr(progress, name) for name in RunLine.model_fields}
    line |= {name: short(line[name]) for name in ROUNDED}
    return RunLine(**{**line, "criteria": {key: short(value) for key, value in progress.criteria.items()}})


def _series(
    kind: MetricsKind, training: list[dict[str, Any]], evaluations: list[dict[str, Any]]
) -> Iterable[tuple[str, str, list[dict[str, Any]]]]:
    """Name, key and rows of each curve of a view."""
    if kind is MetricsKind.CURVE:
        yield "episode_return", "episodic_return", training
        yield "selection_score", "intent_score", evaluations
        yield "selection_success", "success_rate", evaluations
        yield "selection_return", "mean_return", evaluations
    elif kind is MetricsKind.TERMS:
        names = sorted({key for row in training for key in row if key.startswith(TERM)})
        yield from ((name.removeprefix(TERM), name, training) for name in names)
    elif kind is MetricsKind.DYNAMICS:
        changing = sorted({key for row in training for key in row if key.startswith(CURRICULUM)})
        yield from ((name, name, training) for name in (*DYNAMICS, *changing))
