"""Plots of a training's metrics."""

from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import MetricsPicture, MetricsPlot, PlotRequest, RunsToPlot
from p2p.service.pictures.picturing import best_of, compared_iteration, make_picture, pending_work, picture_file
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import path_from_view, state_of, view_record
from p2p.store.sessions import SessionRecord


def plot_metrics(
    ws: Workspace,
    session_id: str,
    iteration: int | None = None,
    view: MetricsPlot = MetricsPlot.CURVE,
    with_iteration: int | None = None,
    wait_s: float | None = None,
) -> MetricsPicture:
    """Plot the metrics of an iteration's training.

    Args:
        session_id: The session.
        iteration: Its number; None takes the best one, and before any is judged the newest.
        view: What of it.
        with_iteration: The second one of a comparison; None takes the one before, or after the first.
        wait_s: How long the caller can wait [s], as for a rollout.

    Raises:
        UnknownName: there is no such session or iteration.
        InvalidInput: no run has measured anything yet, or there is nothing to compare with.
        EnvironmentProblem: this machine is too busy to make it in `wait_s`.
    """
    record = ws.record(session_id)
    shown = _plotted(ws, record, iteration)
    chosen = [shown]
    if view is MetricsPlot.COMPARE:
        chosen += compared_iteration(ws, session_id, shown, with_iteration or _neighbour(record, shown.number))
    runs = {each.number: _best_first(each) for each in chosen}
    _require_metrics(ws, record, chosen, runs)
    session = record.read_session()
    order = PlotRequest(
        view=view,
        iterations=tuple(
            RunsToPlot(name=f"iteration {number}", runs=tuple(path_from_view(shown.path, run.path) for run in of_one))
            for number, of_one in runs.items()
        ),
        title=f"{session.env_id}, iteration {' and '.join(map(str, runs))}: {session.prompt}",
    )
    job = view_record(shown.path, order, state_of(run.scalars_path for of_one in runs.values() for run in of_one))
    result = make_picture(ws, job, "plot", order, wait_s)
    return MetricsPicture(
        session_id=session_id,
        iteration=shown.number,
        view=view,
        with_iteration=chosen[1].number if len(chosen) > 1 else None,
        picture=picture_file(ws, job.path, result, result.sheet),
    )


def _plotted(ws: Workspace, record: SessionRecord, number: int | None) -> IterationRecord:
    if number is not None:
        return ws.iteration_begun(record.session_id, number)
    iterations = record.iteration_records()
    if not iterations:
        raise InvalidInput(f"{record.session_id} has no iteration yet: nothing is measured. {pending_work(ws, record)}")
    return best_of(iterations) or iterations[-1]


def _require_metrics(
    ws: Workspace, record: SessionRecord, iterations: list[IterationRecord], runs: dict[int, list[IterationRecord]]
) -> None:
    for iteration in iterations:
        if not any(run.parse_scalars()[0] for run in runs[iteration.number]):
            raise InvalidInput(
                f"Iteration {iteration.number} of {record.session_id} has measured nothing yet. "
                f"{pending_work(ws, record)}"
            )


def _best_first(iteration: IterationRecord) -> list[IterationRecord]:
    aggregation = iteration.read_aggregation()
    best = aggregation.best_run_id if aggregation is not None else ""
    return sorted(iteration.runs(), key=lambda run: (run.iteration_id != best, run.iteration_id))


def _neighbour(record: SessionRecord, number: int) -> int:
    """Iteration before another, else the one after it."""
    others = [each.number for each in record.iteration_records() if each.number != number]
    if not others:
        raise InvalidInput(f"{record.session_id} has only iteration {number}: there is none to compare it with yet.")
    return min(others, key=lambda other: (abs(other - number), other))
