"""Judgments: observations, values of judge functions, verdict, evidence, and people's labels."""

import hashlib
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from p2p.contracts.base import Contract, FileName, RelativePath
from p2p.contracts.frame import FrameNote
from p2p.contracts.intent import Comparison, Criterion, Key
from p2p.contracts.training import Robustness

Observer = Literal["api", "client_sampling", "calling_agent", "person"]
"""Who looked: a configured provider, the caller's model at our request, the caller itself, or a person."""

Tag = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]


class Sight(StrEnum):
    """How far eyes find a criterion met."""

    MET = "met"
    PARTIALLY_MET = "partially_met"
    NOT_MET = "not_met"
    CANNOT_TELL = "cannot_tell"
    """The pictures do not show it."""

    @property
    def credit(self) -> float | None:
        """Contribution to a score, in [0, 1]; None if undecided."""
        return {Sight.MET: 1.0, Sight.PARTIALLY_MET: 0.5, Sight.NOT_MET: 0.0}.get(self)


class Finding(Contract):
    """What eyes say of one criterion."""

    key: Key
    """Of the criterion."""
    state: Sight
    evidence: str = Field(default="", max_length=1000)
    """What was seen of it, and when."""


class SentPicture(Contract):
    """A picture or a video, exactly as it was sent."""

    path: RelativePath
    """Where it is kept, relative to the runs directory."""
    sha256: str
    media_type: str
    shows: str
    """What it shows, in words."""


class Observation(Contract):
    """One look at the pictures of the report rollouts, together with what code measured on them."""

    is_what_was_meant: bool
    """True when a person who asked for this would be content with it."""
    score: float = Field(ge=0, le=1)
    """How much of what was meant is there, in [0, 1]."""
    diagnosis: str = Field(min_length=1, max_length=4000)
    """What was seen, and what is missing."""
    criteria: dict[Key, bool] = {}
    """Whether each criterion is met, by its key; at least those that only eyes can judge."""
    failure_tags: tuple[Tag, ...] = Field(default=(), max_length=12)
    suspected_exploit: str = Field(default="", max_length=1000)
    """How the policy meets the numbers without doing what was meant; empty when it does not."""
    observer: Observer = "calling_agent"
    provider: str | None = Field(default=None, max_length=100)
    """Who supplied the model; None when nobody said."""
    model: str | None = Field(default=None, max_length=100)
    findings: tuple[Finding, ...] = Field(default=(), max_length=8)
    """Each criterion with its evidence; where a criterion is here, `criteria` says the same in a word."""
    scores: tuple[float, ...] = ()
    """Of each look, first to last, where there was more than one."""
    pictures: tuple[SentPicture, ...] = ()
    """What was looked at, in order; empty where nobody wrote it down."""
    fps: float | None = None
    """Of the video that was sent [1/s]; None for pictures alone."""
    prompt_hash: str | None = Field(default=None, max_length=64)
    """Of the instructions that were given, see `hash_of`."""
    fallback: str = Field(default="", max_length=500)
    """What differed from the usual procedure, in words; empty where nothing did."""


def hash_of(*texts: str) -> str:
    """SHA-256 of instructions, first 16 hex digits: identifies their version."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


class Leaf(Contract):
    """One thing that is measured for a criterion."""

    name: str = Field(max_length=80)
    metric: str = Field(max_length=1000)
    """What is computed, of which features, in which window."""
    threshold: str = Field(max_length=300)
    """When it is fully met, with its unit."""
    partial_credit: str = Field(max_length=500)
    """How the credit grows from 0 to 1 on the way there."""


class Decomposition(Contract):
    """How a criterion is measured."""

    measurable: bool
    """Whether the features can tell it at all; what they cannot is left to eyes."""
    reason: str = Field(max_length=2000)
    """Why, and how a motion that does not do it could still get a high score."""
    leaves: tuple[Leaf, ...] = Field(default=(), max_length=8)
    """In the order in which they must happen where they have one; none where it cannot be measured."""


class JudgeFunction(Contract):
    """The function for one criterion."""

    key: Key
    """Of the criterion."""
    decomposition: Decomposition
    source: str = ""
    """Python with `judge(features) -> {"score", "evidence"}`; empty where the criterion is left to eyes."""
    problems: tuple[str, ...] = ()
    """Why there is no usable function where there should be one."""
    written_by: str = ""
    """"calling_agent", with its model where it was named; empty for the model that wrote the others."""

    @property
    def code_hash(self) -> str:
        """SHA-256 of the source, first 16 hex digits."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


class JudgeCode(Contract):
    """The functions of a session, written once (`judge_code.json`)."""

    written_by: str
    """`provider:model`, or "calling_agent"."""
    functions: tuple[JudgeFunction, ...]

    @property
    def usable(self) -> tuple[JudgeFunction, ...]:
        """Functions that measure something."""
        return tuple(function for function in self.functions if function.source)


