"""What is changed from one iteration to the next, and why."""

from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract


class Change(Contract):
    """One change with its reason."""

    kind: Literal["reward", "config"]
    name: str
    """Term of the reward, or field of the training configuration."""
    old: object
    new: object
    reason: str
    """The measurement that led to it."""


class Revision(Contract):
    """The next reward and configuration (`revision.json`)."""

    based_on: int
    """Number of the iteration whose reward was changed."""
    diagnosis: str
    lesson: str
    changes: tuple[Change, ...] = Field(max_length=2)
    source: str
    """The next reward function."""
    config_changes: dict[str, object] = {}
    """Fields of `TrainConfig` the next iteration is trained with, on top of the session's own."""


class Lesson(Contract):
    """What an iteration taught."""

    text: str
    tier: Literal["HARD", "STRONG", "SOFT", "RETIRED"] = "STRONG"
    learned_at: int
    """Number of the iteration."""
    tier_reason: str = ""
    """Why it was moved to its tier; empty where it never was."""


class LineageEntry(Contract):
    """One iteration in the tree of attempts."""

    parent: int | None
    """Number of the iteration it was made from; None for the first."""
    score: float | None
    star: bool
    """True when it was the best so far."""
    lesson: str = ""
    diagnosis: str = ""
    failure_tags: tuple[str, ...] = ()
    final_return: float | None = None
    best_checkpoint: int | None = None
    best_run_id: str | None = None


class Lineage(Contract):
    """The tree of attempts of a session (`lineage.json`)."""

    iterations: dict[str, LineageEntry] = {}
    lessons: tuple[Lesson, ...] = ()
