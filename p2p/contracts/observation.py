"""What eyes saw of a policy. Eyes are a person's or a model's; what code measures they do not overrule."""

from typing import Annotated, Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Key

Observer = Literal["api", "client_sampling", "calling_agent"]
"""Who looked: a configured provider, the caller's model at our request, or the caller itself."""

Tag = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]


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
