"""Two policies held against each other by eyes: in both orders, and a tie where these disagree."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from p2p.agents.model.asking import Asked, Role
from p2p.contracts.base import Contract
from p2p.contracts.intent import Criterion
from p2p.contracts.observation import hash_of
from p2p.contracts.preference import Candidate, Preference
from p2p.inference.client import SessionModel
from p2p.judges.album import Shown
from p2p.prompts import render

Side = Literal["first", "second", "same"]


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


class PairwiseJudge:
    """A model that compares.

    Args:
        model: As the role "vision_judge" of its session: counted and capped.
        prompt: What was asked for.
        criteria: It is judged by.
    """

    def __init__(self, model: SessionModel, prompt: str, criteria: tuple[Criterion, ...]) -> None:
        self._role, self._name = Role(model), model.name
        self._system = render("pairwise_judge", prompt=prompt, criteria=criteria)

    def compare(self, session_id: str, pair: tuple[Candidate, Candidate], pictures: tuple[Shown, Shown]) -> Preference:
        """Which of the two is better.

        Args:
            session_id: Whose they are.
            pair: The two.
            pictures: Both together: with the first above, and with the second above.

        Raises:
            ModelProblem: there is no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        (one, why_one), (two, why_two) = self._ask(pictures[0], "first"), self._ask(pictures[1], "second")
        chosen = {"first": pair[0], "second": pair[1], "same": None}
        return Preference(
            session_id=session_id,
            first=pair[0],
            second=pair[1],
            better=chosen[one] if one == two else None,
            agreed=one == two,
            answers=(one, two),
            reasons=(why_one, why_two),
            pictures=(pictures[0].sent, pictures[1].sent),
            provider=self._name.provider,
            model=self._name.model,
            prompt_hash=hash_of(self._system),
        )

    def _ask(self, picture: Shown, above: Literal["first", "second"]) -> tuple[Side, str]:
        """The better one and why, when the one called `above` is above."""
        below: Side = "second" if above == "first" else "first"
        asked = Asked(self._system, "Which does it better?", (picture.part(),))
        answer = self._role.ask(asked, Compared)
        sides: dict[str, Side] = {"above": above, "below": below, "same": "same"}
        said = {above: answer.above, below: answer.below}
        return sides[answer.better], f"First: {said['first']} Second: {said['second']}"
