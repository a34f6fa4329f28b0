"""Brief for the author of the next reward, and report on a submitted reward."""

from pydantic import Field

from p2p.contracts.advice import Advice
from p2p.contracts.base import Contract
from p2p.contracts.judgment import Observation, Verdict
from p2p.contracts.reward import Change, RewardReport, TermStatistics
from p2p.contracts.session import SettingsChange
from p2p.contracts.start_policy import StartDecision
from p2p.contracts.training import EffectiveConfig
from p2p.contracts.training_plan import EarlyStop


class DraftReport(Contract):
    """A reward that was handed in, and what trying it on real transitions showed."""

    iteration: int
    """Iteration it was submitted for."""
    report: RewardReport
    source: str
    """Worth reading when somebody else wrote it."""
    config: EffectiveConfig = EffectiveConfig()
    """What it will be trained with, and who set each field."""
    start: StartDecision | None = None
    """Whether it is to go on from the policy of the reward it was changed from; None for a first reward."""


class CriterionBrief(Contract):
    """How one criterion was met."""

    key: str
    title: str
    required: bool
    wanted: str
    """">= 3 m/s"; "by eyes" where code cannot measure it."""
    value: float | None
    """Mean of what was measured; None where nothing could be."""
    met: bool
    met_share: float
    """Of the rollouts, in [0, 1]."""
    score: float


class AttemptLine(Contract):
    """One judged iteration in the table of attempts."""

    iteration: int
    based_on: int | None
    changes: tuple[str, ...]
    """What it changed, one line each."""
    verdict: Verdict
    score: float | None
    success_rate: float | None
    failure_tags: tuple[str, ...]
    lesson: str


class Suggestion(Contract):
    """What the built-in author would change; used when no source is submitted."""

    based_on: int
    diagnosis: str
    lesson: str
    changes: tuple[Change, ...]


class RevisionBrief(Contract):
    """Everything the writer of the next reward needs, and nothing else: about 12 kB as JSON."""

    session_id: str
    iteration: int
    """Iteration it is about."""
    best_iteration: int | None
    """The best so far; its reward is the one to change."""
    iterations_left: int
    prompt: str
    env_id: str
    verdict: Verdict
    score: float | None
    pass_threshold: float
    success_rate: float | None
    diagnosis: str
    failure_tags: tuple[str, ...]
    criteria: tuple[CriterionBrief, ...]
    observation: Observation | None
    """What eyes saw; None where code judged alone."""
    terms: tuple[TermStatistics, ...]
    """Per step, of the best run's chosen checkpoint."""
    dynamics: dict[str, float]
    """Numbers of the best run's training."""
    warnings: tuple[str, ...]
    """What looks wrong in them."""
    advice: tuple[Advice, ...] = ()
    """What the course of the training says to do next, the most promising first."""
    early_stop: EarlyStop | None = None
    """Where and why it ended before its last step: more steps would not have been made. None where it did not."""
    config_changes: dict[str, object]
    """What its reward asked to be trained with, on top of the environment's preset."""
    pinned: tuple[str, ...]
    """Fields of the configuration that the session fixed: changing them changes nothing."""
    attempts: tuple[AttemptLine, ...]
    """Oldest first, at most the last ten."""
    wishes: tuple[str, ...]
    """What the person who asked has said since; the newest last."""
    constraints: str
    """What a reward may import, read and return, and what the configuration may be changed to."""
    suggestion: Suggestion | None
    """None where the built-in author has none."""
    goes_on: StartDecision | None = None
    """Whether the next training can go on from this iteration's policy, as far as its reward changes little."""
    source: str
    """The reward of this iteration."""


class Wish(Contract):
    """What a person said while a session was under way."""

    text: str = Field(min_length=1, max_length=300)
    iteration: int
    """The newest one then; 0 before the first."""
    said_at: str
    """UTC, ISO 8601."""


class Steering(Contract):
    """What a person changed of a session on the way, oldest first."""

    session_id: str
    wishes: tuple[str, ...]
    settings_changes: tuple[SettingsChange, ...] = ()
