"""How well a policy does what was asked."""

from enum import StrEnum

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Comparison
from p2p.contracts.judge_code import CodeFinding
from p2p.contracts.observation import Observation, Observer

MET_SHARE_NEEDED = 0.8
"""Share of rollouts that must meet a criterion, and everything required, for a policy to pass."""


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
    """What had to be done otherwise than usual, in words."""


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
    """What code alone measured where eyes did not accept the policy, so that `success_rate` is 0; else None."""
    measured_success_low: float | None = None
    """Lower end of its 95 % Wilson interval."""
    measured_success_high: float | None = None
    n_rollouts: int
    criteria: tuple[CriterionScore, ...]
    rollouts: tuple[RolloutScore, ...]
    diagnosis: str
    failure_tags: tuple[str, ...] = ()
    run_id: str | None = None
    best_checkpoint: int | None = None
    """Step of the judged checkpoint."""
    scoring_method: str = "code_judge"
    provenance: Provenance
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
    def vetoed(self) -> bool:
        """True where eyes failed what code measured as met often enough: the measured criteria do not suffice."""
        measured = self.success_rate if self.measured_success_rate is None else self.measured_success_rate
        return self.verdict is Verdict.FAILED and self.observation is not None and (measured or 0) >= MET_SHARE_NEEDED

    @property
    def without_missed(self) -> str:
        """Why it did not pass although each criterion was met, in words; empty when it passed or one was not met."""
        if self.passed or not all(criterion.met for criterion in self.criteria):
            return ""
        if self.observation is not None and self.observation.suspected_exploit.strip():
            return f"every criterion was met, but not as it was meant: {self.observation.suspected_exploit.strip()}"
        if self.observation is not None and (self.vetoed or self.verdict is Verdict.FAILED):
            return f"every criterion was met, but eyes refused it: {self.observation.diagnosis.strip()}"
        if self.verdict is Verdict.NO_VERDICT:
            return "there is no verdict: " + (self.diagnosis.partition("\n")[0] or "what is left needs eyes")
        if (self.success_rate or 0.0) < MET_SHARE_NEEDED:
            return "each criterion was met often enough, but not all of them in the same rollouts"
        return f"each criterion was met, but the score is below {self.pass_threshold:g}"
