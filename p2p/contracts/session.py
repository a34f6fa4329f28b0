"""Sessions: request, settings, status, events, iterations and analysis."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from p2p.contracts.base import Contract, FileName
from p2p.contracts.extension import Extension
from p2p.contracts.intent import Criterion
from p2p.contracts.job import JobState, Waiting
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.loggers import Loggers
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.reward_rules import MAX_CANDIDATES
from p2p.contracts.spending import Caps, Effort, Price
from p2p.contracts.start_policy import StartPolicy
from p2p.contracts.status import SessionStatus as SessionStatus
from p2p.contracts.training_plan import EarlyStop, TrainingPlan

SeedCount = Annotated[int, Field(ge=1, le=10, description="Trainings of each configuration.")]
PassThreshold = Annotated[float, Field(gt=0, le=1, description="Score needed to pass.")]
"""Which the report rollouts must reach."""


class SettingsRequest(Contract):
    """Settings to change; None leaves one as it is."""

    n_seeds: SeedCount | None = None
    """Trainings of each configuration."""
    pass_threshold: PassThreshold | None = None
    """Score needed to pass; only higher once a policy is measured."""
    stop_when_clear: bool | None = None
    """Whether a training ends when its verdict is clear."""


class SessionSettings(Contract):
    """The settings that may change, with their values."""

    n_seeds: int
    pass_threshold: float
    stop_when_clear: bool


class SettingsChange(Contract):
    """One change of a session's settings."""

    from_iteration: int
    """First iteration that is trained and judged by `after`."""
    by: str = Field(min_length=1, max_length=100)
    """Who changed them."""
    before: SessionSettings
    after: SessionSettings
    at: str
    """UTC, ISO 8601."""

    @property
    def words(self) -> tuple[str, ...]:
        """Each setting that changed, such as "n_seeds 2 → 3"."""
        old, new = self.before.model_dump(), self.after.model_dump()
        return tuple(f"{name} {old[name]} → {new[name]}" for name in old if old[name] != new[name])


class EventName(StrEnum):
    """What happened."""

    SESSION_STARTED = "session.started"
    SESSION_RESUMED = "session.resumed"
    SESSION_COMPLETED = "session.completed"
    SESSION_ERROR = "session.error"
    SETTINGS_CHANGED = "settings.changed"
    INTENT_ELICITED = "intent.elicited"
    ITERATION_STARTED = "iteration.started"
    REWARD_START = "reward.generate.start"
    REWARD_END = "reward.generate.end"
    REWARD_ERROR = "reward.generate.error"
    CANDIDATES_START = "candidates.start"
    CANDIDATES_END = "candidates.end"
    """Several rewards have had their short trainings, and one is chosen."""
    TRAIN_START = "train.start"
    TRAIN_END = "train.end"
    CHECKPOINT_JUDGED = "checkpoint.judged"
    """A run has measured a checkpoint on its selection rollouts."""
    JUDGE_START = "judge.start"
    JUDGE_END = "judge.end"
    GUARDRAIL = "guardrail.warning"
    ITERATION_COMPLETED = "iteration.completed"
    REVISE_START = "revise.start"
    REVISE_END = "revise.end"
    LLM_CALL = "llm.call"
    """A language model has answered, or failed to; `number` leads to the whole of it."""


class Event(Contract):
    """One line of the log."""

    seq: int
    """Gapless, from 1; continues when the log is opened again."""
    timestamp: str
    """UTC, ISO 8601."""
    event: EventName
    iteration: int | None = None
    data: dict[str, object] = {}
    duration_ms: int | None = None


Priority = Literal["low", "normal"]
"""Of trainings beside the machine's other processes: "low" gives way to them (niceness 10), "normal" does not (0)."""


