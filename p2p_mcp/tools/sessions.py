"""Sessions: one sentence, pursued until it passes or stops."""

from typing import Annotated, Any

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import Criterion
from p2p.contracts.session import IterationData, NewSession, SessionView
from p2p.service import Service
from p2p_mcp.fields import EnvironmentId, SessionId
from p2p_mcp.next_steps import after_session
from p2p_mcp.toolbox import READS, WRITES, Toolbox

TOOLSET = "sessions"
PAGE = 20


class SessionState(Contract):
    """Where a session stands."""

    session_id: str
    intent: str
    environment: str
    status: str
    """"pending" while it waits for its next step; "passed" and "max_iterations" are ends."""
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
    error: str | None
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


class SessionList(Contract):
    """Sessions, newest first."""

    sessions: tuple[SessionLine, ...]
    next_offset: int | None
    """Pass it as `offset` for the rest; null at the end."""
    next_step: str


Intent = Annotated[
    str, Field(min_length=3, max_length=2000, description='What the robot is to do, in one sentence: "run forward".')
]
Criteria = Annotated[
    tuple[Criterion, ...] | None,
    Field(
        max_length=8,
        description="What it is judged by, fixed before anything is trained. null: p2p derives them from the "
        "sentence. Each has a predicate over the environment's features, or none for what only eyes can judge.",
    ),
]


def add(toolbox: Toolbox) -> None:
    """Offer them."""
    service = toolbox.service

    def create_session(  # noqa: PLR0913  one parameter per field of the request
        intent: Intent,
        environment: EnvironmentId = "HalfCheetah-v5",
        criteria: Criteria = None,
        extend_criteria: Annotated[
            bool, Field(description="Add `criteria` to the derived ones instead of replacing them.")
        ] = False,
        seed: Annotated[int, Field(ge=0, lt=100, description="Seed of the session.")] = 1,
        n_seeds: Annotated[int, Field(ge=1, le=10, description="Trainings of each configuration.")] = 2,
        max_iterations: Annotated[int, Field(ge=1, le=100, description="Rewards tried at most.")] = 5,
        pass_threshold: Annotated[float, Field(gt=0, le=1, description="Score needed to pass.")] = 0.8,
        episode_s: Annotated[float | None, Field(gt=0, le=60, description="Length of the judged episodes [s].")] = None,
        config: Annotated[
            dict[str, Any] | None, Field(description="Fields of the training configuration: total_timesteps ...")
        ] = None,
    ) -> SessionState:
        """Begin to pursue one sentence in one environment; nothing is trained yet.

        Returns the criteria it will be judged by: show them to the user, and call update_criteria if they miss what is
        meant. Then write_reward.
        """
        request = NewSession(
            prompt=intent,
            env_id=environment,
            seed=seed,
            n_seeds=n_seeds,
            max_iterations=max_iterations,
            pass_threshold=pass_threshold,
            config=dict(config or {}),
        )
        session_id = _create(service, request, criteria, extend_criteria, episode_s)
        return state(service, service.view_session(session_id))

    def get_session(session_id: SessionId) -> SessionState:
        """Where a session stands: criteria, judged iterations, best score, files, and what to call next."""
        return state(service, service.view_session(session_id))

    def list_sessions(
        offset: Annotated[int, Field(ge=0, description="How many of the newest to leave out.")] = 0,
    ) -> SessionList:
        """List the sessions of this runs directory, newest first, twenty at a time."""
        views = service.list_sessions()
        page = views[offset : offset + PAGE]
        more = offset + PAGE if len(views) > offset + PAGE else None
        return SessionList(
            sessions=tuple(_line(view) for view in page),
            next_offset=more,
            next_step="get_session(session_id=...)" if page else 'create_session(intent="...")',
        )

    toolbox.add(create_session, "Create session", TOOLSET, WRITES)
    toolbox.add(get_session, "Get session", TOOLSET, READS)
    toolbox.add(list_sessions, "List sessions", TOOLSET, READS)


def state(service: Service, view: SessionView) -> SessionState:
    """A session as tools show it."""
    session, judgment = view.session, view.judgment
    return SessionState(
        session_id=session.session_id,
        intent=session.prompt,
        environment=session.env_id,
        status=str(view.status),
        iteration=view.iteration,
        max_iterations=session.max_iterations,
        criteria=view.criteria,
        best_iteration=view.best_iteration,
        best_score=judgment.intent_score if judgment is not None else None,
        history=view.history[-10:],
        artefacts={name: path for name, path in view.artefacts.model_dump().items() if path is not None},
        runs_dir=str(service.runs.path),
        uri=f"p2p://sessions/{session.session_id}",
        error=view.error,
        next_step=after_session(service, view),
    )


def _create(
    service: Service, request: NewSession, criteria: tuple[Criterion, ...] | None, extend: bool, episode_s: float | None
) -> str:
    if criteria and not extend:
        intent = service.intent_of(request.prompt, request.env_id, criteria, episode_s)
        return service.create_session(request, intent=intent).session_id
    try:
        session_id = service.create_session(request).session_id
    except UnknownPhrase as error:
        raise UnknownPhrase(
            f"{error} Or pass `criteria` of your own to create_session, made of the features that "
            "describe_environment lists."
        ) from error
    if criteria:
        service.replace_criteria(session_id, criteria, extend, episode_s)
    return session_id


def _line(view: SessionView) -> SessionLine:
    session, judgment = view.session, view.judgment
    return SessionLine(
        session_id=session.session_id,
        intent=session.prompt,
        environment=session.env_id,
        status=str(view.status),
        iteration=view.iteration,
        best_score=judgment.intent_score if judgment is not None else None,
        created_at=session.created_at,
    )
