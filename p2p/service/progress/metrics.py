"""Training metrics, short enough for a model to read."""

from collections.abc import Iterable
from typing import Any

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.metrics import Curve, IterationComparison, MetricsKind, MetricsView
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import RunLine
from p2p.contracts.training import RunSummary
from p2p.service.progress.comparing import compare_iterations, neighbour
from p2p.service.progress.curves import curve
from p2p.service.progress.session_view import run_progress
from p2p.service.rounding import short
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord

MIN_POINTS = 2
MAX_POINTS = 50
ROUNDED = ("steps_per_second", "eta_s", "episode_return", "success_rate")
"""Numbers of a run that are shown with few digits."""
TERM = "reward_term_"
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
    chosen = _shown_iteration(ws, session_id, iteration)
    runs = chosen.runs()
    aggregation = chosen.read_aggregation()
    if not runs:
        raise InvalidInput(
            f"Nothing of iteration {chosen.number} of {session_id} has been trained yet. "
            f"Train it: {Remedy.TRAIN.of(session=session_id)}."
        )
    best = aggregation.best_run_id if aggregation is not None else None
    wanted = _wanted(runs, run_id, best, kind)
    summaries = {run.iteration_id: summary for run in wanted if (summary := run.read_summary()) is not None}
    compared = kind is MetricsKind.COMPARE
    lines = {run.iteration_id: _run_line(ws, run) for run in runs}
    ended = [f"{name}: {text}" for name, summary in summaries.items() for text in summary.warnings]
    hints = [f"{run.iteration_id}: {hint}" for run in wanted if (hint := lines[run.iteration_id].hint)]
    return MetricsView(
        session_id=session_id,
        iteration=chosen.number,
        view=kind,
        best_run_id=best,
        runs=tuple(lines[run.iteration_id] for run in (runs if run_id is None else wanted)),
        curves=tuple(one for run in wanted for one in _curves(run, kind, points)),
        terms=_terms(summaries) if kind is MetricsKind.TERMS else {},
        dynamics=_dynamics(summaries) if kind is MetricsKind.DYNAMICS else {},
        warnings=(*ended, *hints),
        comparison=_compare(ws, session_id, chosen.number, with_iteration) if compared else None,
    )


def _compare(ws: Workspace, session_id: str, number: int, other: int | None) -> IterationComparison:
    return compare_iterations(ws, session_id, other if other is not None else neighbour(ws, session_id, number), number)


def _shown_iteration(ws: Workspace, session_id: str, number: int | None) -> IterationRecord:
    if number is not None:
        return ws.iteration_begun(session_id, number)
    iterations = ws.record(session_id).iteration_records()
    if not iterations:
        raise InvalidInput(
            f"{session_id} has no iteration yet: write a reward ({Remedy.WRITE_REWARD.of()}) and train it."
        )
    return iterations[-1]


def _run_line(ws: Workspace, run: IterationRecord) -> RunLine:
    progress = run_progress(run, ws.backend)
    line = {name: getattr(progress, name) for name in RunLine.model_fields}
    line |= {name: short(line[name]) for name in ROUNDED}
    return RunLine(**{**line, "criteria": {key: short(value) for key, value in progress.criteria.items()}})


def _wanted(
    runs: list[IterationRecord], run_id: str | None, best: str | None, kind: MetricsKind
) -> list[IterationRecord]:
    """Runs to show curves of."""
    names = [run.iteration_id for run in runs]
    if run_id is not None and run_id not in names:
        raise UnknownName("run", run_id, names)
    if run_id is None and kind in (MetricsKind.TERMS, MetricsKind.DYNAMICS):
        run_id = best or names[0]
    return [run for run in runs if run_id in (None, run.iteration_id)]


def _curves(run: IterationRecord, kind: MetricsKind, points: int) -> Iterable[Curve]:
    training, evaluations = run.parse_scalars()
    for name, key, rows in _series(kind, training, evaluations):
        if (found := curve(run.iteration_id, name, rows, key, points)) is not None:
            yield found


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
        yield from ((name, name, training) for name in DYNAMICS)


def _terms(summaries: dict[str, RunSummary]) -> dict[str, Any]:
    numbers = ("mean", "std", "minimum", "maximum", "share")
    return {
        run: tuple(term.model_copy(update={n: short(getattr(term, n)) for n in numbers}) for term in summary.terms)
        for run, summary in summaries.items()
    }


def _dynamics(summaries: dict[str, RunSummary]) -> dict[str, dict[str, float]]:
    return {run: {name: short(v) for name, v in summary.dynamics.items()} for run, summary in summaries.items()}
