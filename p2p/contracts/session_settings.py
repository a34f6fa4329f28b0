"""Settings of a session that may change on the way (`settings.jsonl`)."""

from typing import Annotated

from pydantic import Field

from p2p.contracts.base import Contract

SeedCount = Annotated[int, Field(ge=1, le=10)]
"""Trainings of each configuration."""
PassThreshold = Annotated[float, Field(gt=0, le=1)]
"""Score the report rollouts must reach."""


class SettingsRequest(Contract):
    """Settings to change; None leaves one as it is."""

    n_seeds: SeedCount | None = None
    pass_threshold: PassThreshold | None = None
    """Only higher once a policy has been measured."""
    stop_when_clear: bool | None = None


class SessionSettings(Contract):
    """The settings that may change, with their values."""

    n_seeds: int
    pass_threshold: float
    stop_when_clear: bool


class SettingsChange(Contract):
    """One change of a session's settings."""

    from_iteration: int
    """First iteration that is trained and judged by `after`."""
    by: str = Field(min_length=1, max_length=100)
    """Who changed them."""
    before: SessionSettings
    after: SessionSettings
    at: str
    """UTC, ISO 8601."""

    @property
    def words(self) -> tuple[str, ...]:
        """Each setting that changed, such as "n_seeds 2 → 3"."""
        old, new = self.before.model_dump(), self.after.model_dump()
        return tuple(f"{name} {old[name]} → {new[name]}" for name in old if old[name] != new[name])
