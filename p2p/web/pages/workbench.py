"""The workbench of an iteration, and two iterations side by side: rollouts, charts and criteria on one clock."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion, needed
from p2p.contracts.iteration import IterationView
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.preference import ComparedPolicy, Side
from p2p.contracts.recording import RolloutLabel
from p2p.contracts.session import SessionView
from p2p.service.judging.labelling import label_rollout
from p2p.service.judging.preferring import person_prefers
from p2p.service.pictures.artefacts import read_reward
from p2p.service.progress.comparing import compare_iterations
from p2p.service.progress.details import view_iteration
from p2p.service.progress.feature_marks import feature_marks
from p2p.service.progress.hyperparameters import hyperparameter_pairs, hyperparameters
from p2p.service.progress.recordings import recordings
from p2p.service.progress.session_view import view_session
from p2p.service.progress.word_diff import reward_diff
from p2p.web.arguments import Number, SessionId, Ws, number_of
from p2p.web.pages.clips import MOST, chosen, clips_of
from p2p.web.pages.labelling import RUBRIC
from p2p.web.pages.rendering import PageRoute, back_to, command, page
from p2p.web.pages.reward_text import formula, highlighted
from p2p.web.pages.strips import HEIGHT, WIDTH, strip
from p2p.web.sharing import SHARED

router = APIRouter(include_in_schema=False, route_class=PageRoute)

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
        session=session,
        view=view,
        clips=clips,
        shown=shown,
        most=MOST,
        marks=_json(feature_marks(session.criteria)),
        rubric=RUBRIC,
        reported=[clip.label for clip in clips if clip.checkpoint is None] if view.judgment is not None else (),
        needed=_needed,
        plain_criterion=_unjudged,
        criteria=_criteria(session, view),
        strip_size=(WIDTH, HEIGHT),
        formula=formula(spec.latex) if spec is not None else "",
        terms=spec.terms if spec is not None else (),
        source=highlighted(source),
        hyperparameters=hyperparameters(view.config),
    )


@router.get("/e2e/{session_id}/compare", openapi_extra=SHARED)
def compare_by_query(
    request: Request,
    session_id: SessionId,
    a: Annotated[int | None, Query(ge=1)] = None,
    b: Annotated[int | None, Query(ge=1)] = None,
    of: Annotated[list[int], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
) -> RedirectResponse:
    """The page that compares two iterations, by an address that names them in its query: `a` and `b`, or two `of`."""
    if a is None or b is None:
        if len(of) != 2:
            raise InvalidInput(f"Select two iterations to compare them; {len(of)} are selected.")
        a, b = sorted(of)
    named = ("a", "b", "of")
    rest = "&".join(part for part in request.url.query.split("&") if part.partition("=")[0] not in named)
    return RedirectResponse(f"/e2e/{session_id}/compare/{a}/{b}{'?' if rest else ''}{rest}", 303)


@router.get("/e2e/{session_id}/compare/{iteration_id}/{other_id}", openapi_extra=SHARED)
def compare(
    ws: Ws,
    request: Request,
    session_id: SessionId,
    number: Number,
    other_id: Annotated[str, Path(description="The other one.")],
    label: Label = "",
) -> Response:
    """Two iterations of a session side by side."""
    other = number_of(other_id)
    comparison = compare_iterations(ws, session_id, number, other)
    of_both = f"api/sessions/{session_id}/iterations/{number}/compare/{other}"
    session = view_session(ws, session_id)
    views = [view_iteration(ws, session_id, one) for one in (number, other)]
    clips = [clip for one in (number, other) for clip in clips_of(recordings(ws, session_id, one), own=False)]
    wanted = label if label in list(RolloutLabel) else RolloutLabel.MEDIAN
    pair = [f"{one}.{wanted}" for one in (number, other)]
    return page(
        request,
        "compare.html",
        tab="e2e",
        command=f'curl -H "Authorization: Bearer $P2P_WEB_TOKEN" {request.base_url}{of_both}',
        session=session,
        comparison=comparison,
        views=views,
        clips=clips,
        shown=chosen(clips, pair, ()),
        label=wanted,
        marks=_json(feature_marks(session.criteria)),
        needed=_needed,
        criteria=[_criteria(session, view) for view in views],
        strip_size=(WIDTH, HEIGHT),
        diff=reward_diff(ws, session_id, number, other),
        hyperparameters=hyperparameter_pairs(views[0].config, views[1].config),
    )


@router.post("/e2e/{session_id}/compare/{iteration_id}/{other_id}", response_class=Response)
def prefer(
    ws: Ws,
    session_id: SessionId,
    number: Number,
    other_id: str,
    better: Annotated[Side, Form()],
    reason: Annotated[str, Form(min_length=1, max_length=1000)],
    label: Annotated[RolloutLabel, Form()] = RolloutLabel.MEDIAN,
) -> Response:
    """Keep which of the two a person finds better, who has watched their videos; no verdict changes."""
    other = number_of(other_id)
    pair = (ComparedPolicy(iteration=number), ComparedPolicy(iteration=other))
    person_prefers(ws, session_id, pair, better, reason, label)
    return back_to(f"/e2e/{session_id}/compare/{number}/{other}?label={label}")


@router.post("/e2e/{session_id}/iterations/{iteration_id}/label", response_class=Response)
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


def _criteria(session: SessionView, view: IterationView) -> list[dict[str, Any]]:
    """Criteria of an iteration with their dots, and what a chart over training needs of each."""
    judgment = view.judgment
    if judgment is None:
        return []
    margins = {one.key: one.predicate.margin for one in session.criteria if one.predicate is not None}
    return [
        {
            "score": one,
            "strip": strip(one, judgment.rollouts),
            "chart": _json(_for_chart(one, margins.get(one.key), judgment.best_checkpoint)),
        }
        for one in judgment.criteria
    ]


def _unjudged(criterion: Criterion) -> str:
    """What a chart over training needs of a criterion that was not judged yet."""
    predicate = criterion.predicate
    kept = {"comparison", "threshold", "upper", "unit", "margin"}
    numbers = predicate.model_dump(mode="json", include=kept) if predicate is not None else {}
    return _json({"key": criterion.key, "title": criterion.title, "judged": None, **numbers})


def _needed(criterion: CriterionScore) -> str:
    return needed(criterion.comparison, criterion.threshold, criterion.upper, criterion.unit)


def _for_chart(criterion: CriterionScore, margin: float | None, step: int | None) -> dict[str, Any]:
    judged = None
    if step is not None and criterion.value is not None:
        judged = {"value": criterion.value, "low": criterion.low, "high": criterion.high, "step": step}
    kept = {"key", "title", "comparison", "threshold", "upper", "unit"}
    return {**criterion.model_dump(mode="json", include=kept), "margin": margin, "judged": judged}


def _json(value: Any) -> str:
    if isinstance(value, tuple):
        value = [one.model_dump(mode="json") for one in value]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
