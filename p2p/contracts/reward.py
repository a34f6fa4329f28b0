"""Rewards: source, check and report; revisions; several candidates for one iteration."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.extension import Extension
from p2p.contracts.reward_rules import MAX_CANDIDATES, Method
from p2p.contracts.start_policy import StartDecision, StartPolicy


class RewardTerm(Contract):
    """One summand of a reward."""

    name: str
    description: str
    latex: str = ""


class RewardSpec(Contract):
    """What a reward says about itself."""

    latex: str
    terms: tuple[RewardTerm, ...]
    description: str = ""


class TermStatistics(Contract):
    """Values one term took on the transitions it was checked on, or in training."""

    name: str
    mean: float
    std: float
    minimum: float
    maximum: float
    share: float
    """|mean| over the sum of all terms' |mean|, in [0, 1]."""


class RewardIssue(Contract):
    """One thing that is wrong, or looks wrong, with a reward."""

    severity: str
    """"error" stops the training, "warning" is shown."""
    message: str
    """What was expected, what came, what to do next."""
    line: int | None = None
    """Line in the source; None when no single line is to blame."""
    mend: bool = False
    """Whether it goes back to its author before training, though it stops nothing: it breaks the contract."""


class MotionPay(Contract):
    """What a reward pays for a known motion."""

    name: str
    score: float = Field(ge=0, le=1)
    """How much of what was asked it shows, by the criteria."""
    pay: float
    """Mean reward per step; 0 from the end of the episode on, where an unhealthy state ends it."""


class RewardRanking(Contract):
    """How a reward ranks known motions of its robot, against how the criteria rank them."""

    motions: tuple[MotionPay, ...]
    """What is paid most comes first."""
    correlation: float | None
    """Spearman's rank correlation of pay and score; None where one of them is always the same."""
    inversions: tuple[str, ...] = ()
    """Pairs that are paid against the criteria, the worst first."""


class ProbedCriterion(Contract):
    """One criterion over a probe training, measured on the selection rollouts at each of its steps."""

    key: str
    title: str
    unit: str
    wanted: str
    """What meets it, in words."""
    weight: float
    """In the score; the heaviest say what the sentence is about, the others how it is done."""
    values: tuple[float | None, ...]
    """Mean measured value; None where no rollout could be measured."""
    met_shares: tuple[float, ...]
    """Share of the rollouts that met it."""
    met: bool
    """Whether enough of the last ones met it."""
    approached: float | None
    """Share of the way from the untrained policy's value to what is wanted, covered at the end; negative where it
    went away from it, None where the untrained policy meets it."""


class RewardProbe(Contract):
    """What a training of some seconds learnt with a reward; nothing of it is kept."""

    steps: tuple[int, ...]
    """Environment steps at which it was measured; 0 is the untrained policy."""
    returns: tuple[float, ...]
    """Mean return of the selection rollouts there."""
    intervals: tuple[tuple[float, float], ...]
    """95 % interval of each of these means."""
    criteria: tuple[ProbedCriterion, ...] = ()
    """Empty without a sentence; those that only eyes can judge are left out."""


class RewardReport(Contract):
    """The result of loading a reward and running it on real transitions."""

    spec: RewardSpec | None
    """None when the source does not load."""
    terms: tuple[TermStatistics, ...] = ()
    issues: tuple[RewardIssue, ...] = ()
    ranking: RewardRanking | None = None
    """What it pays for known motions; None without criteria, or for robots that show none."""
    transitions: int = 0
    """How many transitions it was evaluated on."""
    microseconds_per_call: float = 0.0
    """Evaluated step after step."""
    method: Method = "loop"
    """How a training will evaluate it."""
    method_reason: str = ""
    """Why not all steps at once."""
    microseconds_per_step: float | None = None
    """What a step costs in the batch of these transitions; None for a loop."""
    probe: RewardProbe | None = None
    """What a short training learnt with it; None where none was asked for, or the reward is not accepted."""

    @property
    def accepted(self) -> bool:
        """True if nothing in it stops a training."""
        return all(issue.severity != "error" for issue in self.issues)

    @property
    def to_mend(self) -> bool:
        """True if its author should repair it before training."""
        return any(issue.mend or issue.severity == "error" for issue in self.issues)

    @property
    def errors(self) -> tuple[str, ...]:
        """Messages that stop a training."""
        return tuple(
            issue.message if issue.line is None else f"line {issue.line}: {issue.message}"
            for issue in self.issues
            if issue.severity == "error"
        )


class ConfigVariant(Contract):
    """Hyperparameters that are tried beside the base."""

    config_id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")
    """Part of its runs' names."""
    directive: str
    """What it tries, in a few words."""
    changes: dict[str, object]
    """Fields of `TrainConfig`, on top of those that the base is trained with."""
    reason: str = ""
    """The measurement that speaks for it; empty where none was needed."""


