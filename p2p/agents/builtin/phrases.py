"""From a sentence to skills: every word of it must be accounted for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from p2p.agents.builtin.meaning import Said, skill_of
from p2p.agents.builtin.refusals import not_understood
from p2p.agents.builtin.tokens import Quantity, Token, tokens
from p2p.agents.builtin.vocabulary import LEXICON, LONGEST, Kind, Mark
from p2p.contracts.errors import UnknownPhrase
from p2p.rewards.templates import template
from p2p.rewards.templates.bodies import Body
from p2p.rewards.templates.skill import Skill

MAX_STEPS = 3
"""Steps of a sequence."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A phrase of the sentence with what it says."""

    text: str
    mark: Mark | Quantity | None
    """None for what is not understood."""


def parse(sentence: str, body: Body) -> tuple[Skill, ...]:
    """The skills a sentence asks this robot for, in the order they are to be done.

    Raises:
        UnknownPhrase: a part is not understood or contradicts another, or the robot cannot do it.
    """
    try:
        steps = _steps(_pieces(tokens(sentence)))
        unknown = _unknown(steps)
        if unknown:
            raise UnknownPhrase(f"Not understood: {', '.join(repr(part) for part in unknown)} in {sentence!r}.")
        if len(steps) > MAX_STEPS:
            raise UnknownPhrase(f"{sentence!r} has {len(steps)} steps; at most {MAX_STEPS} are understood.")
        skills = tuple(skill_of([Said(p.text, p.mark) for p in step if p.mark], body) for step in steps)
    except UnknownPhrase as error:
        raise not_understood(str(error), body) from error
    for skill in skills:
        reason = template(skill.name).refusal(body)
        if reason is not None:
            raise not_understood(f"{sentence!r} cannot be done in {body.env_id}: {reason}.", body)
    return skills


def _pieces(words: Sequence[Token]) -> list[Piece]:
    """The longest known phrases, from left to right; unknown words in a row are one piece."""
    found: list[Piece] = []
    position = 0
    while position < len(words):
        piece, length = _match(words[position : position + LONGEST])
        if piece.mark is None and found and found[-1].mark is None:
            piece = Piece(f"{found.pop().text} {piece.text}", None)
        found.append(piece)
        position += length
    return found


def _match(words: Sequence[Token]) -> tuple[Piece, int]:
    first = words[0]
    if isinstance(first, Quantity):
        return Piece(first.text, first), 1
    plain = [word for word in takewhile(lambda word: isinstance(word, str), words) if isinstance(word, str)]
    for length in range(len(plain), 0, -1):
        mark = LEXICON.get(tuple(plain[:length]))
        if mark is not None:
            return Piece(" ".join(plain[:length]), mark), length
    return Piece(first, None), 1


def _steps(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Split at "then" and its like; a step that says nothing is none."""
    steps: list[list[Piece]] = [[]]
    for piece in pieces:
        if isinstance(piece.mark, Mark) and piece.mark.kind is Kind.NEXT:
            steps.append([])
        else:
            steps[-1].append(piece)
    said = [step for step in steps if any(_says_something(piece) for piece in step)]
    if not said:
        raise UnknownPhrase("The sentence says nothing the robot could do.")
    return said


def _says_something(piece: Piece) -> bool:
    return not (isinstance(piece.mark, Mark) and piece.mark.kind is Kind.FILLER)


def _unknown(steps: Sequence[Sequence[Piece]]) -> list[str]:
    """What is not understood; a filler between two such parts belongs to them."""
    found: list[str] = []
    for step in steps:
        gap: list[str] | None = None
        for piece in step:
            if piece.mark is None:
                if gap is None:
                    found.append(piece.text)
                else:
                    found[-1] = " ".join([found[-1], *gap, piece.text])
                gap = []
            elif gap is not None:
                gap = None if _says_something(piece) else [*gap, piece.text]
    return found
