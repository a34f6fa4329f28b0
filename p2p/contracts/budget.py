"""What a session may spend on models, what it has spent, and where it went."""

from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.inference import Effort, ModelReply, ModelRequest
from p2p.contracts.usage import Price, Usage


class Caps(Contract):
    """What a session may spend at most, over all its sittings; None means that nothing caps it."""

    dollars: float | None = Field(default=10.0, ge=0)
    """For models whose price is known; another needs a cap in tokens."""
    tokens: int | None = Field(default=None, ge=0)
    """Read and written, the cached ones included."""
    calls: int | None = Field(default=1_000, ge=0)
    """Answers of models."""
    minutes: float | None = Field(default=None, gt=0)
    """Time at work, trainings included; breaks between sittings are not counted."""
    environment_steps: int | None = Field(default=None, ge=0)
    """Steps of all trainings."""


class ModelChoice(Contract):
    """Which models work for a session, and within which caps."""

    model: str
    """`provider:model`."""
    light_model: str = ""
    """For small tasks; empty means `model`."""
    effort: Effort = "medium"
    price: Price | None = None
    """Of a `model` that the price table does not know."""
    caps: Caps = Caps()


class CallLine(Contract):
    """One line of a session's ledger: a call has begun, or ended; the last line of a number counts."""

    number: int
    """From 1."""
    state: Literal["begun", "ended", "failed"]
    at: str
    """UTC, ISO 8601."""
    role: str
    iteration: int | None
    model: str
    """`provider:model`."""
    digest: str
    """Hash of the request, under which its answer is found again."""
    prompt_hash: str
    """Hash of the instructions alone: which version of a prompt was used."""
    usage: Usage
    """While it has only begun: the most that it can use."""
    dollars: float | None
    """None where the price is not known."""
    seconds: float = 0.0
    reusable: bool = False
    """Whether its answer serves the same request again."""
    problem: str = ""


class CallRecord(Contract):
    """The whole of one call (`calls/<number>.json`), secrets and pictures left out."""

    line: CallLine
    request: ModelRequest
    reply: ModelReply | None
    retries: tuple[str, ...] = ()
    """What went wrong before the answer came."""


class Cost(Contract):
    """What a role spent in an iteration."""

    role: str
    iteration: int | None
    """None for what belongs to the session as a whole."""
    calls: int
    failed: int
    usage: Usage
    dollars: float | None
    """None where a price is not known."""
    seconds: float
    """Waiting for models."""


class TrainingCost(Contract):
    """What the trainings of an iteration took."""

    iteration: int
    candidates: int = 0
    """Short trainings that its reward was chosen by; 0 for those of the reward itself."""
    environment_steps: int
    seconds: float


class SessionCosts(Contract):
    """Where the tokens, dollars and seconds of a session went."""

    session_id: str
    caps: Caps
    models: tuple[str, ...]
    """`provider:model` of all that answered."""
    rows: tuple[Cost, ...]
    """In the order of their first calls."""
    trainings: tuple[TrainingCost, ...]
    total: Cost
    open_calls: int
    """Calls that have begun and not ended, counted at the most they can use: under way, or lost in a crash."""
    seconds_at_work: float
    """From the session's start to its end, breaks left out."""
