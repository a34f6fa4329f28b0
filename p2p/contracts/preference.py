"""Which of two policies does it better, as eyes see it."""

from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.observation import SentPicture


class Candidate(Contract):
    """One of the two: what an iteration reached, or one of its checkpoints."""

    iteration: int = Field(ge=1)
    checkpoint: int | None = None
    """Step of a checkpoint of the run that was chosen; None takes what is judged."""

    def __str__(self) -> str:
        at = "" if self.checkpoint is None else f", step {self.checkpoint}"
        return f"iteration {self.iteration}{at}"


class Preference(Contract):
    """What eyes prefer, asked in both orders."""

    session_id: str
    first: Candidate
    second: Candidate
    better: Candidate | None
    """None for a tie: they look alike, or the answer depended on which was shown above."""
    agreed: bool
    """Whether both orders gave the same answer."""
    answers: tuple[Literal["first", "second", "same"], Literal["first", "second", "same"]]
    """With the first above, and with the second above."""
    reasons: tuple[str, str]
    """What was seen, in the same order."""
    pictures: tuple[SentPicture, SentPicture]
    provider: str
    model: str
    prompt_hash: str
