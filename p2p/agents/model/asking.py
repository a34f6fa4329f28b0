"""Ask a role: one question, an answer of a given type, and one repair."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from p2p.contracts.inference import ImagePart, Message, ModelRequest, TextPart, VideoPart, user
from p2p.inference.client import SessionModel
from p2p.inference.structured import IN_WORDS, Unusable, parse, structured
from p2p.inference.tool_loop import Tool, converse

Shape = TypeVar("Shape", bound=BaseModel)
AT_LAST = "Now your answer."
MAX_ROUNDS = 16
"""Of tools, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class RoleQuestion:
    """A question with its instructions."""

    system: str
    question: str
    pictures: tuple[ImagePart | VideoPart, ...] = ()

    def message(self, ending: str = "") -> Message:
        """The question as a message, pictures before words."""
        return Message(role="user", parts=(*self.pictures, TextPart(text=f"{self.question}{ending}")))


def no_problems(_: BaseModel) -> list[str]:
    """Accept any answer of the right type."""
    return []


class Role:
    """A model in one role.

    Args:
        model: As this role sees it: counted and capped.
        sample: Another one has what was answered before answered anew.
    """

    def __init__(self, model: SessionModel, sample: int = 0) -> None:
        self._model = model
        self._sample = sample

    @property
    def name(self) -> str:
        """`provider:model`."""
        return str(self._model.name)

    def ask(
        self, asked: RoleQuestion, shape: type[Shape], problems: Callable[[Shape], list[str]] = no_problems
    ) -> Shape:
        """Ask for an answer.

        Args:
            asked: What.
            shape: What the answer holds.
            problems: What is wrong with one, in words the model can act on; it is asked once more then.

        Raises:
            ModelProblem: there is none that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        request = ModelRequest(system=asked.system, messages=(asked.message(),), sample=self._sample)
        return structured(self._model, request, shape, _checking(problems))

    def ask_with_tools(
        self,
        asked: RoleQuestion,
        shape: type[Shape],
        tools: Sequence[Tool],
        problems: Callable[[Shape], list[str]] = no_problems,
        rounds: int = MAX_ROUNDS,
    ) -> Shape:
        """Like `ask`, with tools to look things up first, in a limited number of rounds."""
        schema = IN_WORDS.format(schema=json.dumps(shape.model_json_schema()))
        question = asked.message(f"\n\nWhen you have looked enough: {schema}")
        opening = ModelRequest(system=asked.system, messages=(question,), sample=self._sample)
        talk = converse(self._model, opening, tools, rounds)
        check = _checking(problems)
        try:
            return parse(talk.reply.text, shape, check)
        except Unusable as problem:
            again = user(f"{AT_LAST} The one you gave cannot be used: {problem}")
            request = ModelRequest(system=asked.system, messages=(*talk.messages, again), sample=self._sample)
            return structured(self._model, request, shape, check)


def _checking(problems: Callable[[Shape], list[str]]) -> Callable[[Shape], None]:
    def check(answer: Shape) -> None:
        if found := problems(answer):
            raise ValueError(" ".join(found))

    return check
