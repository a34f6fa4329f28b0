"""Sentences as words, quantities and bounds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from p2p.contracts.errors import Refusal, UnknownPhrase

_TOKEN = re.compile(r"(?<![a-z\d])-\d|\d+(?:[.]\d+)?|m/sec|m/s|km/h|[a-z]+(?:'[a-z]+)?|°|[^\s,;:.!?\"()-]")
_NEGATIVE = re.compile(r"^-\d$")
_NUMBER = re.compile(r"^\d+(?:[.]\d+)?$")
_NAMES = {"walker2d": "walker", "halfcheetah": "cheetah", "half-cheetah": "cheetah", "half cheetah": "cheetah"}
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS: tuple[tuple[str, str, float], ...] = (
    ("m/s", "speed", 1.0),
    ("mps", "speed", 1.0),
    ("m per s", "speed", 1.0),
    ("m/sec", "speed", 1.0),
    ("meters a second", "speed", 1.0),
    ("metres a second", "speed", 1.0),
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
    ("km", "length", 1000.0),
    ("kilometers", "length", 1000.0),
    ("kilometres", "length", 1000.0),
    ("mm", "length", 0.001),
    ("minute", "time", 60.0),
    ("minutes", "time", 60.0),
    ("min", "time", 60.0),
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


class Limit(StrEnum):
    """Kind of bound a number sets."""

    ABOUT = "about"
    EXACTLY = "exactly"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class NumberWithUnit:
    """A number with its unit."""

    kind: str
    """"speed" [m/s], "length" [m], "time" [s], "turns", "times", or "number" without a unit."""
    value: float
    text: str
    """As the sentence has it."""
    limit: Limit = Limit.ABOUT
    upper: float | None = None
    """Upper end for `between`; None for the other limits."""


Token = str | NumberWithUnit

_BEFORE: tuple[tuple[Limit, str], ...] = (
    (
        Limit.AT_LEAST,
        "at least / no less than / not less than / more than / faster than / no slower than / not slower than / over / "
        "above / higher than / longer than / a minimum of / minimum of / at a minimum of / at no less than / "
        "at more than / at over / at speeds above / at speeds over / for at least / for more than / for over / "
        "for longer than",
    ),
    (
        Limit.AT_MOST,
        "at most / no more than / not more than / less than / fewer than / slower than / no faster than / "
        "not faster than / under / below / up to / lower than / no higher than / not higher than / a maximum of / "
        "maximum of / at a maximum of / at no more than / at less than / at under / at up to / at speeds below / "
        "not exceeding / without exceeding / never exceeding / at speeds under / for at most / for less than / "
        "for up to",
    ),
    (Limit.EXACTLY, "exactly / precisely / only / just / at exactly / at precisely / for exactly"),
    (Limit.ABOUT, "about / around / approximately / roughly / circa / at about / at around / for about / for around"),
)
_AFTER: tuple[tuple[Limit, str], ...] = (
    (Limit.AT_LEAST, "or more / or faster / or higher / or longer / at least / at a minimum / and more"),
    (Limit.AT_MOST, "or less / or slower / or lower / or fewer / at most / at the most / tops / at a maximum"),
    (Limit.EXACTLY, "exactly / precisely"),
)


def _by_length(table: Sequence[tuple[Limit, str]]) -> tuple[tuple[tuple[str, ...], Limit], ...]:
    found = [(tuple(text.split()), limit) for limit, texts in table for text in texts.split(" / ")]
    return tuple(sorted(found, key=lambda entry: -len(entry[0])))


_LIMITS_BEFORE = _by_length(_BEFORE)
_LIMITS_AFTER = _by_length(_AFTER)
LIMIT_WORDS = frozenset(word for words, _ in (*_LIMITS_BEFORE, *_LIMITS_AFTER) for word in words)
"""Words that bound a number."""
UNIT_WORDS = frozenset(word for unit, _, _ in _UNITS for word in unit.split() if word.isalpha() and len(word) > 1)
"""Words of the units."""
_SIGNS = (
    (">=", " at least "), ("≥", " at least "), ("<=", " at most "), ("≤", " at most "),
    (">", " more than "), ("<", " less than "), ("≈", " about "), ("~", " about "), ("&", " and "), ("’", "'"),
)  # fmt: skip
_MARKS = ",;:.!?\"'()"
_LONGER_READ, _LONGER_SAID = 2, 4
"""Words by which what is read may be longer than what is said, and the other way round."""
_COMMA = re.compile(r"\d+,\d+")
_DASH = re.compile(r"(?<=\d)\s*[-–—]\s*(?=\d)")
_POSSESSIVE = {"its": "your", "his": "your", "her": "your", "their": "your"}


def tokens(sentence: str) -> tuple[Token, ...]:
    """Words in lower case, and quantities in SI units.

    Raises:
        UnknownPhrase: a number is negative, or has a comma in it.
    """
    text = sentence.lower()
    if comma := _COMMA.search(text):
        said = comma[0]
        decimal = said.replace(",", ".")
        whole = said.replace(",", "")
        raise UnknownPhrase(f"{said!r}: a number takes no comma; say {decimal!r} or {whole!r}.", Refusal.VAGUE, (said,))
    for sign, words in _SIGNS:
        text = text.replace(sign, words)
    text = _DASH.sub(" to ", text)
    for long, short in _NAMES.items():
        text = text.replace(long, short)
    found = [canonical(word) for word in _TOKEN.findall(text)]
    if any(_NEGATIVE.match(word) for word in found):
        raise UnknownPhrase(
            f"There is a negative number in {sentence!r}; say the direction in words instead.", Refusal.CONFLICT
        )
    return tuple(_with_limits(list(_with_quantities(with_feet(found)))))


def as_said(read: str, sentence: str) -> str:
    """Part of a sentence that is read as `read`: "front foot" for "front your feet"; `read` where no part is."""
    words = sentence.split()
    length = len(read.split())
    for size in range(max(1, length - _LONGER_READ), length + _LONGER_SAID + 1):
        for start in range(len(words) - size + 1):
            part = " ".join(words[start : start + size])
            if _read_as(part) == read:
                return part.strip(_MARKS)
    return read


def _read_as(part: str) -> str | None:
    try:
        return " ".join(token if isinstance(token, str) else token.text for token in tokens(part))
    except UnknownPhrase:  # numbers that only the whole sentence puts in their places
        return None


def canonical(word: str) -> str:
    """Word without its apostrophe; all possessives are equal."""
    plain = word.replace("'", "")
    return _POSSESSIVE.get(plain, plain)


def with_feet(words: Sequence[str]) -> list[str]:
    """Limbs in the grammar's words: "on both feet" is "on your feet", "on one leg" is "on a single leg"."""
    found: list[str] = []
    for word in words:
        if word in _LEGS and found and found[-1] in _HOW_MANY_LEGS:
            found[-1:] = [*_HOW_MANY_LEGS[found[-1]], _LEGS[word]]
        elif word not in _FEET:
            found.append(word)
        else:
            while found and found[-1] in _OF_FEET:
                found.pop()
            found += ["your", "feet"]
    return found


