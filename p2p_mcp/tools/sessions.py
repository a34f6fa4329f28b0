"""Sessions: looked at, listed and steered."""

from typing import Annotated

from pydantic import Field

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import PassThreshold, SeedCount, SessionAnalysis, SettingsRequest
from p2p.service.progress import listing
from p2p.service.progress.details import view_iteration
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.criteria import replace_criteria, tighten_criteria
from p2p.service.sessions import analyzing
from p2p.service.sessions.keeping import list_trash
from p2p.service.sessions.settings_changes import change_settings
from p2p.service.sessions.steering import steer, wishes
from p2p.service.workspace import Workspace
from p2p_mcp.fields import EpisodeLength, OtherCriteria, SessionId, Wish, argument
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.next_steps import after_session
from p2p_mcp.views.sessions import SessionList, SessionState, SteeringAnswer, line, state

PAGE = 20

KeepCriteria = Annotated[bool, Field(description="Keep the present criteria; one of the same key is replaced.")]
Why = Annotated[
    str, Field(description="What met the criteria and was not meant; `criteria` then make stricter, never looser.")
]
Seeds = Annotated[SeedCount | None, argument(SettingsRequest, "n_seeds")]
Threshold = Annotated[PassThreshold | None, argument(SettingsRequest, "pass_threshold")]
StopWhenClear = Annotated[bool | None, argument(SettingsRequest, "stop_when_clear")]
Starred = Annotated[bool, Field(description="Only those with a star.")]
Tag = Annotated[str | None, Field(max_length=40, description="Only those with this tag; null: all.")]
Deleted = Annotated[bool, Field(description="Those in the trash instead, the last deleted first.")]
Offset = Annotated[int, Field(ge=0, description="How many of the newest to leave out.")]


class SessionReport(SessionAnalysis, Answer):
    """What a session taught."""

    next_step: str


def get_session(ws: Workspace, session_id: SessionId) -> SessionState:
    """Where a session stands: criteria, judged iterations, best score, files, and what to call next."""
    view = view_session(ws, session_id)
    config = view_iteration(ws, session_id, view.iteration).config if view.iteration else None
    return state(ws, view).model_copy(update={"config": config})


def list_sessions(
    ws: Workspace, offset: Offset = 0, starred: Starred = False, tag: Tag = None, deleted: Deleted = False
) -> SessionList:
    """List the sessions of this runs directory, newest first, twenty at a time."""
    tags = () if tag is None else (tag,)
    views = list_trash(ws) if deleted else listing.list_sessions(ws, starred=starred, tags=tags)
    page = views[offset : offset + PAGE]
    more = offset + PAGE if len(views) > offset + PAGE else None
    return SessionList(
        sessions=tuple(line(view) for view in page),
        next_offset=more,
        next_step="get_session(session_id=...)" if page else 'create_session(intent="...")',
    )


def analyze_session(ws: Workspace, session_id: SessionId) -> SessionReport:
    """Report on a whole session: what was tried, what worked with its numbers, and what to try next.

    Written once for what is judged by then; by the session's model where it has one, which its caps pay.
    """
    report = analyzing.analyze_session(ws, session_id)
    return SessionReport(
        **report.model_dump(), next_step="Tell the user the findings; revise_reward tries what it recommends."
    )


def steer_session(
    ws: Workspace,
    session_id: SessionId,
    wish: Wish = "",
    criteria: OtherCriteria = None,
    extend_criteria: KeepCriteria = True,
    episode_s: EpisodeLength = None,
    why: Why = "",
    n_seeds: Seeds = None,
    pass_threshold: Threshold = None,
    stop_when_clear: StopWhenClear = None,
) -> SteeringAnswer:
    """Say what the user wants besides: a wish at any time, other criteria before a policy is measured by them.

    Wishes reach revise_reward. After eyes refused what met the criteria, stricter ones with `why`. Settings count
    for iterations whose training has not begun.
    """
    settings = SettingsRequest(n_seeds=n_seeds, pass_threshold=pass_threshold, stop_when_clear=stop_when_clear)
    if not wish.strip() and not criteria and episode_s is None and settings == SettingsRequest():
        raise InvalidInput("Give a wish, for example: land softer; a setting; or criteria, before the first training.")
    if criteria and why.strip():
        tighten_criteria(ws, session_id, criteria, why, by="calling_agent")
    elif criteria:
        replace_criteria(ws, session_id, criteria, extend_criteria, episode_s)
    elif episode_s is not None:
        replace_criteria(ws, session_id, (), extend=True, episode_s=episode_s)
    steering = steer(ws, session_id, wish) if wish.strip() else wishes(ws, session_id)
    if settings != SettingsRequest():
        change_settings(ws, session_id, settings, by="the calling agent")
        steering = wishes(ws, session_id)
    view = view_session(ws, session_id)
    return SteeringAnswer(
        session_id=session_id,
        wishes=steering.wishes,
        settings_changes=tuple(
            f"from iteration {one.from_iteration}: {', '.join(one.words)}" for one in steering.settings_changes
        ),
        criteria=view.criteria,
        next_step=after_session(ws, view),
    )