class NewSession(Contract):
    """What is asked for, and the limits it is pursued within.

    Bounds, defaults and descriptions of the doors' options are those of its fields.
    """

    prompt: str = ""
    """The sentence; empty for a reward trained without an intent."""
    env_id: str = "HalfCheetah-v5"
    seed: int = Field(default=1, ge=0, lt=100, description="Seed of the session.")
    """Its runs use 10 x seed, 10 x seed + 1 …"""
    n_seeds: SeedCount = 2
    max_iterations: int = Field(default=3, ge=1, le=100, description="Most rewards to try.")
    pass_threshold: PassThreshold = 0.8
    n_report_rollouts: int = Field(default=50, ge=10, le=1000, description="Rollouts that are judged.")
    config: dict[str, object] = {}
    """Fields of `TrainConfig` set by the user; they win over the author's."""
    configs: dict[str, dict[str, object]] = {"baseline": {}}
    """Named variants trained side by side, each a set of `TrainConfig` fields; the first is the base."""
    preset: SkipJsonSchema[dict[str, object]] = Field(default={}, exclude_if=lambda fields: not fields)
    """Fields of `TrainConfig` that suit the kind of a robot from a model file (`p2p.training.presets.robot_preset`);
    empty for others. p2p fills them in, and the session keeps them when a later p2p would choose others."""
    n_configs: int = Field(
        default=1, ge=1, le=8, description="Configurations trained side by side: variants of the hyperparameters."
    )
    """Where it is more than `configs`, the author adds variants of the base."""
    author: str = "builtin"
    """Who writes: "builtin", "provider:model", or "given" for a reward handed in."""
    model: str = ""
    """`provider:model` that works for the session; empty means the author, where it is one."""
    light_model: str = ""
    """`provider:model` for small tasks; empty means `model`."""
    judge_model: str = ""
    """`provider:model` that looks at the pictures of each iteration; empty: no model looks."""
    judge_author: str = ""
    """`provider:model` that writes code for criteria without a predicate; empty leaves them all to eyes."""
    candidates: int = Field(
        default=1,
        ge=1,
        le=MAX_CANDIDATES,
        description="Rewards a model writes for each iteration; short trainings choose.",
    )
    from_policy: str = Field(
        default="",
        max_length=200,
        description="Kept policy that the first training goes on from: SESSION[:ITERATION[@STEP]].",
    )
    """Of the same observation and action. Empty: from zero."""
    resume_optimizer: bool = Field(default=False, description="Go on with the moments of that policy's optimiser.")
    """Otherwise it begins anew."""
    reward_only: bool = Field(default=False, description="Do not change the hyperparameters.")
    """No variants of them are trained either."""
    stop_when_clear: bool | None = Field(
        default=None,
        description="End a training at the second clear pass in a row; usual but for 'as fast as you can'.",
    )
    """By the measured criteria: `TrainConfig.stop_at_score` at `pass_threshold`. None, in a request alone: what is
    usual where the built-in author reads the sentence; False elsewhere."""
    priority: Priority = Field(
        default="low",
        description="low gives way to other processes; normal is for machines that are never idle.",
    )
    """Priority of its trainings; on a machine that is never idle, a low one gets almost no processor time."""
    effort: Effort = Field(default="medium", description="How hard the models think.")
    price: Price | None = None
    """Of a `model` that the price table does not know."""
    log: Loggers = Field(default=(), description="Loggers that show it elsewhere while it trains: tensorboard, wandb.")
    """Empty takes those of `P2P_LOG`."""
    caps: Caps = Caps()
    """What models and trainings may take at most."""

    @model_validator(mode="after")
    def _variants_need_hyperparameters(self) -> Self:
        if self.reward_only and self.n_configs > len(self.configs):
            raise ValueError(
                f"{self.n_configs} configurations are variants of the hyperparameters, and reward_only "
                "forbids changing them: choose one of the two, or give the configurations in configs"
            )
        return self

    @property
    def seeds(self) -> tuple[int, ...]:
        """Training seeds, different for every session seed."""
        return tuple(10 * self.seed + offset for offset in range(self.n_seeds))


class ExtendSession(Contract):
    """Changes for a session that extends another one; an empty field keeps the earlier value."""

    USUAL_ITERATIONS: ClassVar[int] = 3
    """Most rewards to try, where the earlier session had fewer and nothing is given."""

    wish: str = ""
    """Read by whoever writes the next reward."""
    criteria: tuple[Criterion, ...] = ()
    """Stricter ones, by key, and new ones."""
    max_iterations: int | None = Field(
        default=None, ge=1, le=100, description="Most rewards to try, the first included."
    )
    author: str = ""
    """`provider:model` that writes from now on."""
    priority: Priority | None = None
    caps: dict[str, float | None] = {}
    """Caps that change; each counts for the new session alone."""
    backend: str | None = None


class Session(NewSession):
    """A session as it is kept (`session.json`)."""

    session_id: str
    created_at: str
    """UTC, ISO 8601."""
    backend: str = ""
    """Backend that its trainings run on, as last chosen; empty where none was kept."""
    extends: Extension | None = None
    """The session it goes on from; None where it began with a sentence or a reward."""


class StatusRecord(Contract):
    """`status.json` of a session."""

    status: SessionStatus
    error: str | None = None
    updated_at: str
    """UTC, ISO 8601."""


class MetadataChange(Contract):
    """Changes to what a person added to a session; None keeps a field."""

    alias: str | None = None
    """An empty one removes it."""
    starred: bool | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


