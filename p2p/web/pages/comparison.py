"""Two iterations of a session, or the best ones of two sessions, side by side on one clock."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Form, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.metrics import SessionOutcome
from p2p.contracts.preference import ComparedPolicy, Side
from p2p.contracts.recording import RolloutLabel
from p2p.service.judging.preferring import person_prefers
from p2p.service.progress.comparing import compare_iterations, compare_sessions
from p2p.service.progress.details import view_iteration
from p2p.service.progress.feature_marks import feature_marks
from p2p.service.progress.hyperparameters import hyperparameter_pairs
from p2p.service.progress.recordings import recordings
from p2p.service.progress.session_view import view_session
from p2p.service.progress.word_diff import reward_diff
from p2p.service.workspace import Workspace
from p2p.web.arguments import Number, OtherSessionId, SessionId, Ws, number_of
from p2p.web.pages.actions import commands_of
from p2p.web.pages.clips import Clip, chosen, clips_of
from p2p.web.pages.rendering import PageRoute, back_to, command, page
from p2p.web.pages.strips import HEIGHT, WIDTH
from p2p.web.pages.workbench import Label, With, as_json, criteria_of, needed_of
from p2p.web.router import Router
from p2p.web.sharing import SHARED

PAIR = "/e2e/{session_id}/compare/{iteration_id}/{other_id}"
router = Router(include_in_schema=False, route_class=PageRoute)


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


@router.get(PAIR, openapi_extra=SHARED)
def compare(
    ws: Ws,
    request: Request,
    session_id: SessionId,
    number: Number,
    other_id: Annotated[str, Path(description="The other one.")],
    label: Label = "",
    others: With = "",
) -> Response:
    """Two iterations of a session side by side."""
    other = number_of(other_id)
    comparison = compare_iterations(ws, session_id, number, other)
    session = view_session(ws, session_id)
    views = [view_iteration(ws, session_id, one) for one in (number, other)]
    clips = [clip for one in (number, other) for clip in clips_of(recordings(ws, session_id, one), str(one))]
    wanted = label if label in list(RolloutLabel) else RolloutLabel.MEDIAN
    pair = [f"{one}.{wanted}" for one in (number, other)]
    shown = chosen(clips, [label, *others.split(",")], pair)
    return page(
        request,
        "compare.html",
        tab="e2e",
        command=command("p2p", "diff", session_id, number, other),
        actions=commands_of(PAIR, session_id=session_id, iteration_id=number, other_id=other),
        session=session,
        comparison=comparison,
        views=views,
        clips=clips,
        shown=shown,
        label=_label_of_both(shown),
        marks=as_json(feature_marks(session.criteria)),
        needed=needed_of,
        criteria=[criteria_of(session, view) for view in views],
        strip_size=(WIDTH, HEIGHT),
        diff=reward_diff(ws, session_id, number, other),
        hyperparameters=hyperparameter_pairs(views[0].config, views[1].config),
    )


@router.post(PAIR, response_class=Response)
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


@router.get("/compare")
def compare_selected(session: Annotated[list[str], Query(max_length=100)] = []) -> RedirectResponse:  # noqa: B006
    """The page that compares two sessions, which a list names as `session`."""
    if len(session) != 2:
        raise InvalidInput(f"Select two sessions to compare them; {len(session)} are selected.")
    return RedirectResponse(f"/compare/{session[0]}/{session[1]}", 303)


@router.get("/compare/{session_id}/{other_session_id}", openapi_extra=SHARED)
def compare_two(
    ws: Ws, request: Request, session_id: SessionId, other_id: OtherSessionId, label: Label = "", others: With = ""
) -> Response:
    """Two sessions: what their best iterations reached, by which criteria, settings and rewards."""
    found = compare_sessions(ws, session_id, other_id)
    sides = (found.first, found.second)
    sessions = [view_session(ws, side.session_id) for side in sides]
    views = [view_iteration(ws, side.session_id, side.best.iteration) if side.best else None for side in sides]
    clips = [clip for side, name in zip(sides, "ab", strict=True) for clip in _clips(ws, side, name)]
    wanted = label if label in list(RolloutLabel) else RolloutLabel.MEDIAN
    pair = [f"{name}.{wanted}" for name in "ab"]
    one, two = (side.best.iteration if side.best else None for side in sides)
    return page(
        request,
        "compare_sessions.html",
        tab="e2e",
        command=command("p2p", "diff", session_id, other_id),
        found=found,
        sides=sides,
        views=views,
        one_clock=found.first.env_id == found.second.env_id,
        clips=clips,
        shown=chosen(clips, [label, *others.split(",")], pair),
        marks=as_json(feature_marks(sessions[0].criteria)),
        needed=needed_of,
        criteria=[criteria_of(session, view) if view else [] for session, view in zip(sessions, views, strict=True)],
        strip_size=(WIDTH, HEIGHT),
        diff=reward_diff(ws, session_id, one, two, other_id) if one and two else None,
        swapped=f"/compare/{other_id}/{session_id}",
    )


def _clips(ws: Workspace, side: SessionOutcome, name: str) -> tuple[Clip, ...]:
    return clips_of(recordings(ws, side.session_id, side.best.iteration), name) if side.best else ()


def _label_of_both(shown: Sequence[Clip]) -> str | None:
    """Which report rollout both sides show; None where a preference would be about something else."""
    labels = {clip.label if clip.checkpoint is None else None for clip in shown}
    return labels.pop() if len(shown) == 2 and len(labels) == 1 else None