class RolloutFinding(Contract):
    """What a function says of one rollout."""

    score: float = Field(ge=0, le=1)
    """The criterion is met at 1."""
    evidence: str = Field(default="", max_length=2000)
    """What was measured; the text is the model's."""


class CodeFinding(Contract):
    """What the function for one criterion said of the judged rollouts."""

    key: Key
    """Of the criterion."""
    written_by: str
    code_hash: str
    """SHA-256 of its source, first 16 hex digits."""
    scores: tuple[float, ...] = ()
    """Of each rollout, in their order; empty where it failed."""
    worst: RolloutFinding | None = None
    """What it says of the rollout with the lowest score; None where it failed."""
    problem: str = ""
    """Why it failed, with the line and a fix. It then counts nothing: that is no score of 0."""


class JudgeCodeTask(Contract):
    """What the writer of judge functions has to know."""

    session_id: str
    to_measure: tuple[Criterion, ...]
    """The criteria that no predicate measures; a function may be written for each."""
    rules: str
    """What the code gets, returns, and may use."""
    functions: tuple[JudgeFunction, ...]
    """Those there are."""


class KnownMotion(Contract):
    """What a function says of a motion whose truth is known."""

    motion: str
    score: float


class JudgeCodeReport(Contract):
    """What came of a function that was handed in."""

    session_id: str
    key: Key
    accepted: bool
    """False: nothing is judged with it."""
    errors: tuple[str, ...]
    """With the line, the reason, and a fix."""
    code_hash: str
    known_motions: tuple[KnownMotion, ...]
    """What it scores highest among motions whose truth is known; empty where there are none of this robot."""


MET_SHARE_NEEDED = 0.8
"""Share of rollouts that must meet a criterion, and everything required, for a policy to pass."""
FULL_SCORE = 1.0 - 1e-6
"""What a function that a model wrote gives a rollout that does what was asked, less what rounding takes."""


class Verdict(StrEnum):
    """What a judge says."""

    PASSED = "passed"
    FAILED = "failed"
    NO_VERDICT = "no_verdict"
    """The judge could not decide; this is not a score of 0."""


class CriterionScore(Contract):
    """One criterion over all judged rollouts."""

    key: str
    title: str
    required: bool
    weight: float
    value: float | None
    """Mean of the measured values, in `unit`; None when no rollout could be measured."""
    low: float | None
    """Lower end of the 95 % interval of that mean."""
    high: float | None
    comparison: Comparison
    threshold: float
    upper: float | None
    unit: str
    score: float = Field(ge=0, le=1)
    """Mean partial credit."""
    met_share: float = Field(ge=0, le=1)
    """Share of rollouts that met it."""
    met: bool
    """True when enough rollouts met it."""
    by_eyes: bool = False
    """True where eyes decided: `value` and `met_share` are 1 or 0 then."""


class RolloutScore(Contract):
    """One judged rollout."""

    seed: int
    episode_return: float
    label: str | None
    intent_score: float = Field(ge=0, le=1)
    """Weighted mean of the criteria's partial credits."""
    success: bool
    """True when every required criterion was met."""
    values: dict[str, float | None]
    """Measured value per criterion; None when it could not be measured."""


class Provenance(Contract):
    """Who judged, and on what."""

    judge: str
    code_hash: str
    """SHA-256 of the judge's code and of the criteria, first 16 hex digits."""
    observer: Observer | None = None
    """Whose eyes took part; None for code alone."""
    provider: str | None = None
    model: str | None = None
    prompt_hash: str | None = None
    """Of the instructions to the eyes; None for code alone."""
    fps: float | None = None
    """Of the video they were shown [1/s]; None without one."""
    fallback: str = ""
    """What differed from the usual procedure, in words."""


