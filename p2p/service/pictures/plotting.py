"""Plots of a training's metrics."""

from p2p.contracts.env import without_hash
from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import MetricsPicture, MetricsPlot, PlotRequest, RunsToPlot
from p2p.service.pictures.picturing import best_of, compared_iteration, make_picture, pending_work, picture_file
from p2p.service.progress.comparing import neighbour
from p2p.service.workspace import Workspace
from p2p.store.pictures import path_from_view, state_of, view_record


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
    iterations = record.iteration_records()
    if iteration is not None:
        shown = ws.iteration_begun(session_id, iteration)
    elif iterations:
        shown = best_of(iterations) or iterations[-1]
    else:
        raise InvalidInput(f"{session_id} has no iteration yet: nothing is measured. {pending_work(ws, record)}")
    chosen = [shown]
    if view is MetricsPlot.COMPARE:
        other = with_iteration or neighbour(ws, session_id, shown.number)
        chosen += compared_iteration(ws, session_id, shown, other)
    runs = {}
    for each in chosen:
        aggregation = each.read_aggregation()
        best = aggregation.best_run_id if aggregation is not None else ""
        runs[each.number] = sorted(each.runs(), key=lambda run: (run.iteration_id != best, run.iteration_id))
        if not any(run.parse_scalars()[0] for run in runs[each.number]):
            raise InvalidInput(
                f"Iteration {each.number} of {session_id} has measured nothing yet. {pending_work(ws, record)}"
            )
    session = record.read_session()
    order = PlotRequest(
        view=view,
        iterations=tuple(
            RunsToPlot(name=f"iteration {number}", runs=tuple(path_from_view(shown.path, run.path) for run in of_one))
            for number, of_one in runs.items()
        ),
        title=f"{without_hash(session.env_id)}, iteration {' and '.join(map(str, runs))}: {session.prompt}",
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
