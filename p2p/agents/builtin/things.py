"""What a sentence calls the thing beside a robot: "reach for the red cube" is "reach the target", if that is a cube."""

from collections.abc import Sequence
from itertools import takewhile

from p2p.agents.builtin.tokens import Token
from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.rewards.templates.bodies import RobotFacts, Thing

SHAPES = {
    "box": "box", "cube": "box", "block": "box", "brick": "box", "dice": "box", "die": "box",
    "ball": "sphere", "sphere": "sphere", "cylinder": "cylinder", "can": "cylinder", "capsule": "capsule",
}  # fmt: skip
"""Nouns -> the shape that they name."""
THINGS = frozenset({"object", "thing"})
"""Nouns that fit anything."""
COLOURS = frozenset({
    "red", "green", "blue", "yellow", "orange", "purple", "pink", "brown", "black", "white", "grey", "gray",
})  # fmt: skip
ADJECTIVES = COLOURS | {"small", "big", "little", "large", "loose"}
ARTICLES = frozenset({"the", "a", "an", "that"})
VERBS = (
    ("reach", "for"),
    ("reach", "at"),
    ("reach",),
    ("touch",),
    ("hit",),
    ("go", "to"),
    ("move", "to"),
    ("point", "at"),
)
"""What can be done with a thing; the first word may also end in -s, -es or -ing."""
TARGET = ("reach", "the", "target")


def named_target(words: Sequence[Token], body: RobotFacts) -> list[Token]:
    """The sentence with "reach the target" in the place of a verb and a noun that names the robot's thing.

    Raises:
        UnknownPhrase: the noun names another thing than there is.
    """
    if body.thing is None:
        return list(words)
    found: list[Token] = []
    position = 0
    while position < len(words):
        length = _length(words[position:], body.thing)
        found += TARGET if length else words[position : position + 1]
        position += length or 1
    return found


def _length(words: Sequence[Token], thing: Thing) -> int:
    """How many of the next words ask to reach the thing; 0 where they do not."""
    plain = [word for word in takewhile(lambda word: isinstance(word, str), words) if isinstance(word, str)]
    verb = next((verb for verb in VERBS if _begins(plain, verb)), None)
    if verb is None:
        return 0
    start = len(verb) + (1 if plain[len(verb) : len(verb) + 1] and plain[len(verb)] in ARTICLES else 0)
    known = ADJECTIVES | thing.words | SHAPES.keys() | THINGS
    phrase = list(takewhile(known.__contains__, plain[start:]))
    if not phrase or phrase[-1] in ADJECTIVES - thing.words:
        return 0
    noun = phrase[-1]
    fits = noun in thing.words | THINGS or SHAPES.get(noun) in thing.shapes
    colours = set(phrase) & COLOURS
    if not fits or (colours - thing.words and thing.words & COLOURS):
        said = " ".join(phrase)
        raise UnknownPhrase(
            f"There is no {said} beside this robot; there is {thing.in_words}.", Refusal.IMPOSSIBLE, (said,)
        )
    return start + len(phrase)


def _begins(words: Sequence[str], verb: Sequence[str]) -> bool:
    if len(words) < len(verb) or tuple(words[1 : len(verb)]) != tuple(verb[1:]):
        return False
    return words[0] in {verb[0] + ending for ending in ("", "s", "es", "ing")} | {f"{verb[0][:-1]}ing"}
