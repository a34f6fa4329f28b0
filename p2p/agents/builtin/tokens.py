"""A sentence as words and quantities."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from p2p.contracts.errors import UnknownPhrase

_TOKEN = re.compile(r"(?<![a-z\d])-\d|\d+(?:[.]\d+)?|m/s|km/h|[a-z]+(?:'[a-z]+)?|°|[^\s,;:.!?\"()-]")
_NEGATIVE = re.compile(r"^-\d$")
_NUMBER = re.compile(r"^\d+(?:[.]\d+)?$")
_NAMES = {"walker2d": "walker", "halfcheetah": "cheetah", "half-cheetah": "cheetah", "half cheetah": "cheetah"}
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS: tuple[tuple[str, str, float], ...] = (
    ("m/s", "speed", 1.0),
    ("mps", "speed", 1.0),
    ("meters per second", "speed", 1.0),
    ("metres per second", "speed", 1.0),
    ("meter per second", "speed", 1.0),
    ("metre per second", "speed", 1.0),
    ("km/h", "speed", 1 / 3.6),
    ("kmh", "speed", 1 / 3.6),
    ("kph", "speed", 1 / 3.6),
    ("kilometers per hour", "speed", 1 / 3.6),
    ("kilometres per hour", "speed", 1 / 3.6),
    ("mph", "speed", 0.44704),
    ("miles per hour", "speed", 0.44704),
    ("cm", "length", 0.01),
    ("centimeters", "length", 0.01),
    ("centimetres", "length", 0.01),
    ("m", "length", 1.0),
    ("meter", "length", 1.0),
    ("metre", "length", 1.0),
    ("meters", "length", 1.0),
    ("metres", "length", 1.0),
    ("s", "time", 1.0),
    ("sec", "time", 1.0),
    ("secs", "time", 1.0),
    ("second", "time", 1.0),
    ("seconds", "time", 1.0),
    ("°", "turns", 1 / 360),
    ("deg", "turns", 1 / 360),
    ("degree", "turns", 1 / 360),
    ("degrees", "turns", 1 / 360),
    ("turn", "turns", 1.0),
    ("turns", "turns", 1.0),
    ("rotation", "turns", 1.0),
    ("rotations", "turns", 1.0),
    ("revolution", "turns", 1.0),
    ("revolutions", "turns", 1.0),
    ("time", "times", 1.0),
    ("times", "times", 1.0),
)
_LONGEST_FIRST = sorted(((tuple(unit.split()), kind, scale) for unit, kind, scale in _UNITS), key=lambda u: -len(u[0]))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    kind: str
    """"speed" [m/s], "length" [m], "time" [s], "turns", "times", or "number" without a unit."""
    value: float
    text: str
    """As the sentence has it."""


Token = str | Quantity


def tokens(sentence: str) -> tuple[Token, ...]:
    """Words in lower case, and quantities in SI units.

    Raises:
        UnknownPhrase: a number is negative.
    """
    text = sentence.lower().replace("’", "'")
    for long, short in _NAMES.items():
        text = text.replace(long, short)
    words = [word.replace("'", "") for word in _TOKEN.findall(text)]
    if any(_NEGATIVE.match(word) for word in words):
        raise UnknownPhrase(f"There is a negative number in {sentence!r}; say the direction in words instead.")
    return tuple(_with_quantities(words))


def _with_quantities(words: Sequence[str]) -> Iterator[Token]:
    position = 0
    while position < len(words):
        number = _number(words[position])
        if number is None:
            yield words[position]
            position += 1
            continue
        kind, scale, length = _unit(words[position + 1 :])
        text = " ".join(words[position : position + 1 + length])
        yield Quantity(kind, number * scale, text)
        position += 1 + length


def _number(word: str) -> float | None:
    if word in _NUMBER_WORDS:
        return float(_NUMBER_WORDS.index(word))
    return float(word) if _NUMBER.match(word) else None


def _unit(words: Sequence[str]) -> tuple[str, float, int]:
    """Kind, factor to SI, and number of words of the unit `words` begin with."""
    for unit, kind, scale in _LONGEST_FIRST:
        if tuple(words[: len(unit)]) == unit:
            return kind, scale, len(unit)
    return "number", 1.0, 0