class Judgment(Contract):
    """The judgment of one checkpoint over rollouts nobody selected on (`judgment.json`)."""

    verdict: Verdict
    intent_score: float | None = Field(ge=0, le=1)
    """Weighted mean of the criteria's scores; None without a verdict."""
    pass_threshold: float
    success_rate: float | None
    """Share of rollouts that met every required criterion."""
    success_low: float | None
    """Lower end of its 95 % Wilson interval."""
    success_high: float | None
    measured_success_rate: float | None = None
    """What was measured where a veto refused the policy, so that `success_rate` is 0; else None."""
    measured_success_low: float | None = None
    """Lower end of its 95 % Wilson interval."""
    measured_success_high: float | None = None
    n_rollouts: int
    criteria: tuple[CriterionScore, ...]
    rollouts: tuple[RolloutScore, ...]
    robustness: Robustness | None = Field(default=None, exclude_if=lambda found: found is None)
    """What it did with randomised robots, where it was trained with such; the verdict is of the robot in the model."""
    diagnosis: str
    failure_tags: tuple[str, ...] = ()
    run_id: FileName | None = None
    best_checkpoint: int | None = None
    """Step of the judged checkpoint."""
    scoring_method: str = "code_judge"
    provenance: Provenance
    vetoed_by: str = ""
    """Judge of code that refused a policy which met every criterion; empty without one. Eyes are in `observation`."""
    by_written_code: tuple[CodeFinding, ...] = ()
    """What functions said that a model wrote for criteria without a predicate."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How far the judgment can be relied on, by the rule of `p2p.judges.synthesis`; None where no eyes took part."""
    disagreement: float | None = Field(default=None, ge=0, le=1)
    """How far the score of eyes is from the measured one, after the last look; None where one of them is missing."""
    observation: Observation | None = None
    """What eyes saw; None for code alone."""

    @property
    def passed(self) -> bool:
        """True for a verdict of passed."""
        return self.verdict is Verdict.PASSED

    @property
    def vetoed_by_eyes(self) -> bool:
        """True if eyes failed a policy that meets the measured criteria: they do not suffice."""
        if self.verdict is not Verdict.FAILED or self.observation is None or self.vetoed_by:
            return False
        measured = self.success_rate if self.measured_success_rate is None else self.measured_success_rate
        return (measured or 0) >= MET_SHARE_NEEDED

    @property
    def without_missed(self) -> str:
        """Reason for not passing besides missed criteria; empty if it passed, or missed some without a veto."""
        if self.vetoed_by:
            said = self.diagnosis.partition("\n")[0]
            return f"everything required was met, but it was refused by {self.vetoed_by}: {said}"
        if self.passed or not all(criterion.met for criterion in self.criteria):
            return ""
        if self.observation is not None and self.observation.suspected_exploit.strip():
            return f"every criterion was met, but not as it was meant: {self.observation.suspected_exploit.strip()}"
        if self.observation is not None and self.verdict is Verdict.FAILED:
            return f"every criterion was met, but eyes refused it: {self.observation.diagnosis.strip()}"
        if self.verdict is Verdict.NO_VERDICT:
            return "there is no verdict: " + (self.diagnosis.partition("\n")[0] or "what is left needs eyes")
        if (self.success_rate or 0.0) < MET_SHARE_NEEDED:
            return "each criterion was met often enough, but not all of them in the same rollouts"
        return f"each criterion was met, but the score is below {self.pass_threshold:g}"


class FeatureNumbers(Contract):
    """One feature over one rollout, in its unit."""

    name: str
    unit: str
    first: float
    last: float
    minimum: float
    minimum_s: float
    """When it was reached [s]."""
    maximum: float
    maximum_s: float
    mean: float


class Evidence(Contract):
    """The report rollouts of an iteration, as numbers and pictures."""

    session_id: str
    iteration: int
    prompt: str
    """What was asked for."""
    code: Judgment
    """By code alone; of its rollouts only those that were kept whole: p10, median and p90."""
    criteria: tuple[Criterion, ...]
    unjudged: tuple[str, ...]
    """Keys of the criteria that only eyes can judge."""
    contact_sheet: str | None
    """Relative to the runs directory; None where no pictures could be made."""
    frames: tuple[FrameNote, ...]
    """The moments on the contact sheet; empty where nobody wrote them down."""
    picture_note: str
    """How the moments were chosen; empty without notes."""
    videos: dict[str, str]
    """Label -> path, relative to the runs directory."""
    shown: str = Field(default="median")
    """Label of the rollout on the contact sheet."""
    duration_s: float
    """Length of that rollout [s]."""
    numbers: tuple[FeatureNumbers, ...]
    """Of that rollout."""
    bodies: tuple[str, ...] = ()
    """Whose path can be drawn over pictures."""
    rubric: str
    """How to judge, and what not to trust eyes with."""


class Label(Contract):
    """A person's score of one recorded rollout (a line of `labels.jsonl`); the last of a person counts."""

    iteration: int
    run_id: FileName
    checkpoint: int
    """Step of the judged checkpoint."""
    rollout: str
    """Which of its recorded rollouts: "p10", "median" or "p90"."""
    seed: int
    """Of the rollout."""
    score: float = Field(ge=0, le=1)
    """How much of what was meant is there."""
    judged: float = Field(ge=0, le=1)
    """What the judges had given it when it was labelled; they are not shown to the person before."""
    annotator: str = Field(min_length=1, max_length=100)
    comment: str = Field(default="", max_length=1000)
    labelled_at: str
    """UTC, ISO 8601."""


class Agreement(Contract):
    """How far two sets of scores of the same rollouts agree."""

    n: int
    """How many rollouts both scored."""
    threshold: float
    """Score from which a rollout counts as good, for kappa."""
    spearman: float | None
    """Rank correlation in [-1, 1]; None for fewer than three, or where one side never varies."""
    kappa: float | None
    """Cohen's kappa of "good", in [-1, 1]; None where chance alone would agree always."""
    same_side: float | None
    """Share that both call good, or both do not."""


class Labels(Contract):
    """The labels of a session, or of all of them, with the judges' agreement."""

    session_id: str | None
    """None for all sessions."""
    labels: tuple[Label, ...]
    agreement: Agreement
