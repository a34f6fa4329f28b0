"""Sessions: begun with a sentence."""

from typing import Annotated, Any

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from pydantic import BaseModel, Field, ValidationError

from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion
from p2p.contracts.session import NewSession, Priority
from p2p.contracts.spending import Caps
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.authors import rules_of
from p2p.service.rewards.criteria import commands_asked, completed, intent_of
from p2p.service.sessions import lifecycle
from p2p.service.sessions.lifecycle import preview
from p2p.service.training.plan import commands_of
from p2p.service.workspace import Workspace
from p2p_mcp.criteria import corrected, derived, form, question
from p2p_mcp.fields import Criteria, EnvironmentId, EpisodeLength, argument
from p2p_mcp.views.sessions import NewSessionAnswer, previewed, state

Sentence = Annotated[
    str, Field(min_length=3, max_length=2000, description='What the robot is to do, in one sentence: "run forward".')
]
ExtendCriteria = Annotated[bool, Field(description="Add `criteria` to the derived ones instead of replacing them.")]
ConfirmCriteria = Annotated[
    bool, Field(description="Show derived criteria to the user for correction, where the client can.")
]
Config = Annotated[
    dict[str, Any] | None,
    Field(description='As {"total_timesteps": 500000, "learner": "sb3"}; reward_rules tell the rest.'),
]
DryRun = Annotated[
    bool, Field(description="Answer what it would be judged by, its configuration, time and cost; begin nothing.")
]
JudgeModel = Annotated[
    str, Field(max_length=200, description="provider:model that looks at the pictures; empty: you, or your client's.")
]

Author = Annotated[
    str,
    Field(max_length=200, description="provider:model that writes in run_session; empty: p2p's own. You write always."),
]
JudgeAuthor = Annotated[
    str, Field(max_length=200, description="provider:model that writes code to judge what predicates cannot say.")
]
CapsGiven = Annotated[
    dict[str, float | None] | None,
    Field(description="Limits on dollars, tokens, calls, minutes, environment_steps; null removes one."),
]
USUAL = NewSession()
MAX_ITERATIONS = 5
"""A model in a chat that writes rewards itself may try some more."""


def confirm(
    ws: Workspace,
    intent: str,
    environment: str,
    criteria: tuple[Criterion, ...] | None,
    confirm_criteria: bool,
    config: Config,
    ctx: Context[Any, Any],
) -> Elicit[BaseModel] | None:
    """Ask the user about derived criteria, where the client can."""
    kinds = ctx.client_capabilities.elicitation if ctx.client_capabilities is not None else None
    # a client that asks its user for us, and declares no kind of question, means forms
    shows_forms = kinds is not None and (kinds.form is not None or kinds.url is None)
    if criteria or not confirm_criteria or not shows_forms:
        return None
    found, _ = derived(ws, intent, environment, commands_of(config or {}))
    fields = form(found)
    return Elicit(question(found), fields) if fields is not None else None


def create_session(
    ws: Workspace,
    intent: Sentence,
    answer: Annotated[ElicitationResult[BaseModel], Resolve(confirm)],
    environment: EnvironmentId = USUAL.env_id,
    criteria: Criteria = None,
    extend_criteria: ExtendCriteria = False,
    confirm_criteria: ConfirmCriteria = True,  # noqa: ARG001  read by `confirm`
    seed: Annotated[int, argument(NewSession, "seed")] = USUAL.seed,
    n_seeds: Annotated[int, argument(NewSession, "n_seeds")] = USUAL.n_seeds,
    max_iterations: Annotated[int, argument(NewSession, "max_iterations")] = MAX_ITERATIONS,
    pass_threshold: Annotated[float, argument(NewSession, "pass_threshold")] = USUAL.pass_threshold,
    episode_s: EpisodeLength = None,
    config: Config = None,
    judge_model: JudgeModel = "",
    stop_when_clear: Annotated[bool | None, argument(NewSession, "stop_when_clear")] = USUAL.stop_when_clear,
    author: Author = "",
    judge_author: JudgeAuthor = "",
    n_configs: Annotated[int, argument(NewSession, "n_configs")] = USUAL.n_configs,
    reward_only: Annotated[bool, argument(NewSession, "reward_only")] = USUAL.reward_only,
    candidates: Annotated[int, argument(NewSession, "candidates")] = USUAL.candidates,
    caps: CapsGiven = None,
    priority: Annotated[Priority, argument(NewSession, "priority")] = USUAL.priority,
    dry_run: DryRun = False,
) -> NewSessionAnswer:
    """Begin to pursue one sentence in one environment; nothing is trained yet.

    Returns the criteria it will be judged by: show them to the user, and replace or extend them with steer_session
    if they miss what is meant. Then write_reward.
    """
    request = requested(
        prompt=intent,
        env_id=environment,
        seed=seed,
        n_seeds=n_seeds,
        max_iterations=max_iterations,
        pass_threshold=pass_threshold,
        config=dict(config or {}),
        judge_model=judge_model,
        stop_when_clear=stop_when_clear,
        author=author or "builtin",
        model=author,
        judge_author=judge_author,
        n_configs=n_configs,
        reward_only=reward_only,
        candidates=candidates,
        caps=dict(caps or {}),
        priority=priority,
    )
    request = completed(ws, request)
    environment = request.env_id  # from now on that of a model file, too
    given = criteria or ()
    commands = commands_asked(ws, request)
    note = ""
    if given and not extend_criteria:
        wanted = intent_of(ws, request.prompt, environment, given, episode_s, commands)
    else:
        found, note = derived(ws, request.prompt, environment, commands)
        keys = {criterion.key for criterion in given}
        kept = tuple(criterion for criterion in found.criteria if criterion.key not in keys)
        length = episode_s if episode_s is not None else found.episode_s
        wanted = intent_of(ws, request.prompt, environment, (*kept, *given), length, commands)
    if isinstance(answer, AcceptedElicitation) and isinstance(answer.data, BaseModel):
        wanted = intent_of(ws, intent, environment, corrected(wanted, answer.data), wanted.episode_s, commands)
    rules = rules_of(ws, request, wanted)
    if dry_run:
        return previewed(ws, preview(ws, request, intent=wanted), note, rules)
    session = lifecycle.create_session(ws, request, intent=wanted)
    shown = state(ws, view_session(ws, session.session_id))
    return NewSessionAnswer(**dict(shown), episode_s=wanted.episode_s, note=note, reward_rules=rules)


def requested(**fields: Any) -> NewSession:
    """The request made of a tool's arguments.

    Raises:
        InvalidInput: there is no such cap, or arguments contradict each other.
    """
    try:
        return NewSession(**fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        known = f" Caps: {', '.join(Caps.model_fields)}." if where.startswith("caps") else ""
        said = wrong["msg"].removeprefix("Value error, ")
        raise InvalidInput(f"{where}: {said}.{known}" if where else f"{said}.") from error
