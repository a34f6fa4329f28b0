"""What people think of rollouts, and how far the judges agree with them."""

from pydantic import Field

from p2p.contracts.base import Contract


class Label(Contract):
    """A person's score of one recorded rollout (a line of `labels.jsonl`); the last of a person counts."""

    iteration: int
    run_id: str
    checkpoint: int
    """Step of the judged checkpoint."""
    rollout: str
    """Which of its recorded rollouts: "p10", "median" or "p90"."""
    seed: int
    """Of the rollout."""
    score: float = Field(ge=0, le=1)
    """How much of what was meant is there."""
    judged: float = Field(ge=0, le=1)
    """What the judges had given it when it was labelled; they are not shown to the person before."""
    annotator: str = Field(min_length=1, max_length=100)
    comment: str = Field(default="", max_length=1000)
    labelled_at: str
    """UTC, ISO 8601."""


class Agreement(Contract):
    """How far two sets of scores of the same rollouts agree."""

    n: int
    """How many rollouts both scored."""
    threshold: float
    """Score from which a rollout counts as good, for kappa."""
    spearman: float | None
    """Rank correlation in [-1, 1]; None for fewer than three, or where one side never varies."""
    kappa: float | None
    """Cohen's kappa of "good", in [-1, 1]; None where chance alone would agree always."""
    same_side: float | None
    """Share that both call good, or both do not."""


class Labels(Contract):
    """The labels of a session, or of all of them, with the judges' agreement."""

    session_id: str | None
    """None for all sessions."""
    labels: tuple[Label, ...]
    agreement: Agreement
