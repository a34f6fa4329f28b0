"""The workbench of an iteration: its rollouts, charts and criteria on one clock."""

import json
from typing import Annotated, Any

from fastapi import Form, Query, Request
from starlette.responses import Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion, needed
from p2p.contracts.iteration import IterationView
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.recording import RolloutLabel
from p2p.contracts.session import SessionView
from p2p.service.judging.labelling import label_rollout
from p2p.service.pictures.artefacts import read_reward
from p2p.service.progress.details import view_iteration
from p2p.service.progress.feature_marks import feature_marks
from p2p.service.progress.hyperparameters import hyperparameters
from p2p.service.progress.recordings import recordings
from p2p.service.progress.session_view import view_session
from p2p.web.arguments import Number, SessionId, Ws
from p2p.web.pages.actions import commands_of
from p2p.web.pages.clips import MOST, chosen, clips_of
from p2p.web.pages.labelling import RUBRIC
from p2p.web.pages.rendering import PageRoute, back_to, command, page
from p2p.web.pages.reward_text import formula, highlighted
from p2p.web.pages.strips import HEIGHT, WIDTH, strip
from p2p.web.router import Router
from p2p.web.sharing import SHARED

LABEL = "/e2e/{session_id}/iterations/{iteration_id}/label"
router = Router(include_in_schema=False, route_class=PageRoute)

Label = Annotated[str, Query(max_length=300, description="The first rollout.")]
With = Annotated[str, Query(alias="with", max_length=1000, description="The others, separated by commas.")]


@router.get("/e2e/{session_id}/iterations/{iteration_id}", openapi_extra=SHARED)
def workbench(
    ws: Ws, request: Request, session_id: SessionId, number: Number, label: Label = "", others: With = ""
) -> Response:
    """One iteration: its recorded rollouts, what they were judged by, and how they were trained."""
    session = view_session(ws, session_id)
    view = view_iteration(ws, session_id, number)
    clips = clips_of(recordings(ws, session_id, number))
    newest = [clip.key for clip in clips]
    shown = chosen(clips, [label, *others.split(",")], ["median", "p10"] if "median" in newest else newest[:1])
    try:
        source = read_reward(ws, session_id, number)
    except InvalidInput:  # not written yet
        source = ""
    spec = view.reward_report.spec if view.reward_report is not None else None
    return page(
        request,
        "workbench.html",
        tab="e2e",
        command=command("p2p", "show", session_id, "--iteration", number),
        actions=commands_of(LABEL, session_id=session_id, iteration_id=number),
        session=session,
        view=view,
        clips=clips,
        shown=shown,
        most=MOST,
        marks=as_json(feature_marks(session.criteria)),
        rubric=RUBRIC,
        reported=[clip.label for clip in clips if clip.checkpoint is None] if view.judgment is not None else (),
        needed=needed_of,
        plain_criterion=_unjudged,
        criteria=criteria_of(session, view),
        strip_size=(WIDTH, HEIGHT),
        formula=formula(spec.latex) if spec is not None else "",
        terms=spec.terms if spec is not None else (),
        source=highlighted(source),
        hyperparameters=hyperparameters(view.config),
    )


@router.post(LABEL, response_class=Response)
def score(
    ws: Ws,
    session_id: SessionId,
    number: Number,
    value: Annotated[float, Form(alias="score", ge=0, le=1)],
    annotator: Annotated[str, Form(min_length=1, max_length=100)],
    rollout: Annotated[RolloutLabel, Form()],
    comment: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Keep a person's score of a report rollout; no verdict changes."""
    label_rollout(ws, session_id, value, annotator, rollout=rollout, iteration=number, comment=comment)
    return back_to(f"/e2e/{session_id}/iterations/{number}?label={rollout}")


def criteria_of(session: SessionView, view: IterationView) -> list[dict[str, Any]]:
    """Criteria of an iteration with their dots, and what a chart over training needs of each."""
    judgment = view.judgment
    if judgment is None:
        return []
    margins = {one.key: one.predicate.margin for one in session.criteria if one.predicate is not None}
    return [
        {
            "score": one,
            "strip": strip(one, judgment.rollouts),
            "chart": as_json(_for_chart(one, margins.get(one.key), judgment.best_checkpoint)),
        }
        for one in judgment.criteria
    ]


def _unjudged(criterion: Criterion) -> str:
    """What a chart over training needs of a criterion that was not judged yet."""
    predicate = criterion.predicate
    kept = {"comparison", "threshold", "upper", "unit", "margin"}
    numbers = predicate.model_dump(mode="json", include=kept) if predicate is not None else {}
    return as_json({"key": criterion.key, "title": criterion.title, "judged": None, **numbers})


def needed_of(criterion: CriterionScore) -> str:
    """What a criterion asks for, in words."""
    return needed(criterion.comparison, criterion.threshold, criterion.upper, criterion.unit)


def _for_chart(criterion: CriterionScore, margin: float | None, step: int | None) -> dict[str, Any]:
    judged = None
    if step is not None and criterion.value is not None:
        judged = {"value": criterion.value, "low": criterion.low, "high": criterion.high, "step": step}
    kept = {"key", "title", "comparison", "threshold", "upper", "unit"}
    return {**criterion.model_dump(mode="json", include=kept), "margin": margin, "judged": judged}


def as_json(value: Any) -> str:
    """Data for a script, as text of an attribute."""
    if isinstance(value, tuple):
        value = [one.model_dump(mode="json") for one in value]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