class IterationData(Contract):
    """One iteration in the history; the details are in its directory."""

    iteration: int
    iteration_dir: str
    intent_score: float | None
    verdict: Verdict
    success_rate: float | None
    diagnosis: str
    failure_tags: tuple[str, ...]
    best_run_id: FileName | None
    best_checkpoint: int | None
    final_return: float | None
    elapsed_time_s: float
    changes: tuple[str, ...] = ()
    """What this iteration changed, one line each."""
    based_on: int | None = None
    steps_saved: int = 0
    """Environment steps that its runs did not need to make."""
    from_policy: StartPolicy | None = None
    """The policy that its runs went on from, with the steps that had led to it; None from zero."""


class History(Contract):
    """`loop_history.json`."""

    session_id: str
    prompt: str
    env_id: str
    status: SessionStatus
    iterations: tuple[IterationData, ...] = ()
    best_iteration: int | None = None
    best_score: float | None = None
    pass_threshold: float
    error: str | None = None


class RunLine(Contract):
    """Where one training run is, or what it reached, in few numbers."""

    run_id: str
    state: str
    step: int
    total_timesteps: int
    steps_per_second: float | None
    eta_s: float | None
    """Expected time until it is trained and its checkpoints are evaluated [s]; None before its pace is known."""
    episode_return: float | None
    """Of the last training episodes."""
    success_rate: float | None = None
    """On the selection rollouts of the last evaluation."""
    criteria: dict[str, float | None] = {}
    """Measured value per criterion there."""
    inherited_steps: int = 0
    """Environment steps that had led to the policy that it went on from, which `step` does not count."""
    planned_steps: int = Field(default=0, exclude_if=lambda steps: not steps)
    """Steps that were simulated to plan motions to begin in, which `step` does not count either."""
    planning: bool = Field(default=False, exclude_if=lambda planning: not planning)
    """Whether it is still finding motions to begin in, before its first step."""
    error: str | None = None
    hint: str | None = None
    """While it is trained: one term takes the reward, and what is wanted stays at 0. None where that is not so."""
    early_stop: EarlyStop | None = None
    """Where and why its training ended before its last step; None while it runs, or where it did not."""


class RunProgress(RunLine):
    """Where one training run is, with all that is known of it."""

    returns: tuple[float, ...] = ()
    """Recent training returns, at most 60, oldest first."""
    waiting: Waiting | None = None
    """For which cores it waits; None when it does not."""
    resumed: int = 0
    """How often its training went on after an interruption; known when it has ended."""


class Artefacts(Contract):
    """Paths of what a session delivers, relative to the runs directory; None where not made yet."""

    policy: str | None = None
    reward: str | None = None
    video: str | None = None
    contact_sheet: str | None = None
    learning_curve: str | None = None
    judgment: str | None = None


class FilmProgress(Contract):
    """How the videos of all checkpoints stand, which are made after the end of their session."""

    state: JobState
    waiting: Waiting | None = None
    """Whose checkpoints are filmed first; None where it does not wait."""
    error: str | None = None


class SessionView(Contract):
    """A session at a glance: what `show`, `watch` and the MCP tools return."""

    session: Session
    status: SessionStatus
    error: str | None
    alive: bool
    """True while a process drives it, or trains one of its iterations."""
    waiting: Waiting | None = None
    """What the whole session waits for; None while any part of it goes on."""
    by_caller: bool = False
    """True where the caller asks for each step: between two steps no process is expected."""
    iteration: int
    step: str
    """"intent", "reward", "train", "judge", "revise" or "done"."""
    runs: tuple[RunProgress, ...]
    """Of the current iteration."""
    plan: TrainingPlan | None
    """How they share the machine; None before they are trained."""
    remaining_s: float | None
    """Expected time until all of them are trained and the iteration is judged [s]; None where nothing is trained, or
    the pace of a run under way is not known yet."""
    criteria: tuple[Criterion, ...]
    """What it is judged by; empty without an intent."""
    best_iteration: int | None
    judgment: Judgment | None
    """Of the best iteration so far."""
    history: tuple[IterationData, ...]
    artefacts: Artefacts
    film: FilmProgress | None = None
    """The videos of all its checkpoints; None before its end, or where none are made."""
    settings_changes: tuple[SettingsChange, ...] = ()
    """How its settings changed on the way, oldest first."""
    metadata: EntityMetadata = EntityMetadata()
    """What a person added: its alias, star and tags."""


class SessionAnalysis(Contract):
    """What was tried, what worked, and what to try next (`analysis.json`)."""

    session_id: str
    iterations: int
    """How many were judged when it was written."""
    analysis: str
    """In Markdown."""
    key_findings: tuple[str, ...]
    """Each with the number it rests on."""
    recommendations: tuple[str, ...]
    written_by: str
    """"builtin", or `provider:model`."""
    fallback: str = ""
    """Why the session's model did not write it; empty where it did, or there is none."""
