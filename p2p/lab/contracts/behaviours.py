"""The run of the built-in author's grammar: its sentences, and what came of them."""

from enum import StrEnum

from p2p.contracts.base import Contract
from p2p.contracts.suite import Outcome
from p2p.contracts.suite_page import Cause


class Behaviour(Contract):
    """A sentence for a robot, made by a rule."""

    name: str
    """Of its case."""
    env_id: str
    sentence: str
    skill: str
    """Name of its template; "sequence" for two steps."""
    rule: str
    """What made it, such as "example", "count" or "manner"."""


class LeftOut(Contract):
    """A sentence that a rule made and that is not run."""

    env_id: str
    sentence: str
    rule: str
    why: str


class Grammar(Contract):
    """Every sentence that the rules make."""

    behaviours: tuple[Behaviour, ...]
    same: tuple[LeftOut, ...]
    """Judged as an earlier sentence of the same robot."""
    refused: tuple[LeftOut, ...]
    """Which the author does not understand for this robot."""


class ProcessorTimes(Contract):
    """Processor time of sessions, by looking at their processes (`processor_times.json`)."""

    seconds: dict[str, float] = {}
    """Session id -> processor time of all its processes that were seen [s]."""
    watched_s: dict[str, float] = {}
    """Session id -> how long it was watched while a process of it lived [s]."""
    counted: dict[str, float] = {}
    """Process that may still live -> what of it is in `seconds` [s]."""


class Learning(StrEnum):
    """How the return moved over the last third of a training."""

    RISING = "still rising"
    PLATEAU = "plateau"
    FALLING = "falling"
    UNKNOWN = "too short to tell"


class Missed(Contract):
    """The required criterion that was met in the fewest rollouts."""

    title: str
    measured: str
    """Mean over the rollouts, with its unit; "–" where nothing could be measured."""
    needed: str
    met_share: float
    """Share of rollouts that met it, in [0, 1]."""


class SessionResult(Contract):
    """One session of a sentence."""

    session_id: str
    seed: int
    outcome: Outcome
    passed: bool
    iterations: int
    steps: int
    """Environment steps of all its own trainings: those to the pass, where it passed."""
    seconds: float
    """Time at work, waiting for cores included [s]."""
    processor_s: float | None
    """Processor time of all its processes [s]; None where it was not watched."""
    watched_whole: bool
    """Whether it was watched for nearly all of its time at work; else `processor_s` is too small."""
    cause: Cause | None
    """Why it did not pass; None where it did."""
    detail: str = ""
    missed: Missed | None = None
    """None where no criterion decided."""
    learning: Learning | None = None
    """Of the training whose policy was judged; None without one."""


class Share(Contract):
    """How many of some passed, with the 95 % Wilson interval."""

    passed: int
    of: int
    low: float | None
    """None of none."""
    high: float | None


class BehaviourResult(Contract):
    """A sentence for a robot with its sessions."""

    case: str
    env_id: str
    sentence: str
    skill: str
    share: Share
    """Of its sessions that have ended."""
    sessions: tuple[SessionResult, ...]


class GroupResult(Contract):
    """Sentences of one robot, of one skill, or all of them."""

    name: str
    sentences: int
    """With a session that has ended."""
    always: int
    """Of them, sentences of which every ended session passed."""
    never: int
    """Sentences of which none did."""
    share: Share
    """Of the sessions that have ended."""


class BehavioursReport(Contract):
    """What came of a run so far."""

    run: str
    digest: str
    """Of the suite: of all its sentences and its budget."""
    versions: dict[str, str]
    """Of p2p, Python and what results depend on, when the run was last begun."""
    known: int
    """Sentences of the grammar that were meant, run or not."""
    seeds: tuple[int, ...]
    max_iterations: int
    total_timesteps: int | None
    """Of each training; None where each sentence had what its template asks for."""
    trainings: int
    """Of each iteration."""
    results: tuple[BehaviourResult, ...]
    """Of the sentences that have begun."""
    robots: tuple[GroupResult, ...]
    skills: tuple[GroupResult, ...]
    total: GroupResult
    causes: dict[str, int]
    """Why sessions did not pass, and how the return of the judged training moved at its end -> how many, most frequent
    first; sessions that have not ended are not in it."""
