"""Sessions: one sentence, pursued until it passes or stops."""

from typing import Annotated, Any

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from pydantic import BaseModel, Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion, Intent
from p2p.contracts.session import IterationData, NewSession, SessionView
from p2p.service import Service
from p2p.service.wording import reward_constraints
from p2p_mcp.criteria import corrected, derived, form, question
from p2p_mcp.errors import in_tools, telling
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
    wishes: tuple[str, ...]
    """What the user has said since, the newest last."""
    error: str | None
    next_step: str


class NewSessionAnswer(SessionState):
    """A session that has just begun."""

    note: str
    """What is special about its criteria; mostly empty."""
    reward_rules: str
    """What a reward may import, read and return, and what its training may be changed to."""


class SteeringAnswer(Contract):
    """What is wanted of a session now."""

    session_id: str
    wishes: tuple[str, ...]
    """The newest last; every later revise_reward shows them."""
    criteria: tuple[Criterion, ...]
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


Sentence = Annotated[
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

    @telling
    def confirm(
        intent: str,
        environment: str,
        criteria: tuple[Criterion, ...] | None,
        confirm_criteria: bool,
        ctx: Context[Any, Any],
    ) -> Elicit[BaseModel] | None:
        """Ask the user about derived criteria, where the client can."""
        if criteria or not confirm_criteria or not _shows_forms(ctx):
            return None
        found, _ = derived(service, intent, environment)
        fields = form(found)
        return Elicit(question(found), fields) if fields is not None else None

    def create_session(  # noqa: PLR0913  one parameter per field of the request
        intent: Sentence,
        answer: Annotated[ElicitationResult[BaseModel], Resolve(confirm)],
        environment: EnvironmentId = "HalfCheetah-v5",
        criteria: Criteria = None,
        extend_criteria: Annotated[
            bool, Field(description="Add `criteria` to the derived ones instead of replacing them.")
        ] = False,
        confirm_criteria: Annotated[  # noqa: ARG001  read by `confirm`
            bool, Field(description="Show derived criteria to the user for correction, where the client can.")
        ] = True,
        seed: Annotated[int, Field(ge=0, lt=100, description="Seed of the session.")] = 1,
        n_seeds: Annotated[int, Field(ge=1, le=10, description="Trainings of each configuration.")] = 2,
        max_iterations: Annotated[int, Field(ge=1, le=100, description="Rewards tried at most.")] = 5,
        pass_threshold: Annotated[float, Field(gt=0, le=1, description="Score needed to pass.")] = 0.8,
        episode_s: Annotated[float | None, Field(gt=0, le=60, description="Length of the judged episodes [s].")] = None,
        config: Annotated[
            dict[str, Any] | None, Field(description="Fields of the training configuration: total_timesteps ...")
        ] = None,
    ) -> NewSessionAnswer:
        """Begin to pursue one sentence in one environment; nothing is trained yet.

        Returns the criteria it will be judged by: show them to the user, and replace or extend them with steer_session
        if they miss what is meant. Then write_reward.
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
        wanted, note = _criteria(service, request, criteria or (), extend_criteria, episode_s)
        if isinstance(answer, AcceptedElicitation) and isinstance(answer.data, BaseModel):
            wanted = service.intent_of(intent, environment, corrected(wanted, answer.data), wanted.episode_s)
        session = service.create_session(request, intent=wanted)
        shown = state(service, service.view_session(session.session_id))
        rules = reward_constraints(service.describe_environment(environment))
        return NewSessionAnswer(**dict(shown), note=note, reward_rules=rules)

    def steer_session(
        session_id: SessionId,
        wish: Annotated[
            str,
            Field(max_length=300, description='What the user wants besides: "land softer". Kept for all later steps.'),
        ] = "",
        criteria: Criteria = None,
        extend_criteria: Annotated[
            bool, Field(description="Keep the present criteria; one of the same key is replaced.")
        ] = True,
        episode_s: Annotated[float | None, Field(gt=0, le=60, description="Length of the judged episodes [s].")] = None,
    ) -> SteeringAnswer:
        """Say what the user wants besides: a wish at any time, other criteria before the first training.

        Wishes reach whoever writes the next reward through revise_reward.
        """
        if not wish.strip() and not criteria:
            raise InvalidInput("Give a wish, for example: land softer; or criteria, before the first training.")
        if criteria:
            service.replace_criteria(session_id, criteria, extend_criteria, episode_s)
        steering = service.steer(session_id, wish) if wish.strip() else service.wishes(session_id)
        view = service.view_session(session_id)
        return SteeringAnswer(
            session_id=session_id,
            wishes=steering.wishes,
            criteria=view.criteria,
            next_step=after_session(service, view),
        )

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
    toolbox.add(steer_session, "Steer session", TOOLSET, WRITES)


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
        wishes=service.wishes(session.session_id).wishes,
        error=in_tools(view.error) if view.error else None,
        next_step=after_session(service, view),
    )


def _shows_forms(ctx: Context[Any, Any]) -> bool:
    """Whether the client asks its user for us; one that declares no kind of question means forms."""
    kinds = ctx.client_capabilities.elicitation if ctx.client_capabilities is not None else None
    return kinds is not None and (kinds.form is not None or kinds.url is None)


def _criteria(
    service: Service, request: NewSession, given: tuple[Criterion, ...], extend: bool, episode_s: float | None
) -> tuple[Intent, str]:
    """What a new session is judged by, and what its caller should know of that."""
    if given and not extend:
        return service.intent_of(request.prompt, request.env_id, given, episode_s), ""
    found, note = derived(service, request.prompt, request.env_id)
    keys = {criterion.key for criterion in given}
    kept = tuple(criterion for criterion in found.criteria if criterion.key not in keys)
    length = episode_s if episode_s is not None else found.episode_s
    return service.intent_of(request.prompt, request.env_id, (*kept, *given), length), note


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