class RewardDraft(Contract):
    """A reward as its author hands it in."""

    source: str
    config_changes: dict[str, object] = {}
    """Fields of `TrainConfig` this reward should be trained with."""
    reasoning: str = ""
    variants: tuple[ConfigVariant, ...] = ()
    """What is trained beside these fields, where the session tries several configurations."""


class Change(Contract):
    """One change with its reason."""

    kind: Literal["reward", "config"]
    name: str
    """Term of the reward, or field of the training configuration."""
    old: object
    new: object
    reason: str
    """The measurement that led to it."""


class Revision(Contract):
    """The next reward and configuration (`revision.json`)."""

    based_on: int
    """Number of the iteration whose reward was changed."""
    diagnosis: str
    lesson: str
    changes: tuple[Change, ...] = Field(max_length=2)
    source: str
    """The next reward function."""
    config_changes: dict[str, object] = {}
    """Fields of `TrainConfig` the next iteration is trained with, on top of the session's own."""
    variants: tuple[ConfigVariant, ...] = ()
    """What is trained beside them, where the session tries several configurations."""
    start: StartDecision | None = None
    """Whether the next training goes on from a policy; None where its caller decides."""


class Lesson(Contract):
    """What an iteration taught."""

    text: str
    tier: Literal["HARD", "STRONG", "SOFT", "RETIRED"] = "STRONG"
    learned_at: int
    """Number of the iteration."""
    tier_reason: str = ""
    """Why it was moved to its tier; empty where it never was."""


class ConfigUse(Contract):
    """One configuration of an iteration: what its runs were trained with, and what came of them."""

    directive: str = ""
    """What it tried, in a few words; empty for the base, and for what a person configured."""
    hyperparameters: dict[str, object]
    """All of them, as the runs were really trained."""
    n_completed: int
    """Trainings that reached their end."""
    mean_score: float | None
    """Over these, each at its best checkpoint, on selection rollouts; None without criteria."""
    std_score: float | None
    """None for fewer than two."""
    mean_return: float | None
    """Over these, at the end of the training, by the trained reward."""
    std_return: float | None
    best: bool
    """Whether the judged run is one of its own."""


class LineageEntry(Contract):
    """One iteration in the tree of attempts."""

    parent: int | None
    """Number of the iteration it was made from; None for the first."""
    score: float | None
    star: bool
    """True when it was the best so far."""
    lesson: str = ""
    diagnosis: str = ""
    failure_tags: tuple[str, ...] = ()
    final_return: float | None = None
    best_checkpoint: int | None = None
    best_run_id: str | None = None
    configs: dict[str, ConfigUse] = {}
    """Configuration -> how it was used."""
    from_policy: StartPolicy | None = None
    """The policy that its runs went on from; None from zero."""


class Lineage(Contract):
    """The tree of attempts of a session (`lineage.json`)."""

    iterations: dict[str, LineageEntry] = {}
    lessons: tuple[Lesson, ...] = ()
    extends: Extension | None = None
    """The iteration of an earlier session whose reward the first one trains."""


class CandidatePlace(Contract):
    """Which of several rewards for the same purpose is written."""

    iteration: int
    number: int = Field(ge=1, le=MAX_CANDIDATES)
    """From 1."""
    count: int = Field(ge=1, le=MAX_CANDIDATES)
    """How many are written."""
    revision: Revision | None = None
    """What the iteration before led to, whose reward is the first candidate; None in the first iteration."""


class CandidateState(StrEnum):
    """State of one candidate."""

    TRAINED = "trained"
    """It had its short training."""
    FAILED = "failed"
    """Its short training did not finish."""
    NO_ROOM = "no room"
    """The cap on environment steps had no room for its short training beside the trainings of the iteration."""
    ACCEPTED = "accepted"
    """It could be trained, but there was no other to compare it with."""
    REFUSED = "refused"
    """Its check refused it, even after its author had repaired it."""
    UNWRITTEN = "unwritten"
    """The model gave no answer that could be used."""


class Candidate(Contract):
    """One of them, and what it reached in its short training; None where there was none."""

    number: int
    """From 1."""
    reasoning: str = ""
    terms: tuple[str, ...] = ()
    """Names of its terms."""
    mended: bool = False
    """Whether its check refused what was written first."""
    state: CandidateState
    findings: tuple[str, ...] = ()
    """What its check says of it."""
    environment_steps: int | None = None
    score: float | None = None
    """Of the judge on selection rollouts, in [0, 1]."""
    success_rate: float | None = None
    """Share of the selection rollouts that met every required criterion."""
    episode_return: float | None = None
    """By its own reward, on the same rollouts."""
    problem: str = ""
    """Why it was refused, failed or was never written; empty where it was not."""


class CandidateChoice(Contract):
    """All of an iteration, and which became its reward (`candidates.json`)."""

    chosen: int
    """Number of the candidate."""
    candidates: tuple[Candidate, ...]
