"""What trainings did: few numbers, and a plot on request."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from p2p.contracts.metrics import IterationComparison, MetricsKind, MetricsView
from p2p.contracts.work import MetricsPlot, PictureFile
from p2p.service.pictures.plotting import plot_metrics
from p2p.service.progress import comparing
from p2p.service.progress.metrics import metrics
from p2p.service.workspace import Workspace
from p2p_mcp.fields import Iteration, IterationNumber, RunId, SessionId
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.content import reply
from p2p_mcp.views.next_steps import after_metrics


class MetricsAnswer(MetricsView, Answer):
    """One view of an iteration's trainings."""

    plot: PictureFile | None
    """The picture in this result, relative to the runs directory; null where none was asked for."""
    next_step: str


class ComparisonAnswer(IterationComparison, Answer):
    """The first iteration against the second."""

    next_step: str


def get_metrics(
    ws: Workspace,
    session_id: SessionId,
    iteration: Iteration = None,
    view: Annotated[
        MetricsKind,
        Field(
            description="progress: where each run is; curve: returns and scores; terms: what each reward term "
            "contributed; dynamics: KL, clipping, explained variance; compare: against another iteration."
        ),
    ] = MetricsKind.PROGRESS,
    run_id: RunId = None,
    points: Annotated[int, Field(ge=2, le=50, description="Points of each curve.")] = 20,
    with_iteration: Iteration = None,
    plot: Annotated[bool, Field(description="With a picture of it; not for progress.")] = False,
) -> Annotated[CallToolResult, MetricsAnswer]:
    """Numbers of a training, also while it runs, small enough to read. Next: judge_videos.

    After a training look at view="terms": one term that dominates, or one that is always zero, is the usual fault.
    """
    shown = metrics(ws, session_id, iteration, view, run_id, points, with_iteration)
    made = None
    if plot and view is not MetricsKind.PROGRESS:
        other = shown.comparison.first.iteration if shown.comparison is not None else None
        made = plot_metrics(ws, session_id, shown.iteration, MetricsPlot(view.value), other).picture
    answer = MetricsAnswer(
        **{name: getattr(shown, name) for name in MetricsView.model_fields},
        plot=made,
        next_step=after_metrics(ws, shown),
    )
    return reply(answer, [ws.runs.path / made.path] if made is not None else [])


def compare_iterations(
    ws: Workspace, session_id: SessionId, first: IterationNumber, second: IterationNumber
) -> ComparisonAnswer:
    """Hold two trained iterations side by side: verdicts, criteria, and how reward and configuration differ.

    view_rollout(compare_with=...) shows their motions below one another.
    """
    found = comparing.compare_iterations(ws, session_id, first, second)
    show = f'view_rollout(session_id="{session_id}", iteration={second}, compare_with={first})'
    return ComparisonAnswer(
        **{name: getattr(found, name) for name in IterationComparison.model_fields},
        next_step=f'{show} shows both; revise_reward(session_id="{session_id}") goes on.',
    )
