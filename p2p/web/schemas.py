"""Bodies and answers that are put together for this front end; all others are contracts as they are.

Every field that a contract has too is derived from it, so that bounds and defaults are written once.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from pydantic import ConfigDict, Field

from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Criterion
from p2p.contracts.iteration import IterationView
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.preference import ComparedPolicy, Side
from p2p.contracts.recording import RolloutLabel
from p2p.contracts.session import ExtendSession, MetadataChange, NewSession, RunProgress, SessionView
from p2p.contracts.session_line import IterationLine, SessionQuery
from p2p.contracts.spending import Caps
from p2p.contracts.status import SessionStatus
from p2p.contracts.suite import NewSuiteRun, RunState, Suite, SuiteRunView, Tally
from p2p.contracts.training_curves import MAX_POINTS
from p2p.contracts.work import Export, ExportFormat, ExportReport, NewExport


class SessionRequest(NewSession):
    """A session to begin."""

    reward: str | None = Field(default=None, max_length=200_000)
    """Source of a reward to train instead of writing one; it is trained once."""
    criteria: tuple[Criterion, ...] | None = None
    """What it is judged by; None has them derived from the sentence."""
    episode_s: float | None = Field(default=None, gt=0)
    """With `criteria`: length of an episode [s]."""
    start: bool = True
    """Whether it is driven at once."""

    def asked(self) -> NewSession:
        """The request without what is this front end's."""
        return NewSession.model_validate(self.model_dump(include=set(NewSession.model_fields)))


class SessionStarted(Contract):
    """A session that was begun."""

    session_id: str
    status: SessionStatus
    job_id: str | None
    """Of its driver; None where it was not started."""


class Stopped(Contract):
    """What became of something that was to be ended, thrown away or brought back."""

    stopped: bool
    """Whether it is at rest now."""
    detail: str


class Edit(MetadataChange):
    """Changes to alias, star and tags; None keeps a field."""

    tags: tuple[str, ...] | None = None
    """All tags that it is to have; `add_tags` and `remove_tags` change some."""

    def change(self, present: EntityMetadata) -> MetadataChange:
        """As the service takes it."""
        added, removed = self.add_tags, self.remove_tags
        if self.tags is not None:
            added = (*added, *self.tags)
            removed = (*removed, *(tag for tag in present.tags if tag not in self.tags))
        return MetadataChange(alias=self.alias, starred=self.starred, add_tags=added, remove_tags=removed)


class ResumeRequest(Contract):
    """How a session goes on."""

    max_iterations: int | None = Field(default=None, ge=1, le=100)
    """Most rewards to try from now on; None leaves it."""
    backend: str | None = Field(default=None, max_length=100)
    """Where it is trained from now on; None leaves it."""


class ExtendRequest(ExtendSession):
    """A session that goes on from the best reward of an ended one."""

    start: bool = True
    """Whether it is driven at once."""

    def asked(self) -> ExtendSession:
        """The request without what is this front end's."""
        return ExtendSession.model_validate(self.model_dump(include=set(ExtendSession.model_fields)))


class LoopIteration(IterationLine):
    """An iteration of a session's loop."""

    changes: tuple[str, ...]
    """What it changed, one line each; empty before its verdict."""
    runs: tuple[RunProgress, ...]
    """Of the one that is under way; those of the others are told one by one."""

    @classmethod
    def all_of(cls, lines: Iterable[IterationLine], view: SessionView) -> "tuple[LoopIteration, ...]":
        """Iterations of a session, oldest first.

        Args:
            lines: Of the same session.
            view: The session.
        """
        changes = {data.iteration: data.changes for data in view.history}
        return tuple(
            cls(
                **line.model_dump(),
                changes=changes.get(line.iteration, ()),
                runs=view.runs if line.iteration == view.iteration else (),
            )
            for line in sorted(lines, key=lambda line: line.iteration)
        )


class IterationDetail(IterationView):
    """One iteration in full; what the reward says of itself is in `reward_report`."""

    reward: str | None
    """Source; None before it is written."""


class SessionsQuery(SessionQuery):
    """Which sessions a page lists."""

    model_config = ConfigDict(defer_build=False)  # the framework builds those of a query when it answers the first one


class CurvesQuery(Contract):
    """Which curves of a training."""

    model_config = ConfigDict(defer_build=False)

    names: tuple[str, ...] = ()
    """Columns of the metrics, such as `episodic_return`; all of them where none is named."""
    points: int = Field(default=1000, ge=2, le=MAX_POINTS)
    """Of each curve, at most."""
    since: int | None = Field(default=None, ge=0)
    """Only what comes after this step."""

    def fields(self) -> dict[str, Any]:
        """As the service takes them."""
        return {"names": self.names or None, "points": self.points, "since": self.since}


class RobotFile(Contract):
    """A robot to be kept under a name."""

    name: str = Field(min_length=1, max_length=40)
    file: str = Field(min_length=1, max_length=500)
    """Its model file on the server's machine, MJCF or URDF."""


class EnvInfo(Contract):
    """An environment in a list."""

    env_id: str
    obs_dim: int
    action_dim: int
    dt: float
    """Control period [s]."""
    max_episode_steps: int
    termination: str
    """"never", or when an episode ends early."""
    features: tuple[str, ...]
    """Measurements that criteria and rewards can read."""

    @classmethod
    def of(cls, spec: EnvSpec, called: str = "") -> "EnvInfo":
        """What a list says of an environment, by its id or what a robot is called."""
        fields: dict[str, Any] = {name: getattr(spec, name) for name in cls.model_fields if name != "features"}
        fields["env_id"] = called or spec.env_id
        return cls(**fields, features=tuple(feature.name for feature in spec.features))


