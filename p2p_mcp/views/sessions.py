"""Sessions as tools show them."""

from p2p.contracts.base import Contract
from p2p.contracts.extension import Extension
from p2p.contracts.intent import Criterion, Preview
from p2p.contracts.job import in_words
from p2p.contracts.session import IterationData, SessionView
from p2p.contracts.training import EffectiveConfig
from p2p.service.sessions import steering
from p2p.service.workspace import Workspace
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.next_steps import after_session


class SessionState(Answer):
    """Where a session stands."""

    session_id: str
    intent: str
    environment: str
    status: str
    """"pending" before its next step is asked for, "waiting" for its turn or for cores, "interrupted" when what drove
    it is gone; "passed" is an end."""
    waiting: str | None
    """What it waits for, who holds that, its place, since when and for how long still; null when it does not wait."""
    iteration: int
    """The newest one; 0 before the first reward."""
    max_iterations: int
    criteria: tuple[Criterion, ...]
    """What it is judged by."""
    best_iteration: int | None
    best_score: float | None
    """In [0, 1]; None without a verdict."""
    history: tuple[IterationData, ...]
    """The judged iterations, oldest first."""
    artefacts: dict[str, str]
    """Paths of what it has delivered so far, relative to `runs_dir`."""
    runs_dir: str
    uri: str
    wishes: tuple[str, ...]
    """What the user has said since, the newest last."""
    extends: Extension | None
    """The session, and its iteration, from whose reward this one goes on; null where it began by itself."""
    error: str | None
    config: EffectiveConfig | None = None
    """Of the newest iteration: every field it is trained with, by who set it. Told by get_session alone."""
    next_step: str


class NewSessionAnswer(SessionState):
    """A session that has just begun."""

    episode_s: float | None
    """Length of the episodes it is judged in [s]; steer_session changes it before the first training. Null in a dry
    run whose criteria a model is to derive."""
    note: str
    """What is special about its criteria; mostly empty."""
    reward_rules: str
    """What a reward may import, read and return, and what its training may be changed to."""
    preview: dict[str, object] | None = None
    """Of a dry run, which begins nothing and has no session_id: config, n_runs, expected_s, cost, not_judged ..."""


class SteeringAnswer(Answer):
    """What is wanted of a session now."""

    session_id: str
    wishes: tuple[str, ...]
    """The newest last; every later revise_reward shows them."""
    settings_changes: tuple[str, ...]
    """How n_seeds, pass_threshold and stop_when_clear changed, and from which iteration on."""
    criteria: tuple[Criterion, ...]
    next_step: str


class ManagedSession(Answer):
    """A session as it is kept."""

    session_id: str
    alias: str
    starred: bool
    tags: tuple[str, ...]
    deleted_at: str | None
    """When it was moved to the trash; null when it is not there."""
    next_step: str


class SessionLine(Contract):
    """One session in a list."""

    session_id: str
    intent: str
    environment: str
    status: str
    iteration: int
    best_score: float | None
    created_at: str
    alias: str
    starred: bool
    tags: tuple[str, ...]
    extends: Extension | None


class SessionList(Answer):
    """Sessions, newest first."""

    sessions: tuple[SessionLine, ...]
    next_offset: int | None
    """Pass it as `offset` for the rest; null at the end."""
    next_step: str


def state(ws: Workspace, view: SessionView) -> SessionState:
    """A session as tools show it."""
    session = view.session
    judgment = view.judgment
    return SessionState(
        session_id=session.session_id,
        intent=session.prompt,
        environment=session.env_id,
        status=str(view.status),
        waiting=in_words(view.waiting) if view.waiting is not None else None,
        iteration=view.iteration,
        max_iterations=session.max_iterations,
        criteria=view.criteria,
        best_iteration=view.best_iteration,
        best_score=judgment.intent_score if judgment is not None else None,
        history=view.history[-10:],
        artefacts={name: path for name, path in view.artefacts.model_dump().items() if path is not None},
        runs_dir=str(ws.runs.path),
        uri=f"p2p://sessions/{session.session_id}",
        wishes=steering.wishes(ws, session.session_id).wishes,
        extends=session.extends,
        error=view.error or None,
        next_step=after_session(ws, view),
    )


def previewed(ws: Workspace, preview: Preview, note: str, rules: str) -> NewSessionAnswer:
    """A session that was not begun, as it would be."""
    intent = preview.intent
    return NewSessionAnswer(
        session_id="",
        episode_s=intent.episode_s if intent is not None else None,
        intent=preview.prompt,
        environment=preview.env_id,
        status="dry run",
        waiting=None,
        iteration=0,
        max_iterations=preview.max_iterations,
        criteria=intent.criteria if intent is not None else (),
        best_iteration=None,
        best_score=None,
        history=(),
        artefacts={},
        runs_dir=str(ws.runs.path),
        uri="",
        wishes=(),
        extends=None,
        error=None,
        next_step="Show the criteria to the user; then create_session(...) without dry_run.",
        note=note,
        reward_rules=rules,
        preview=preview.model_dump(mode="json", exclude={"intent", "prompt", "env_id", "max_iterations", "reward"}),
    )


def line(view: SessionView) -> SessionLine:
    """A session in a list."""
    session = view.session
    judgment = view.judgment
    return SessionLine(
        session_id=session.session_id,
        intent=session.prompt,
        environment=session.env_id,
        status=str(view.status),
        iteration=view.iteration,
        best_score=judgment.intent_score if judgment is not None else None,
        created_at=session.created_at,
        alias=view.metadata.alias,
        starred=view.metadata.starred,
        tags=view.metadata.tags,
        extends=session.extends,
    )


def managed(view: SessionView) -> ManagedSession:
    """What a person added to a session."""
    name = view.session.session_id
    kept = view.metadata
    again = f'manage_session(session_id="{name}", action="restore") brings it back.'
    return ManagedSession(
        session_id=name,
        **kept.model_dump(),
        next_step=again if kept.deleted_at is not None else f'get_session(session_id="{name}")',
    )
