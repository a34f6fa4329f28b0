"""From the service to what the dashboard shows."""

from collections.abc import Sequence
from statistics import fmean

from p2p.contracts.intent import Comparison, Criterion, Predicate
from p2p.contracts.iteration import IterationView
from p2p.contracts.job import JobState
from p2p.contracts.judgment import Judgment
from p2p.contracts.metrics import Curve, MetricsKind
from p2p.contracts.session import RunProgress, SessionView
from p2p.service.progress.details import view_iteration
from p2p.service.progress.metrics import metrics
from p2p.service.progress.session_view import view_session
from p2p.service.workspace import Workspace
from p2p_mcp.apps.data import CriterionLine, Dashboard, IterationLine
from p2p_mcp.views.next_steps import after_session

WORDS = {Comparison.AT_LEAST: "at least", Comparison.AT_MOST: "at most", Comparison.BETWEEN: "between"}
BUSY = (JobState.QUEUED, JobState.WAITING, JobState.SUBMITTING, JobState.RUNNING)
RETURN = "episode_return"
POINTS = 40
"""Most points of a curve."""


def collect(ws: Workspace, session_id: str, iteration: int | None = None) -> Dashboard:
    """One session as its dashboard shows it.

    Args:
        ws: where the session is.
        session_id: whose dashboard.
        iteration: the one to show; None for the newest, or the best of a session that has ended.

    Raises:
        UnknownName: there is no such session, or no such iteration.
    """
    view = view_session(ws, session_id)
    number = _chosen(view, iteration)
    details = view_iteration(ws, session_id, number) if number else None
    judgment = details.judgment if details is not None else None
    runs = details.runs if details is not None else ()
    done = sum(run.step for run in runs)
    total = sum(run.total_timesteps for run in runs)
    summary = [f"iteration {number} of at most {view.session.max_iterations}" if number else "nothing tried yet"]
    if number == view.iteration:
        summary.append(view.step)
    if total:
        summary.append(f"{done:,} of {total:,} steps")
    if number == view.iteration and view.remaining_s:
        summary.append(f"about {view.remaining_s:.0f} s left")
    judged = {entry.iteration: entry for entry in view.history}
    iterations = []
    for each in range(1, view.iteration + 1):
        entry = judged.get(each)
        score, changes = (entry.intent_score, entry.changes) if entry is not None else (None, ())
        iterations.append(IterationLine(iteration=each, score=score, changes=changes))
    return Dashboard(
        session_id=session_id,
        sentence=view.session.prompt,
        environment=view.session.env_id,
        status=str(view.status),
        finished=view.status.finished and not view.alive,
        live=view.alive or any(run.state in BUSY for run in runs),
        iteration=number,
        iterations=tuple(iterations),
        progress=done / total if total else None,
        summary=" · ".join(summary),
        returns=_curves(ws, session_id, number, MetricsKind.CURVE) if runs else (),
        terms=_curves(ws, session_id, number, MetricsKind.TERMS) if runs else (),
        criteria=_criteria(view.criteria, runs, judgment),
        verdict=str(judgment.verdict) if judgment is not None else None,
        score=judgment.intent_score if judgment is not None else None,
        diagnosis=judgment.diagnosis if judgment is not None else "",
        pictures=len(_pictures(details)),
        next_step=after_session(ws, view),
    )


def pictures_of(ws: Workspace, session_id: str, iteration: int | None = None) -> tuple[str, ...]:
    """Paths of the pictures of a dashboard, relative to the runs directory."""
    number = _chosen(view_session(ws, session_id), iteration)
    return _pictures(view_iteration(ws, session_id, number)) if number else ()


def _chosen(view: SessionView, iteration: int | None) -> int:
    best = view.best_iteration if view.status.finished else None
    return iteration or best or view.iteration


def _pictures(details: IterationView | None) -> tuple[str, ...]:
    return (details.contact_sheet,) if details is not None and details.contact_sheet is not None else ()


def _curves(ws: Workspace, session_id: str, number: int, kind: MetricsKind) -> tuple[Curve, ...]:
    """Returns of all runs, or the terms of one."""
    curves = metrics(ws, session_id, number, kind, points=POINTS).curves
    return tuple(curve for curve in curves if kind is MetricsKind.TERMS or curve.name == RETURN)


def _criteria(
    criteria: Sequence[Criterion], runs: Sequence[RunProgress], judgment: Judgment | None
) -> tuple[CriterionLine, ...]:
    """Each criterion with its value: the judged one, else the mean over the runs so far."""
    scores = {score.key: score for score in judgment.criteria} if judgment is not None else {}
    lines = []
    for criterion in criteria:
        measured = [value for run in runs if (value := run.criteria.get(criterion.key)) is not None]
        score = scores.get(criterion.key)
        lines.append(
            CriterionLine(
                key=criterion.key,
                title=criterion.title,
                required=criterion.required,
                target=_target(criterion),
                unit=_unit(criterion.predicate) if criterion.predicate is not None else "",
                value=score.value if score is not None else fmean(measured) if measured else None,
                met=score.met if score is not None else None,
            )
        )
    return tuple(lines)


def _target(criterion: Criterion) -> str:
    predicate = criterion.predicate
    if predicate is None:
        return "judged by eye"
    upper = f" and {predicate.upper:g}" if predicate.upper is not None else ""
    return f"{WORDS[predicate.comparison]} {predicate.threshold:g}{upper} {_unit(predicate)}".rstrip()


def _unit(predicate: Predicate) -> str:
    """Empty for a number without one, which is written "1" in contracts."""
    return "" if predicate.unit == "1" else predicate.unit