class JobLog(Contract):
    """A part of a job's log."""

    text: str
    offset: int
    """Of the byte after it: ask for what is written since with it."""


class Wish(Contract):
    """What is to be done differently."""

    wish: str = Field(min_length=1, max_length=300)


class LabelRequest(Contract):
    """A person's score of a recorded rollout."""

    score: float = Field(ge=0, le=1)
    """How much of what was meant is there."""
    annotator: str = Field(min_length=1, max_length=100)
    rollout: str = Field(default="median", max_length=20)
    """"p10", "median" or "p90"."""
    iteration: int | None = Field(default=None, ge=1)
    """None takes the one judged best."""
    comment: str = Field(default="", max_length=1000)


class CapChanges(Caps):
    """Caps to change; what is left out stays, and null removes a cap."""

    dollars: float | None = Field(default=None, ge=0)
    calls: int | None = Field(default=None, ge=0)


class PreferenceRequest(Contract):
    """Two policies, of which the session's eyes are to say which does better."""

    first: ComparedPolicy
    second: ComparedPolicy
    model: str = Field(default="", max_length=200)
    """`provider:model`; empty takes the one that looks at the session's pictures."""


class PersonPreference(Contract):
    """Which of two policies a person finds better, who has watched their videos."""

    first: ComparedPolicy
    second: ComparedPolicy
    better: Side
    """"first", "second" or "same"."""
    reason: str = Field(min_length=1, max_length=4000)
    """What was seen."""
    label: RolloutLabel = RolloutLabel.MEDIAN
    """Which of their recorded rollouts were watched."""


class JudgeRequest(Contract):
    """How recorded rollouts are judged again."""

    prompt: str | None = Field(default=None, max_length=2000)
    """By the criteria of this sentence; None takes the session's."""


class ExportRequest(Contract):
    """A policy to hand out, see `NewExport`; the folder is the session's."""

    formats: tuple[ExportFormat, ...] = Field(min_length=1)
    iteration: int | None = Field(default=None, ge=1)
    run_id: str | None = None
    checkpoint: int | None = None
    overwrite: bool = False
    license: str = Field(default="mit", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$")

    def asked(self) -> NewExport:
        """As the service takes it."""
        return NewExport.model_validate(self.model_dump())


class Sentence(Contract):
    """A sentence for a robot."""

    prompt: str = Field(min_length=1, max_length=2000)
    env_id: str = Field(default=NewSession().env_id, max_length=100)


class Provider(Contract):
    """A provider of language models."""

    name: str
    has_key: bool
    """Whether a key of it is set; its value is nowhere shown."""


class SuiteRunRequest(NewSuiteRun):
    """A run of a suite to begin."""

    suite: str = Field(max_length=40)
    """Name of one that comes with p2p."""

    def asked(self) -> NewSuiteRun:
        """The request without what is this front end's."""
        return NewSuiteRun.model_validate(self.model_dump(include=set(NewSuiteRun.model_fields)))


class SuiteRunResume(Contract):
    """How a run of a suite goes on."""

    again: bool = False
    """Whether sessions that crashed or were cancelled go on too."""
    from_stage: str = Field(default="", max_length=40)
    parallel: int | None = Field(default=None, ge=1, le=1000)


class SuiteRunStarted(Contract):
    """A run of a suite that was begun."""

    benchmark_id: str


class SuiteOption(Contract):
    """A suite that can be run."""

    name: str
    version: int
    cases: int
    held_back: int
    """Cases that are not published yet, and not run."""
    seeds: tuple[int, ...]
    stages: tuple[str, ...]
    environments: tuple[str, ...]
    categories: tuple[str, ...]
    difficulties: tuple[str, ...]

    @classmethod
    def of(cls, suite: Suite) -> "SuiteOption":
        """What there is to choose in a suite."""
        return cls(
            name=suite.name,
            version=suite.version,
            cases=len(suite.cases),
            held_back=len(suite.held_back),
            seeds=suite.seeds,
            stages=tuple(stage.name for stage in suite.stages),
            environments=tuple(sorted({case.env_id for case in suite.cases})),
            categories=tuple(sorted({case.category for case in suite.cases} - {""})),
            difficulties=tuple(sorted({str(case.difficulty) for case in suite.cases if case.difficulty is not None})),
        )


class BenchmarkOptions(Contract):
    """What there is to choose for a run of a suite."""

    suites: tuple[SuiteOption, ...]


class Exported(Contract):
    """An export that was made."""

    name: str
    """Of its folder; `exports/<name>.zip` is all of it."""
    iteration: int
    files: tuple[str, ...]
    report: ExportReport

    @classmethod
    def of(cls, export: Export) -> "Exported":
        """An export of the service."""
        return cls(
            name=PurePath(export.directory).name,
            iteration=export.iteration,
            files=tuple(PurePath(file).name for file in export.files),
            report=export.report,
        )


class BenchmarkSummary(Contract):
    """A run of a suite in a list."""

    benchmark_id: str
    suite: str
    version: int
    created_at: str
    """UTC, ISO 8601."""
    author: str
    state: RunState
    error: str
    tally: Tally
    rate: float | None
    """Share of ended sessions that passed by themselves; None if none has ended."""
    exam_rate: float | None
    """Share of ended sessions of cases with an exam that passed it; None without one."""
    dollars: float

    @classmethod
    def of(cls, view: SuiteRunView) -> "BenchmarkSummary":
        """What a list says of a run."""
        return cls(
            benchmark_id=view.run.name,
            suite=view.run.suite,
            version=view.run.version,
            created_at=view.run.created_at,
            author=view.run.system.author,
            state=view.state,
            error=view.error,
            tally=view.tally,
            rate=view.tally.rate,
            exam_rate=view.tally.exam_rate,
            dollars=round(sum(view.dollars.values()), 6),
        )
