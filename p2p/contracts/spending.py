"""What models cost, how hard they think, and what a session may spend."""

import math
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract

MILLION = 1_000_000


class Price(Contract):
    """What a model costs [US dollars per million tokens]."""

    input: float = Field(ge=0)
    """Tokens read for the first time."""
    output: float = Field(ge=0)
    """Tokens written, those of thinking included."""
    cache_read: float = Field(ge=0)
    """Tokens found in the cache."""
    cache_write_5m: float = Field(ge=0)
    """Tokens kept for five minutes."""
    cache_write_1h: float = Field(ge=0)
    """Tokens kept for an hour."""

    @property
    def dearest_input(self) -> float:
        """Highest price of an input token."""
        return max(self.input, self.cache_write_5m, self.cache_write_1h)

    def affordable(self, dollars: float, reading: int) -> float:
        """Output tokens that `dollars` pay for if `reading` input tokens cost the maximum; may be infinite."""
        left = dollars - reading * self.dearest_input / MILLION
        if left < 0:
            return 0
        return math.inf if self.output == 0 else math.floor(left * MILLION / self.output)


Effort = Literal["low", "medium", "high", "xhigh", "max", "off"]
"""How hard the model thinks; "off" leaves thinking and effort out of the request."""


class Caps(Contract):
    """What a session may spend at most, over all its processes; None means that nothing caps it."""

    dollars: float | None = Field(default=10.0, ge=0)
    """For models whose price is known; another needs a cap in tokens."""
    tokens: int | None = Field(default=None, ge=0)
    """Read and written, the cached ones included."""
    calls: int | None = Field(default=1_000, ge=0)
    """Answers of models."""
    minutes: float | None = Field(default=None, gt=0)
    """Time at work, trainings included; breaks between them are not counted."""
    environment_steps: int | None = Field(default=None, ge=0)
    """Steps of all trainings."""
