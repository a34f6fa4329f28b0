"""Suites: sentences with frozen exams, sat by a system several times; what a run of one asked for and reached."""

import hashlib
import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.session import NewSession
from p2p.contracts.training import exam_seeds

SuiteName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
CaseName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,34}$")]
"""With the name of a run and a seed it makes the id of a session, which has at most 64 characters."""
RunName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,19}$")]
Seed = Annotated[int, Field(ge=0, lt=100)]
"""Of a session, see `NewSession.seed`."""


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""One name, or several."""


class Difficulty(StrEnum):
    """How hard a case is expected to be."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Case(Contract):
    """A sentence for a robot, with the exam that its policies sit."""

    name: CaseName
    env_id: str
    prompt: str = Field(min_length=1)
    """All that the system is given."""
    category: str = Field(default="", max_length=40)
    """Such as locomotion, pose or acrobatic; empty where none was said."""
    difficulty: Difficulty | None = None
    exam: Intent | None = None
    """Frozen criteria that the system never sees; None where the case has no exam."""


class HeldBackCase(Contract):
    """A case that is kept back until a release ends: known by its digest alone."""

    name: CaseName
    env_id: str
    category: str = Field(default="", max_length=40)
    difficulty: Difficulty | None = None
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 over a salt, the sentence and the exam."""


class RevealedCase(Contract):
    """A case that was kept back, made public."""

    name: CaseName
    salt: str = Field(min_length=16)
    """Without it nobody could guess a sentence and confirm the guess."""
    prompt: str = Field(min_length=1)
    exam: Intent

    @property
    def digest(self) -> str:
        """SHA-256 over salt, sentence and exam: that of the case as it was kept back."""
        return hashlib.sha256(json.dumps([self.salt, self.prompt, digest_of(self.exam)]).encode()).hexdigest()


class RevealedCases(Contract):
    """File of revealed cases."""

    cases: tuple[RevealedCase, ...] = Field(min_length=1)


class Selection(Contract):
    """Which cases are meant: those that match every field; an empty field matches all."""

    case: Names = ()
    category: Names = ()
    difficulty: Names = ()
    env_id: Names = ()

    def matches(self, case: Case) -> bool:
        """Whether a case is meant."""
        told = {
            "case": case.name,
            "category": case.category,
            "difficulty": case.difficulty or "",
            "env_id": case.env_id,
        }
        return all(not wanted or told[field] in wanted for field, wanted in self)


class Stage(Contract):
    """Cases that run together; the next stage begins when this one's gate has passed."""

    name: str = Field(min_length=1, max_length=40)
    where: Selection = Selection()
    """Its cases: those that match and are of no earlier stage."""
    gate: float | None = Field(default=None, ge=0, le=1)
    """Share of its sessions that must pass; None lets every later stage begin. The last stage needs none."""


class Budget(Contract):
    """What each session of a suite may take; None leaves it to the session's defaults."""

    total_timesteps: int | None = Field(default=None, ge=1)
    """Steps of each training."""
    max_iterations: int | None = Field(default=None, ge=1, le=100)
    """Most rewards to try."""
    dollars: float | None = Field(default=None, ge=0)
    minutes: float | None = Field(default=None, gt=0)
    """Time at work, trainings and waiting for cores included: sessions side by side need more of it."""
    environment_steps: int | None = Field(default=None, ge=1)
    """Of all trainings."""


