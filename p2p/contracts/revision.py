"""What is changed from one iteration to the next, and why."""

from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.reward import ConfigVariant


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
    variants: tuple[ConfigVariant, ...] = ()
    """What is trained beside them, where the session tries several configurations."""


class Lesson(Contract):
    """What an iteration taught."""

    text: str
    tier: Literal["HARD", "STRONG", "SOFT", "RETIRED"] = "STRONG"
    learned_at: int
    """Number of the iteration."""
    tier_reason: str = ""
    """Why it was moved to its tier; empty where it never was."""


class ConfigUse(Contract):
    """One configuration of an iteration: what its runs were trained with, and what came of them."""

    directive: str = ""
    """What it tried, in a few words; empty for the base, and for what a person configured."""
    hyperparameters: dict[str, object]
    """All of them, as the runs were really trained."""
    n_completed: int
    """Trainings that reached their end."""
    mean_score: float | None
    """Over these, each at its best checkpoint, on selection rollouts; None without criteria."""
    std_score: float | None
    """None for fewer than two."""
    mean_return: float | None
    """Over these, at the end of the training, by the trained reward."""
    std_return: float | None
    best: bool
    """Whether the judged run is one of its own."""


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
    configs: dict[str, ConfigUse] = {}
    """Configuration -> how it was used."""


class Extension(Contract):
    """What a session goes on from."""

    session_id: str
    iteration: int
    """Whose reward its first iteration trains."""


class Lineage(Contract):
    """The tree of attempts of a session (`lineage.json`)."""

    iterations: dict[str, LineageEntry] = {}
    lessons: tuple[Lesson, ...] = ()
    extends: Extension | None = None
    """The iteration of an earlier session whose reward the first one trains."""
