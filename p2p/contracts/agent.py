"""Language model with tools: limits, spending, transcript, report."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.inference import Message
from p2p.contracts.job import JobState
from p2p.contracts.session import SessionStatus
from p2p.contracts.spending import Effort, Price


class AgentLimits(Contract):
    """What an agent may spend at most, over all its runs; reaching one ends it."""

    turns: int = Field(default=60, ge=1)
    """Answers of the model."""
    tokens: int = Field(default=3_000_000, ge=1)
    """Read and written, the cached ones included."""
    dollars: float = Field(default=10.0, gt=0)
    minutes: float = Field(default=240.0, gt=0)
    """Time at work, trainings included."""
    environment_steps: int = Field(default=20_000_000, ge=1)
    """Steps of all trainings."""


class Spending(Contract):
    """What an agent has spent so far."""

    turns: int = 0
    tokens: int = 0
    dollars: float | None = 0.0
    """None where the price of the model is not known."""
    seconds: float = 0.0
    job_steps: dict[str, int] = {}
    """Environment steps of each training it started, by the job's id."""

    @property
    def environment_steps(self) -> int:
        """Environment steps of all its trainings."""
        return sum(self.job_steps.values())


class AgentRequest(Contract):
    """What an agent is asked to do, and within which limits."""

    sentence: str = ""
    """What the robot is to do."""
    line: str = ""
    """Further text for the model when it goes on."""
    env_id: str | None = None
    """None leaves the choice to the model."""
    resume: str | None = None
    """Id of the session, or of the transcript, to go on with."""
    model: str
    effort: Effort = "medium"
    price: Price | None = None
    """Of a model that the price table does not know."""
    limits: AgentLimits = AgentLimits()
    token_cap_given: bool = False
    """Whether a person chose the cap on tokens; where the price is not known, one must."""
    tools: tuple[str, ...] | None = None
    """Names of the tools it may call; None means those of the loop."""


class EventKind(StrEnum):
    """What can be seen of an agent at work."""

    TURN = "turn"
    """The model begins to answer."""
    TEXT = "text"
    """A piece of what it says."""
    TOOL = "tool"
    """It calls a tool."""
    RESULT = "result"
    """The tool has answered."""
    JOB = "job"
    """A training it waits for has moved."""
    PROBLEM = "problem"
    """A problem that is being handled."""
    WISH = "wish"
    """A line typed by a person has reached it."""


class JobProgress(Contract):
    """A training that an agent waits for, as the tools report it."""

    job_id: str
    iteration: int | None = None
    state: JobState
    queue_position: int | None = None
    """From 1, which is next; None when it does not wait."""
    step: int
    """Environment steps made, over all its runs."""
    total: int
    eta_s: float | None = None
    """Expected time until it is trained [s]."""


class AgentEvent(Contract):
    """One thing seen of an agent at work."""

    kind: EventKind
    text: str = ""
    spending: Spending = Spending()
    job: JobProgress | None = None


class TranscriptEntry(Contract):
    """One line of a transcript."""

    kind: Literal["start", "message", "note", "end"]
    at: str
    """UTC, ISO 8601."""
    text: str = ""
    message: Message | None = None
    """Message of either side, with a line of text in place of each picture."""
    request: AgentRequest | None = None
    """At a start: what was asked for."""
    spending: Spending = Spending()
    """Spending so far."""


class AgentEnding(StrEnum):
    """Why an agent stopped."""

    PASSED = "passed"
    STOPPED = "stopped"
    """The model said that it was done, and the session has not passed."""
    BUDGET = "budget"
    REFUSED = "refused"
    """The provider's filter refused to go on."""
    PROBLEM = "problem"
    """The provider could not be reached or understood."""
    INTERRUPTED = "interrupted"


class AgentReport(Contract):
    """How an agent ended."""

    ending: AgentEnding
    reason: str
    """In words."""
    model: str
    session_id: str | None
    transcript_id: str
    """What `--resume` takes: the session where there is one."""
    status: SessionStatus | None
    iterations: int
    best_score: float | None
    running_jobs: tuple[str, ...]
    """Trainings that go on."""
    spending: Spending
    limits: AgentLimits
    summary: str
    """The model's last words."""


class ToolSummary(Contract):
    """A tool as the model sees it."""

    name: str
    description: str


class AgentPlan(Contract):
    """What an agent would be started with."""

    model: str
    effort: Effort
    price: Price | None
    price_date: str
    """Day the price table was read, ISO 8601."""
    limits: AgentLimits
    tools: tuple[ToolSummary, ...]
    first_message: str
    system_prompt: str
    first_request_tokens: int
    """Estimate."""
