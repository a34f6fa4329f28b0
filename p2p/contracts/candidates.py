"""Several rewards written for one iteration, of which a short training of each chooses one."""

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.revision import Revision

MAX_CANDIDATES = 8
"""Rewards of one iteration; the prompts know as many shapes."""


class CandidatePlace(Contract):
    """Which of several rewards for the same purpose is written."""

    iteration: int
    number: int = Field(ge=1, le=MAX_CANDIDATES)
    """From 1."""
    count: int = Field(ge=1, le=MAX_CANDIDATES)
    """How many are written."""
    revision: Revision | None = None
    """What the iteration before led to, whose reward is the first candidate; None in the first iteration."""


class Candidate(Contract):
    """One of them, and what it reached in its short training; None where there was none."""

    number: int
    """From 1."""
    reasoning: str = ""
    terms: tuple[str, ...] = ()
    """Names of its terms."""
    mended: bool = False
    """Whether its check refused what was written first."""
    accepted: bool = False
    """Whether it could be trained."""
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
    """Why it was not trained to the end; empty where it was, or where nothing had to be compared."""


class CandidateChoice(Contract):
    """All of an iteration, and which became its reward (`candidates.json`)."""

    chosen: int
    """Number of the candidate."""
    candidates: tuple[Candidate, ...]
