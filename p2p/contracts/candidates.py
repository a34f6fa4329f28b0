"""Several rewards written for one iteration, of which a short training of each chooses one."""

from enum import StrEnum

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


class CandidateState(StrEnum):
    """What became of one of them."""

    TRAINED = "trained"
    """It had its short training."""
    FAILED = "failed"
    """Its short training reached no end."""
    NO_ROOM = "no room"
    """The cap on environment steps had no room for its short training beside the trainings of the iteration."""
    ACCEPTED = "accepted"
    """It could be trained, and there was no other to compare it with."""
    REFUSED = "refused"
    """Its check refused it, also after its author had mended it."""
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
