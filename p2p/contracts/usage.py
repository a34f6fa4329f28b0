"""What a language model used, and what that costs."""

import math

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
        """The most a token that is read can cost."""
        return max(self.input, self.cache_write_5m, self.cache_write_1h)

    def affordable(self, dollars: float, reading: int) -> float:
        """Tokens of an answer that `dollars` pay for when `reading` tokens cost the most they can; may be infinite."""
        left = dollars - reading * self.dearest_input / MILLION
        if left < 0:
            return 0
        return math.inf if self.output == 0 else math.floor(left * MILLION / self.output)


class Usage(Contract):
    """Tokens of one answer, as the provider counted them."""

    input: int = Field(default=0, ge=0)
    """Read for the first time."""
    output: int = Field(default=0, ge=0)
    """Written, those of thinking included."""
    thinking: int = Field(default=0, ge=0)
    """Those of `output` that were thought and not said."""
    cache_read: int = Field(default=0, ge=0)
    cache_write_5m: int = Field(default=0, ge=0)
    cache_write_1h: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        """All tokens read and written."""
        return self.input + self.output + self.cached

    @property
    def cached(self) -> int:
        """Tokens found in the provider's cache, or put there."""
        return self.cache_read + self.cache_write_5m + self.cache_write_1h

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


def cost(usage: Usage, price: Price) -> float:
    """What an answer costs [US dollars]."""
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write_5m * price.cache_write_5m
        + usage.cache_write_1h * price.cache_write_1h
    ) / MILLION