class Suite(Contract):
    """A suite: any change of a case, an exam, a stage or the budget makes another `digest`."""

    name: SuiteName
    version: int = Field(default=1, ge=1)
    source: str = ""
    """Where its sentences come from."""
    seeds: tuple[Seed, ...] = Field(default=(1, 2, 3), min_length=1)
    """Sessions of each case."""
    pass_threshold: float = Field(default=0.8, gt=0, le=1)
    """Score that a session, and an exam, must reach."""
    n_exam_rollouts: int = Field(default=50, ge=10, le=1000)
    budget: Budget = Budget()
    cases: tuple[Case, ...] = Field(min_length=1)
    held_back: tuple[HeldBackCase, ...] = ()
    """Cases whose sentences and exams are not published yet; they are not run."""
    stages: tuple[Stage, ...] = ()
    """In their order; none: all cases in one stage without a gate."""

    @model_validator(mode="after")
    def _names_are_unique_and_stages_complete(self) -> Self:
        for kind, names in (
            ("cases", [*(case.name for case in self.cases), *(case.name for case in self.held_back)]),
            ("stages", [stage.name for stage in self.stages]),
            ("seeds", [str(seed) for seed in self.seeds]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"two {kind} are called {', '.join(twice)}")
        if left := [case.name for case in self.cases if self.stages and self.stage_of(case) is None]:
            raise ValueError(f"no stage takes {', '.join(left)}")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 over the suite and its exams as canonical JSON, without what has its default."""
        text = json.dumps(self.model_dump(mode="json", exclude_defaults=True), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def without_exams(self) -> "Suite":
        """The suite as its sessions know it, without exams and what is held back: two that agree in it run alike."""
        cases = tuple(case.model_copy(update={"exam": None}) for case in self.cases)
        return self.model_copy(update={"cases": cases, "held_back": (), "version": 1, "source": ""})

    def case(self, name: str) -> Case | None:
        """Case of a name; None if there is none."""
        return next((case for case in self.cases if case.name == name), None)

    def exam_of(self, name: str) -> Intent | None:
        """Exam of the case of a name; None without one."""
        case = self.case(name)
        return case.exam if case is not None else None

    @property
    def examined(self) -> tuple[str, ...]:
        """Names of the cases that have an exam."""
        return tuple(case.name for case in self.cases if case.exam is not None)

    def stage_of(self, case: Case) -> Stage | None:
        """The first stage that a case matches; None if it matches none."""
        return next((stage for stage in self.stages if stage.where.matches(case)), None)

    def exam_seeds(self, case: str, seed: int) -> range:
        """Reset seeds of the exam rollouts of a case under a session's seed: the same for every system that sits it."""
        return exam_seeds(f"{self.name} {case} {seed}", self.n_exam_rollouts)


class NewSuiteRun(Contract):
    """What to run of a suite, and what is measured by it."""

    name: str = Field(default="", max_length=20, description="Name of the run; empty: the suite's, with the model's.")
    seeds: tuple[Seed, ...] = ()
    """Sessions of each case; empty for those of the suite."""
    only: Selection = Selection()
    """Its cases; the others are not run."""
    from_stage: str = ""
    """Name of the stage that it begins with; empty for the first."""
    flat: bool = Field(default=False, description="Run all cases as one stage, without gates.")
    parallel: int = Field(default=1, ge=1, le=1000, description="Sessions side by side.")
    backend: str = ""
    """Backend of the trainings; empty for that of the settings."""
    system: NewSession = NewSession()
    """What is measured: author, models, options. Sentence, robot, seed and budget come from the suite."""


class SuiteRun(NewSuiteRun):
    """A run of a suite as it is kept (`run.json`)."""

    name: RunName
    suite: SuiteName
    version: int
    digest: str
    """Of the suite, see `Suite.digest`."""
    created_at: str
    """UTC, ISO 8601."""
    seeds: tuple[Seed, ...] = Field(min_length=1)
    versions: dict[str, str] = {}
    """Of p2p, Python, mujoco, numpy and gymnasium, when it was last begun."""

    def session_id(self, case: str, seed: int) -> str:
        """Id of the session of a case and a seed."""
        return f"{self.name}-{case}-seed-{seed}"


class Outcome(StrEnum):
    """How the session of a case ended. All but the last two have ended; only `passed` has passed."""

    PASSED = "passed"
    NOT_PASSED = "not_passed"
    """It used its iterations up."""
    NOT_TRAINED = "not_trained"
    """It ended by an error before anything was trained, such as a sentence that its author does not understand."""
    CRASHED = "crashed"
    """It ended by an error: its own, its model's or this machine's."""
    CAPPED = "capped"
    """It reached its cap in dollars, tokens, calls or steps."""
    TIMED_OUT = "timed_out"
    """It reached its cap in minutes."""
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    """Its stage is not run: an earlier gate failed, or the run began with a later stage."""
    OPEN = "open"
    """It has not begun, or has not ended."""

    @property
    def ended(self) -> bool:
        """True for what counts in rates and gates."""
        return self not in (Outcome.SKIPPED, Outcome.OPEN)

    @property
    def hands_in(self) -> bool:
        """True for a session that came to its own end: its policy sits the exam. Any other has not passed."""
        return self in (Outcome.PASSED, Outcome.NOT_PASSED)


class ExamResult(Contract):
    """One policy's exam."""

    passed: bool
    """By the rule of every verdict: score, and share of rollouts that meet all required criteria."""
    n_rollouts: int
    n_met: int
    """Rollouts that met every required criterion."""
    low: float | None
    """Lower end of the 95 % Wilson interval of that share."""
    high: float | None
    intent_score: float | None
    """In [0, 1]; None where nothing could be measured."""
    criteria: tuple[CriterionScore, ...]
    seeds: tuple[int, ...]
    """Of the resets, in the order of the rollouts."""
    policy_sha256: str
    """Of `policy.npz`."""
    features_sha256: str
    """Of the recorded features: equal where the same policy was simulated to the bit."""
    exam_sha256: str
    """Of the exam that scored it: another one scores the recorded rollouts again."""
    problem: str = ""
    """Why it could not be measured; it has not passed then."""


class CaseResult(Contract):
    """The session of one case and one seed (a line of `results.jsonl`)."""

    case: CaseName
    seed: Seed
    session_id: str
    stage: str = ""
    outcome: Outcome
    status: str = ""
    """Status of its session; empty before it has begun."""
    ended_at: str = ""
    """When that was written (UTC, ISO 8601): the line is made anew where the session has another status since."""
    error: str = ""
    passed_itself: bool = False
    """By the verdict of its own session."""
    intent_score: float | None = None
    """By its own criteria, in [0, 1]."""
    success: float | None = None
    """Share of its report rollouts that met its own required criteria."""
    iterations: int = 0
    steps: int = 0
    """Environment steps of all its trainings, those before a policy gone on from included: sessions of suites go on
    from their own policies alone."""
    seconds: float = 0.0
    """Time at work, waiting for cores included."""
    dollars: dict[str, float] = {}
    """What models cost, by role."""
    dollars_by_model: dict[str, float] = {}
    """The same, by `provider:model`."""
    exam: ExamResult | None = None
    """None where the case has none, or it was not sat: the session has not ended, or left no policy."""

    @property
    def passed_exam(self) -> bool:
        """Whether its policy passed the exam; without a policy it has not."""
        return self.exam is not None and self.exam.passed


class Gate(StrEnum):
    """What is known of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    OPEN = "open"
    """What still runs decides it."""


def digest_of(exam: Intent) -> str:
    """SHA-256 of an exam as canonical JSON."""
    text = json.dumps(exam.model_dump(mode="json", exclude_defaults=True), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class RunState(StrEnum):
    """Whether a run of a suite goes on."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """Sessions or exams are left, and no process drives them: it was stopped, killed, or stands for an error."""
    ENDED = "ended"


class Tally(Contract):
    """How many of some sessions passed. What crashed, was capped, timed out or was cancelled has not."""

    sessions: int
    ended: int
    passed: int
    """By themselves."""
    exams: int
    """Ended sessions of cases with an exam."""
    passed_exam: int
    skipped: int

    @classmethod
    def of(cls, results: Sequence[CaseResult], with_exam: Collection[str]) -> "Tally":
        """Tally of some results.

        Args:
            results: Of the sessions.
            with_exam: Names of the cases that have an exam.
        """
        ended = [result for result in results if result.outcome.ended]
        sat = [result for result in ended if result.case in with_exam]
        return cls(
            sessions=len(results),
            ended=len(ended),
            passed=sum(result.outcome is Outcome.PASSED for result in ended),
            exams=len(sat),
            passed_exam=sum(result.passed_exam for result in sat),
            skipped=sum(result.outcome is Outcome.SKIPPED for result in results),
        )

    @property
    def rate(self) -> float | None:
        """Share of ended sessions that passed by themselves; None if none has ended."""
        return self.passed / self.ended if self.ended else None

    @property
    def exam_rate(self) -> float | None:
        """Share of ended sessions of cases with an exam that passed it; None without one."""
        return self.passed_exam / self.exams if self.exams else None


class StageView(Contract):
    """A stage of a run."""

    name: str
    gate: float | None
    """None where nothing depends on it: the stage has none, or no later stage has cases."""
    decision: Gate | None
    """Of the gate; None without one."""
    tally: Tally


class SuiteRunView(Contract):
    """A run of a suite at a glance."""

    run: SuiteRun
    state: RunState
    error: str = ""
    """Why it does not go on by itself."""
    tally: Tally
    stages: tuple[StageView, ...]
    results: tuple[CaseResult, ...]
    """Stage by stage, in the order of the suite's cases and the run's seeds."""

    @property
    def dollars(self) -> dict[str, float]:
        """What models cost over all sessions, by role."""
        roles = sorted({role for result in self.results for role in result.dollars})
        return {role: round(sum(result.dollars.get(role, 0.0) for result in self.results), 6) for role in roles}
