"""Sessions and iterations on one short line each, for lists of thousands."""

from enum import StrEnum

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.judgment import Verdict
from p2p.contracts.status import SessionStatus

MAX_LINES = 200
"""Most lines of one page."""


class SessionOrder(StrEnum):
    """How a list of sessions is sorted; equal ones by age, the newest first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    SCORE = "score"
    """Best first; those without a score last."""


class SessionLine(Contract):
    """A session in a list, in about 400 bytes of JSON; longer texts are cut and end in "…"."""

    session_id: str
    created_at: str
    """UTC, ISO 8601."""
    prompt: str
    """The sentence; empty for a reward trained without an intent."""
    env_id: str
    status: SessionStatus
    alias: str
    starred: bool
    tags: tuple[str, ...]
    iteration: int
    """The one it is at, from 1; 0 before the first."""
    max_iterations: int
    progress: float | None
    """Share of the environment steps made by the trainings of this iteration, in [0, 1]; None where nothing trains."""
    remaining_s: float | None
    """Expected time until this iteration is judged [s]; None where nothing trains, or its pace is not known yet."""
    best: int | None
    """Number of the best iteration so far; None before a verdict."""
    score: float | None
    """Of the best iteration, in [0, 1]."""
    success: tuple[float, float, float] | None
    """Share of its report rollouts that met everything required, and its 95 % interval: (share, low, high)."""
    scores: tuple[float | None, ...]
    """Of the last six judged iterations, oldest first, to two digits; None where nothing could be measured."""
    threshold: float
    """Score needed to pass."""
    error: str
    """Why it did not end well, in its first words; empty where nothing went wrong."""


class SessionQuery(Contract):
    """Which sessions a page lists."""

    q: str = Field(default="", max_length=200, description="Words that its sentence, id, alias or tags contain.")
    """All of them, in any order and case."""
    status: tuple[SessionStatus, ...] = ()
    """One of these; empty: any."""
    env: str = Field(default="", max_length=100, description="Environment.")
    tag: tuple[str, ...] = ()
    """All of these."""
    starred: bool = False
    """Only those with a star."""
    sort: SessionOrder = SessionOrder.NEWEST
    limit: int = Field(default=50, ge=1, le=MAX_LINES, description="Most lines of the page.")
    cursor: str = Field(default="", max_length=400, description="`next` of the page before; empty for the first.")


class SessionPage(Contract):
    """One page of a list of sessions."""

    lines: tuple[SessionLine, ...]
    next: str | None
    """Cursor of the next page; None after the last. One that is added meanwhile moves no other to another page."""
    total: int
    """Sessions that match, on all pages."""


class SessionFilters(Contract):
    """What there is to filter sessions by."""

    total: int
    """Sessions outside the trash."""
    statuses: dict[SessionStatus, int]
    """How many have each; those that no session has are left out."""
    environments: dict[str, int]
    tags: dict[str, int]


class IterationLine(Contract):
    """An iteration in a list; only those with a verdict have more than its number."""

    iteration_id: str
    """`<session>.iter_<n>`: "." is in no session's id."""
    session_id: str
    iteration: int
    env_id: str
    verdict: Verdict | None
    """None before it was judged."""
    score: float | None
    success_rate: float | None
    based_on: int | None
    """The iteration whose reward it changed; None for the first, and before its verdict."""
    best_run_id: str | None
    best_checkpoint: int | None
    failure_tags: tuple[str, ...]
    diagnosis: str
    """Its first words."""
    elapsed_s: float
    """Time at work [s]."""


class IterationPage(Contract):
    """One page of the iterations of all sessions, or of one."""

    lines: tuple[IterationLine, ...]
    """Those of the newest session first, and of each the newest first."""
    next: str | None
    """Cursor of the next page; None after the last."""
    total: int
