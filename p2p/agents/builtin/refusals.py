"""Refusal of a sentence: the word, the nearest known one, and three ways on."""

from dataclasses import dataclass
from typing import Protocol

from p2p.agents.builtin.spelling import nearest
from p2p.agents.builtin.tokens import LIMIT_WORDS, UNIT_WORDS, NumberWithUnit, as_said
from p2p.agents.builtin.vocabulary import LEXICON, Kind, Mark
from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.contracts.remedies import Remedy
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.bodies import RobotFacts

SHOWN = 4
"""Example sentences in a message."""
WORDS = frozenset(word for words in LEXICON for word in words) | LIMIT_WORDS | UNIT_WORDS
"""Every word of the grammar."""


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """Part of a sentence that is unknown or not measured yet."""

    text: str
    kind: Refusal
    problem: str
    """What is wrong with it, as a sentence."""
    suggestions: tuple[str, ...] = ()
    """Known words that may have been meant."""


class Part(Protocol):
    """Phrase of a sentence and its meaning."""

    @property
    def text(self) -> str:
        """Its text in the sentence."""
        ...

    @property
    def mark(self) -> Mark | NumberWithUnit | None:
        """Meaning; None for an unknown word."""
        ...


def explained(part: Part, sentence: str) -> UnreadPart:
    """Why a part of a sentence is left over, in the words of the sentence."""
    said = as_said(part.text, sentence)
    if isinstance(part.mark, Mark):
        kind = Refusal.VAGUE if part.mark.kind is Kind.VAGUE else Refusal.UNMEASURED
        what = "leaves something open" if kind is Refusal.VAGUE else "cannot be measured"
        return UnreadPart(said, kind, f"{said!r} {what}: {part.mark.value}.")
    return UnreadPart(said, Refusal.UNKNOWN, f"Not understood: {said!r}.", hints(part))


def hints(part: Part) -> tuple[str, ...]:
    """Known words that the unknown ones of a part may misspell."""
    return tuple(other for word in part.text.split() if word != (other := meant(word)))


def meant(word: str) -> str:
    """The word, or the known word it misspells."""
    return word if word in WORDS else nearest(word, WORDS) or word


def not_understood(error: UnknownPhrase, sentence: str, body: RobotFacts) -> UnknownPhrase:
    """Error with the ways on: other words, a model as author, or a reward of one's own.

    Args:
        error: What is wrong, naming the part of the sentence.
        sentence: The sentence.
        body: The robot.
    """
    near = error.suggestions
    hint = f" Did you mean {' and '.join(repr(word) for word in near)}?" if near else ""
    # Example sentences with most words in common.
    said = set(sentence.lower().split())
    offered = [text for line in examples(body) for text in line.split(", ")]
    known = "; ".join(sorted(offered, key=lambda text: -len(said & set(text.split())))[:SHOWN]) or "nothing yet"
    return UnknownPhrase(
        f"{error}{hint}\n"
        f"Nothing was trained. What to do next in {body.env_id}:\n"
        f"  say it in words that can be measured: {known}; {_MORE}\n"
        f"  let a language model read it: {Remedy.CHOOSE_AUTHOR.of()}\n"
        f"  write the reward yourself: {Remedy.TRAIN_REWARD.of(env=body.env_id)}",
        error.kind,
        error.words,
        error.suggestions,
    )


_MORE = "with 'slowly', 'as fast as you can', 'at least 2 m/s', 'without falling', 'for 5 seconds', '…, then …'"


def examples(body: RobotFacts) -> tuple[str, ...]:
    """One line of example sentences for each skill of the robot."""
    found = (kind() for kind in TEMPLATES.values())
    return tuple(", ".join(t.examples(body)) for t in found if t.refusal(body) is None)