_FEET = frozenset({"feet", "foot", "paws", "soles"})
_LEGS = {"leg": "leg", "legs": "legs", "foot": "leg", "feet": "legs"}
_HOW_MANY_LEGS = {"one": ("a", "single"), "single": ("single",), "1": ("a", "single"), "two": ("both",), "2": ("both",)}
_OF_FEET = frozenset({"your", "the", "both", "all", "of"})


def _with_quantities(words: Sequence[str]) -> Iterator[Token]:
    position = 0
    while position < len(words):
        number, said = _amount(words[position:])
        if number is None:
            yield words[position]
            position += 1
            continue
        kind, scale, length = _unit(words[position + said :])
        text = " ".join(words[position : position + said + length])
        yield NumberWithUnit(kind, number * scale, text)
        position += said + length


def _with_limits(found: list[Token]) -> Iterator[Token]:
    """Attach ranges and comparatives to the number they bound."""
    position = 0
    while position < len(found):
        token, length = _bounded(found[position:])
        yield token
        position += length


def _bounded(found: Sequence[Token]) -> tuple[Token, int]:
    """First token with its bound, and the number of tokens it takes."""
    ranged = _range(found)
    if ranged is not None:
        return ranged
    for words, limit in _LIMITS_BEFORE:
        rest = found[len(words) :]
        if tuple(found[: len(words)]) == words and rest and isinstance(rest[0], NumberWithUnit):
            text = f"{' '.join(words)} {rest[0].text}"
            return replace(rest[0], text=text, limit=limit), len(words) + 1
    first = found[0]
    if isinstance(first, NumberWithUnit):
        for words, limit in _LIMITS_AFTER:
            follows = found[1 + len(words) :]
            if tuple(found[1 : 1 + len(words)]) == words and not (follows and isinstance(follows[0], NumberWithUnit)):
                return replace(first, text=f"{first.text} {' '.join(words)}", limit=limit), 1 + len(words)
    return first, 1


def _range(found: Sequence[Token]) -> tuple[NumberWithUnit, int] | None:
    """ "between 2 and 3 m/s", "from 2 to 3 m/s", "2 to 3 m/s"; None for anything else."""
    skip = 0
    while skip < 2 and skip < len(found) and found[skip] in ("at", "between", "from", "for"):
        skip += 1
    part = found[skip : skip + 3]
    if len(part) < 3:
        return None
    low, link, high = part
    if not isinstance(low, NumberWithUnit) or not isinstance(high, NumberWithUnit):
        return None
    if link != "to" and not (link == "and" and skip and found[skip - 1] == "between"):
        return None
    if low.kind not in ("number", high.kind):
        return None
    value = low.value * _scale(high) if low.kind == "number" else low.value
    text = " ".join(token if isinstance(token, str) else token.text for token in found[: skip + 3])
    if value >= high.value:
        raise UnknownPhrase(f"{text!r}: the first number must be the smaller one.", Refusal.CONFLICT, (text,))
    return NumberWithUnit(high.kind, value, text, Limit.BETWEEN, high.value), skip + 3


def _scale(quantity: NumberWithUnit) -> float:
    """Factor to SI of the unit of a quantity."""
    number, _ = _amount(quantity.text.split())
    return quantity.value / number if number else 1.0


def _amount(words: Sequence[str]) -> tuple[float | None, int]:
    """Number at the start of `words`, and how many of them say it: "two", "two and a half", "half a" before a unit."""
    if tuple(words[:2]) == _HALF and _unit(words[2:])[0] in _HALVED:
        return 0.5, 2
    number = _number(words[0])
    if number is not None and tuple(words[1:4]) == ("and", "a", "half"):
        return number + 0.5, 4
    return number, 1


_HALF = ("half", "a")
_HALVED = frozenset({"speed", "length", "time"})
"""Kinds of which "half a" is a number; "half a turn" is a phrase of its own."""


def _number(word: str) -> float | None:
    if word in _NUMBER_WORDS:
        return float(_NUMBER_WORDS.index(word))
    return float(word) if _NUMBER.match(word) else None


def _unit(words: Sequence[str]) -> tuple[str, float, int]:
    """Kind, factor to SI, and number of words of the unit at the start of `words`."""
    for unit, kind, scale in _LONGEST_FIRST:
        if tuple(words[: len(unit)]) == unit:
            return kind, scale, len(unit)
    return "number", 1.0, 0
