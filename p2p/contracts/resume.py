"""Where an interrupted training goes on from."""

from typing import Any

from p2p.contracts.base import Contract


class SelectedCheckpoint(Contract):
    """A checkpoint that was evaluated before, without the values of its terms."""

    step: int
    mean_return: float
    intent_score: float | None
    """In [0, 1]; None without criteria."""
    success_rate: float | None
    """In [0, 1]; None without criteria."""
    terms: tuple[str, ...]
    """Names of the reward's terms, in order."""
    row: dict[str, Any]
    """Its row of metrics."""


class ResumePoint(Contract):
    """A training after a number of rollouts (`resume/point.json`); what it has learned and simulated lies beside it."""

    inputs: dict[str, str]
    """What is trained and by which versions: a point of anything else is not used."""
    rollouts: int
    """So many are learned from."""
    seconds: float
    """What they took [s]; work that was lost does not count."""
    resumed: int
    """How often the training was resumed."""
    peak_memory_mb: int
    """[MiB]."""
    evaluated: tuple[SelectedCheckpoint, ...]
    """Checkpoints that have been evaluated, in the order of their steps."""
    pending: tuple[int, ...]
    """Steps of checkpoints whose evaluation was under way."""
    scalars_bytes: int = 0
    """Length of the metrics then."""
    digest: str = ""
    """SHA-256 of the file of arrays."""
