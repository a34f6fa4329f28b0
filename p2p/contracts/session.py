"""One intent, pursued until it passes or stops."""

from enum import StrEnum
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.budget import Caps
from p2p.contracts.candidates import MAX_CANDIDATES
from p2p.contracts.inference import Effort
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.revision import Extension
from p2p.contracts.session_settings import PassThreshold, SeedCount, SettingsChange
from p2p.contracts.training import EarlyStop, TrainingPlan
from p2p.contracts.usage import Price
from p2p.contracts.waiting import Waiting


class SessionStatus(StrEnum):
    """The life of a session."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    """Its process waits for its turn, or all its trainings for cores; never written, found out by whoever looks."""
    INTERRUPTED = "interrupted"
    """Nothing drives it any more, and it has not ended; never written, found out by whoever looks."""
    PASSED = "passed"
    COMPLETED = "completed"
    """A training without an intent has ended: there was nothing to pass."""
    MAX_ITERATIONS = "max_iterations"
    """Ended without passing."""
    CANCELLED = "cancelled"
    INVALID_CODE = "invalid_code"
    """No reward that loads and runs could be written."""
    RATE_LIMITED = "rate_limited"
    """The model's provider took no more requests, also after waiting; later it can go on."""
    AUTH_ERROR = "auth_error"
    """The model's provider refuses the key, or the account cannot pay."""
    BUDGET = "budget"
    """A cap was reached; with a larger one it can go on."""
    ERROR = "error"

    @property
    def finished(self) -> bool:
        """True when the loop has ended."""
        return self not in UNFINISHED


TOLD = (SessionStatus.WAITING, SessionStatus.INTERRUPTED)
"""Found out by whoever looks, and never written."""
UNFINISHED = (SessionStatus.PENDING, SessionStatus.RUNNING, *TOLD)


Priority = Literal["low", "normal"]
"""Of trainings beside the machine's other processes: "low" gives way to them (niceness 10), "normal" does not (0)."""


class NewSession(Contract):
    """What is asked for, and the limits it is pursued within."""

    prompt: str = ""
    """The sentence; empty for a reward trained without an intent."""
    env_id: str = "HalfCheetah-v5"
    seed: int = Field(default=1, ge=0, lt=100)
    """Seed of the session; its runs use 10 x seed, 10 x seed + 1 …"""
    n_seeds: SeedCount = 2
    """Trainings of each configuration."""
    max_iterations: int = Field(default=3, ge=1, le=100)
    pass_threshold: PassThreshold = 0.8
    """Score the report rollouts must reach."""
    n_report_rollouts: int = Field(default=50, ge=10, le=1000)
    config: dict[str, object] = {}
    """Fields of `TrainConfig` set by the user; they win over the author's."""
    configs: dict[str, dict[str, object]] = {"baseline": {}}
    """Named variants trained side by side, each a set of `TrainConfig` fields; the first is the base."""
    n_configs: int = Field(default=1, ge=1, le=8)
    """Configurations trained side by side: where it is more than `configs`, the author adds variants of the base."""
    author: str = "builtin"
    """Who writes: "builtin", "provider:model", or "given" for a reward handed in."""
    model: str = ""
    """`provider:model` that works for the session; empty means the author, where it is one."""
    light_model: str = ""
    """`provider:model` for small tasks; empty means the same."""
    judge_model: str = ""
    """`provider:model` that looks at the pictures of each iteration; empty means that nobody does in its loop."""
    judge_author: str = ""
    """`provider:model` that writes code for criteria without a predicate; empty leaves them all to eyes."""
    candidates: int = Field(default=1, ge=1, le=MAX_CANDIDATES)
    """Rewards that a model writes for each iteration; a short training of each chooses."""
    reward_only: bool = False
    """Whether authors leave the hyperparameters alone, so that variants of them are tried by nobody."""
    stop_when_clear: bool = False
    """Whether a training ends as soon as its verdict is clear: `TrainConfig.stop_at_score` at `pass_threshold`."""
    priority: Priority = "low"
    """Of its trainings; "normal" for machines that are never idle, where a low one gets next to nothing."""
    effort: Effort = "medium"
    """How hard the models think."""
    price: Price | None = None
    """Of a `model` that the price table does not know."""
    caps: Caps = Caps()
    """What models and trainings may take at most."""

    @model_validator(mode="after")
    def _variants_need_hyperparameters(self) -> Self:
        if self.reward_only and self.n_configs > len(self.configs):
            raise ValueError(
                f"{self.n_configs} configurations are variants of the hyperparameters, and reward_only has none "
                "of them changed: ask for one of the two, or name the configurations yourself in configs"
            )
        return self

    @property
    def seeds(self) -> tuple[int, ...]:
        """Training seeds, different for every session seed."""
        return tuple(10 * self.seed + offset for offset in range(self.n_seeds))


class ExtendSession(Contract):
    """What is wanted of a session that goes on as another one; empty leaves what it was."""

    USUAL_ITERATIONS: ClassVar[int] = 3
    """Rewards tried at most, where the earlier session had fewer and nothing is said."""

    wish: str = ""
    """Read by whoever writes the next reward."""
    criteria: tuple[Criterion, ...] = ()
    """Stricter ones, by key, and new ones."""
    max_iterations: int | None = Field(default=None, ge=1, le=100)
    """Rewards tried at most, the first included."""
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
    """Where its trainings run, as last said: "local", "ssh:NODE", "pool"; empty where nobody has kept it."""
    extends: Extension | None = None
    """The session it goes on from; None where it began with a sentence or a reward."""


class StatusRecord(Contract):
    """`status.json` of a session."""

    status: SessionStatus
    error: str | None = None
    updated_at: str
    """UTC, ISO 8601."""


class EntityMetadata(Contract):
    """What a person added to a session (`metadata.json`)."""

    alias: str = ""
    starred: bool = False
    tags: tuple[str, ...] = ()
    deleted_at: str | None = None
    """UTC, ISO 8601; a session that has it lies in the trash."""


class MetadataChange(Contract):
    """What is to be changed of what a person added to a session; None leaves it."""

    alias: str | None = None
    """Empty: it has none any more."""
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
    best_run_id: str | None
    best_checkpoint: int | None
    final_return: float | None
    elapsed_time_s: float
    changes: tuple[str, ...] = ()
    """What this iteration changed, one line each."""
    based_on: int | None = None
    steps_saved: int = 0
    """Environment steps that its runs did not need to make."""


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
    """Expected time until it is trained [s]; None before its pace is known."""
    episode_return: float | None
    """Of the last training episodes."""
    success_rate: float | None = None
    """On the selection rollouts of the last evaluation."""
    criteria: dict[str, float | None] = {}
    """Measured value per criterion there."""
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
    """True where its caller asks for each step: between two of them no process is there, and none is missing."""
    iteration: int
    step: str
    """"intent", "reward", "train", "judge", "revise" or "done"."""
    runs: tuple[RunProgress, ...]
    """Of the current iteration."""
    plan: TrainingPlan | None
    """How they share the machine; None before they are trained."""
    remaining_s: float | None
    """Expected time until all of them are trained [s]; None where nothing is trained, or no run is under way yet."""
    criteria: tuple[Criterion, ...]
    """What it is judged by; empty without an intent."""
    best_iteration: int | None
    judgment: Judgment | None
    """Of the best iteration so far."""
    history: tuple[IterationData, ...]
    artefacts: Artefacts
    settings_changes: tuple[SettingsChange, ...] = ()
    """How its settings changed on the way, oldest first."""
    metadata: EntityMetadata = EntityMetadata()
    """What a person added: its alias, star and tags."""
