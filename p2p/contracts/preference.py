"""Preference of eyes between two policies."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from p2p.contracts.base import Contract
from p2p.contracts.judgment import Observer, SentPicture

Side = Literal["first", "second", "same"]
Order = Literal["first", "second"]
"""Which of the two is shown above."""


class ComparedPolicy(Contract):
    """One of the two: what an iteration reached, or one of its checkpoints."""

    iteration: int = Field(ge=1)
    checkpoint: int | None = None
    """Step of a checkpoint of the run that was chosen; None takes what is judged."""

    def __str__(self) -> str:
        at = "" if self.checkpoint is None else f", step {self.checkpoint}"
        return f"iteration {self.iteration}{at}"


def _place(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    return {"upper": "above", "top": "above", "lower": "below", "bottom": "below", "tie": "same"}.get(word, word)


class Compared(Contract):
    """What was seen of the two."""

    above: str = Field(min_length=1, max_length=4000)
    """What the motion above does."""
    below: str = Field(min_length=1, max_length=4000)
    """What the motion below does."""
    better: Annotated[Literal["above", "below", "same"], BeforeValidator(_place)]
    """Which does what was meant better."""

    def side(self, above: Order) -> Side:
        """The better one, if `above` was shown above."""
        below: Order = "second" if above == "first" else "first"
        sides: dict[str, Side] = {"above": above, "below": below, "same": "same"}
        return sides[self.better]

    def reason(self, above: Order) -> str:
        """What was seen of both, in their order, if `above` was shown above."""
        one, two = (self.above, self.below) if above == "first" else (self.below, self.above)
        return f"First: {one} Second: {two}"


class Preference(Contract):
    """What eyes prefer, asked in both orders (a line of `preferences.jsonl`)."""

    session_id: str
    first: ComparedPolicy
    second: ComparedPolicy
    better: ComparedPolicy | None
    """None for a tie: they look alike, or the answer depended on which was shown above."""
    agreed: bool
    """Whether both orders gave the same answer."""
    answers: tuple[Side, Side]
    """With the first above, and with the second above."""
    reasons: tuple[str, str]
    """What was seen, in the same order."""
    pictures: tuple[SentPicture, SentPicture]
    observer: Observer = "api"
    """Who looked."""
    provider: str | None = None
    """Who supplied the model; None when nobody said."""
    model: str | None = None
    prompt_hash: str
    """Of the instructions that were given."""


class PairToCompare(Contract):
    """Two policies as their caller is shown them: twice together, changing places."""

    session_id: str
    first: ComparedPolicy
    second: ComparedPolicy
    rubric: str
    """How to compare."""
    pictures: tuple[str, str]
    """Relative to the runs directory. Which of the two is above in the first of them is not said."""
    notes: tuple[str, str]
    """How the moments of each picture were chosen."""


def preference(
    session_id: str,
    pair: tuple[ComparedPolicy, ComparedPolicy],
    pictures: tuple[SentPicture, SentPicture],
    said: tuple[Compared, Compared],
    **signed: str | None,
) -> Preference:
    """Preference from two answers: the better one if both orders agree, else a tie.

    Args:
        session_id: Whose they are.
        pair: The two.
        pictures: Both together: with the first above, and with the second above.
        said: What was seen in each of them.
        signed: Who looked, as the fields of `Preference`.
    """
    one, two = said[0].side("first"), said[1].side("second")
    chosen = {"first": pair[0], "second": pair[1], "same": None}
    return Preference.model_validate(
        {
            "session_id": session_id,
            "first": pair[0],
            "second": pair[1],
            "better": chosen[one] if one == two else None,
            "agreed": one == two,
            "answers": (one, two),
            "reasons": (said[0].reason("first"), said[1].reason("second")),
            "pictures": pictures,
            **signed,
        }
    )
