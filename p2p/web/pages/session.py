"""The page of one session, and what is done from it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Form, Path, Query, Request
from starlette.responses import Response

from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.event_summary import EventSummary
from p2p.contracts.lineage_tree import LineageNode
from p2p.contracts.session import MetadataChange, SessionAnalysis, SessionView
from p2p.contracts.training_curves import IterationCurves, RunCurves
from p2p.service.models.session_models import costs, set_caps
from p2p.service.pictures.artefacts import media, read_reward, thumbnail
from p2p.service.progress.details import view_iteration
from p2p.service.progress.event_log import event, events
from p2p.service.progress.lineage_tree import lineage_tree
from p2p.service.progress.session_view import view_session
from p2p.service.progress.training_curves import curves
from p2p.service.sessions.analyzing import analyze_session, written_analysis
from p2p.service.sessions.driving import resume_session, stop_session
from p2p.service.sessions.keeping import delete_session, edit_session
from p2p.service.sessions.steering import steer, wishes
from p2p.service.workspace import Workspace
from p2p.web.arguments import SessionId, Ws
from p2p.web.files import version_of
from p2p.web.pages import charts
from p2p.web.pages.actions import commands_of
from p2p.web.pages.rendering import Address, PageRoute, back_to, command, page, visitor_of
from p2p.web.pages.sessions import Back, own
from p2p.web.router import Router
from p2p.web.sharing import SHARED

router = Router(
    prefix="/e2e/{session_id}", include_in_schema=False, route_class=PageRoute, default_response_class=Response
)
EVENTS = 80
"""Shown at most, the newest."""
RETURN = "episodic_return"
CURVE_POINTS = 200
FORMS = tuple(
    f"/e2e/{{session_id}}/{name}"
    for name in ("stop", "resume", "wish", "cap", "name", "star", "report", "delete", "compare")
)
"""What is done from the page."""
LABELS = ("median", "p10", "p90")
WIDTH, HEIGHT = 420, 180
"""Of a chart [px]."""


@dataclass(frozen=True)
class Video:
    """A video of a judged rollout."""

    label: str
    address: Address


@router.get("", openapi_extra=SHARED)
def session(
    ws: Ws, request: Request, session_id: SessionId, iteration: Annotated[int | None, Query(ge=1)] = None
) -> Response:
    """A session: how it stands, what it tried, what it reached; of one iteration more."""
    view = view_session(ws, session_id)
    tree = lineage_tree(ws, session_id)
    numbers = [node.iteration for node in tree.nodes]
    number = iteration or view.best_iteration or (numbers[-1] if numbers else None)
    chosen = view_iteration(ws, session_id, number) if number is not None else None
    running = numbers[-1] if numbers and not view.status.finished else None
    found = _curves(ws, session_id, running or number)
    owner = visitor_of(request).may_change
    return page(
        request,
        "session.html",
        tab="e2e",
        command=_command(view),
        actions=commands_of(*FORMS, session_id=session_id),
        view=view,
        session=view.session,
        tree=tree,
        score_chart=charts.scores(
            [(node.iteration, node.score, _success(node), node.verdict == "passed") for node in tree.nodes],
            view.session.pass_threshold,
            WIDTH,
            HEIGHT,
        ),
        chosen=chosen,
        number=number,
        running=running,
        shown=running or number,
        videos=_videos(ws, session_id, number),
        poster=_poster(ws, session_id, number),
        sheet=_sheet(ws, session_id, number),
        returns=_returns(found),
        evaluations=_evaluations(found, view.session.pass_threshold),
        runs=found.runs if found is not None else (),
        reward=_reward(ws, session_id, number),
        analysis=_analysis(ws, session_id),
        events=_events(ws, session_id) if owner else (),
        costs=costs(ws, session_id) if owner else None,
        wishes=wishes(ws, session_id) if owner else None,
    )


@router.get("/events/{seq}")
def whole_event(ws: Ws, request: Request, session_id: SessionId, seq: Annotated[int, Path(ge=1)]) -> Response:
    """One event, with the call of a model behind it."""
    found = event(ws, session_id, seq)
    return page(
        request,
        "event.html",
        tab="e2e",
        command=command("curl", "-H", "Authorization: Bearer TOKEN", f"…/api/sessions/{session_id}/events/{seq}"),
        session_id=session_id,
        event=found.event,
        data=found.event.model_dump(mode="json")["data"],
        call=found.call,
    )


@router.post("/stop")
def stop(ws: Ws, session_id: SessionId, back: Back = "") -> Response:
    """End its driver and trainings; finished work is kept."""
    stop_session(ws, session_id)
    return _back(session_id, back)


@router.post("/resume")
def resume(
    ws: Ws,
    session_id: SessionId,
    back: Back = "",
    max_iterations: Annotated[int | None, Form(ge=1, le=100)] = None,
) -> Response:
    """Go on with it; no finished step is repeated."""
    resume_session(ws, session_id, max_iterations=max_iterations)
    return _back(session_id, back)


@router.post("/wish")
def wish(ws: Ws, session_id: SessionId, wish: Annotated[str, Form(max_length=2000)], back: Back = "") -> Response:
    """Tell the model that writes the next reward what to do differently."""
    steer(ws, session_id, wish)
    return _back(session_id, back)


@router.post("/cap")
def cap(ws: Ws, session_id: SessionId, dollars: Annotated[float, Form(ge=0)], back: Back = "") -> Response:
    """Change what its models may cost."""
    set_caps(ws, session_id, dollars=dollars)
    return _back(session_id, back)


@router.post("/name")
def name(
    ws: Ws,
    session_id: SessionId,
    alias: Annotated[str, Form(max_length=200)] = "",
    tags: Annotated[str, Form(max_length=2000)] = "",
    back: Back = "",
) -> Response:
    """Give it an alias, and tags with commas between them."""
    present = view_session(ws, session_id).metadata
    wanted = tuple(dict.fromkeys(tag for tag in (" ".join(one.split()) for one in tags.split(",")) if tag))
    change = MetadataChange(
        alias=alias.strip(),
        add_tags=tuple(tag for tag in wanted if tag not in present.tags),
        remove_tags=tuple(tag for tag in present.tags if tag not in wanted),
    )
    edit_session(ws, session_id, change)
    return _back(session_id, back)


@router.post("/report")
def report(ws: Ws, session_id: SessionId, back: Back = "") -> Response:
    """Write the report; a model that writes rewards writes it too, within its caps."""
    analyze_session(ws, session_id)
    return _back(session_id, back)


@router.post("/delete")
def delete(ws: Ws, session_id: SessionId) -> Response:
    """Move it to the trash; its files stay."""
    delete_session(ws, session_id)
    return back_to("/e2e")


def _back(session_id: str, back: str) -> Response:
    return back_to(own(back) if back else f"/e2e/{session_id}")


def _command(view: SessionView) -> str:
    return command("p2p", "show" if view.status.finished else "watch", view.session.session_id)


def _curves(ws: Workspace, session_id: str, number: int | None) -> IterationCurves | None:
    if number is None:
        return None
    with suppress(P2PError):  # nothing has been trained yet
        return curves(ws, session_id, number, names=(RETURN,), points=CURVE_POINTS)
    return None


def _success(node: LineageNode) -> tuple[float, float, float] | None:
    """Share of its report rollouts that met everything required, and its 95 % interval; None without one."""
    if node.success_rate is None or node.success_low is None or node.success_high is None:
        return None
    return node.success_rate, node.success_low, node.success_high


def _name(run: RunCurves, runs: Sequence[RunCurves]) -> str:
    """Of its line in a chart: its seed; its configuration too where there are several."""
    several = len({one.config_id for one in runs}) > 1
    return f"{run.config_id} {run.seed}" if several else f"seed {run.seed}"


def _returns(found: IterationCurves | None) -> charts.LineChart | None:
    runs = found.runs if found is not None else ()
    series = [(_name(run, runs), curve.steps, curve.values) for run in runs for curve in run.curves]
    return charts.lines(series, WIDTH, HEIGHT, x_high=max((run.total_timesteps for run in runs), default=0))


def _evaluations(found: IterationCurves | None, threshold: float) -> charts.LineChart | None:
    runs = found.runs if found is not None else ()
    series = [
        (_name(run, runs), [point.step for point in run.evaluations], [point.intent_score for point in run.evaluations])
        for run in runs
        if run.evaluations
    ]
    last = max((run.total_timesteps for run in runs), default=0)
    return charts.lines(series, WIDTH, HEIGHT, x_high=last, span=(0.0, 1.0), threshold=threshold)


def _videos(ws: Workspace, session_id: str, number: int | None) -> Sequence[Video]:
    if number is None:
        return ()
    root = f"/api/sessions/{session_id}/iterations/{number}/videos"
    return [
        Video(label, Address(f"{root}/{name}?{urlencode({'v': version_of(path)})}"))
        for label in LABELS
        for name, path in media(ws, session_id, number, "videos").items()
        if path.stem.rpartition("_")[2] == label
    ]


def _poster(ws: Workspace, session_id: str, number: int | None) -> Address | None:
    found = thumbnail(ws.iteration_begun(session_id, number)) if number is not None else None
    return Address(f"/api/sessions/{session_id}/iterations/{number}/pictures/{found.name}") if found else None


def _sheet(ws: Workspace, session_id: str, number: int | None) -> Address | None:
    """The contact sheet of an iteration: what a browser shows that cannot play the video."""
    names = media(ws, session_id, number, "frames") if number is not None else ()
    name = next((name for name in names if name.startswith("contact_sheet")), None)
    return Address(f"/api/sessions/{session_id}/iterations/{number}/pictures/{name}") if name else None


def _reward(ws: Workspace, session_id: str, number: int | None) -> str:
    if number is not None:
        with suppress(InvalidInput):  # not written yet
            return read_reward(ws, session_id, number)
    return ""


def _analysis(ws: Workspace, session_id: str) -> SessionAnalysis | None:
    return written_analysis(ws, session_id)


def _events(ws: Workspace, session_id: str) -> Sequence[EventSummary]:
    last = events(ws, session_id, 0, 1).last
    return events(ws, session_id, max(0, last - EVENTS), EVENTS).events[::-1]
