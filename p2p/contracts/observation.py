"""What eyes saw of a policy. Eyes are a person's or a model's; what code measures they do not overrule."""

import hashlib
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Key

Observer = Literal["api", "client_sampling", "calling_agent"]
"""Who looked: a configured provider, the caller's model at our request, or the caller itself."""

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
        """What it counts in a score, in [0, 1]; None where nothing was decided."""
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

    path: str
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
    """What had to be done otherwise than usual, in words; empty where nothing had to."""


def hash_of(*texts: str) -> str:
    """SHA-256 of instructions, first 16 hex digits: which version of them was used."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
