"""One member of a JSON text set or removed, every other character left as it is: order, indentation, comments."""

import json
import re
from enum import StrEnum
from typing import Any

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput, P2PError

STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING_OR_LAST_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])')
INDENT = re.compile(r"\s*\{\s*\n([ \t]+)\"")
SPACE = " \t\r\n"
JSON = json.JSONDecoder()


class Member(Contract):
    """Where a member of an object stands in the text, in characters."""

    key: str
    start: int
    """Its key's opening quote."""
    value: int
    end: int


class Object(Contract):
    """Where an object stands in the text."""

    start: int
    """Its opening brace."""
    end: int
    """Its closing brace."""
    members: tuple[Member, ...]

    def last(self, key: str) -> Member | None:
        """The member that counts: the last of its name."""
        return next((member for member in reversed(self.members) if member.key == key), None)


class Dialect(StrEnum):
    """What a program reads besides JSON."""

    STRICT = "strict"
    COMMENTED = "commented"
    """Comments."""
    LENIENT = "lenient"
    """Comments, and a comma after a last member."""


def parse(text: str, dialect: Dialect = Dialect.LENIENT) -> dict[str, Any]:
    """The object in a text; an empty text is an empty object.

    Raises:
        InvalidInput: it is not JSON of that dialect, or no object.
    """
    plain = {Dialect.STRICT: text, Dialect.COMMENTED: _uncommented(text)}.get(dialect, _plain(text))
    if not plain.strip():
        return {}
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError) as error:
        hint = " It has comments or commas that this client does not read." if plain != _plain(text) else ""
        raise InvalidInput(f"it is not valid JSON: {error}.{hint}") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"it holds a {type(value).__name__} where an object is expected.")
    return value


def with_member(text: str, path: tuple[str, str], value: Any) -> str:
    """The text with one member of an object in its outermost object set; the inner object is made when it is absent.

    Raises:
        InvalidInput: the text is not JSON, or what `path` leads through is no object.
    """
    section, key = path
    document, inner = _sections(text, section)
    if inner.get(key) == value:
        return text
    wanted = {**document, section: {**inner, key: value}}
    plain = _plain(text)
    if not plain.strip():
        return json.dumps(wanted, indent=2) + "\n"
    outer = _object(plain, plain.index("{"))
    found = outer.last(section)
    if found is None:
        return _checked(_set(text, outer, section, {key: value}, level=1), wanted)
    return _checked(_set(text, _object(plain, found.value), key, value, level=2), wanted)


def without_member(text: str, path: tuple[str, str]) -> str:
    """The text without that member, or as it is when there is none.

    Raises:
        InvalidInput: the text is not JSON, or what `path` leads through is no object.
    """
    section, key = path
    document, inner = _sections(text, section)
    wanted = {**document, section: {name: value for name, value in inner.items() if name != key}}
    while key in inner:
        plain = _plain(text)
        found = _object(plain, plain.index("{")).last(section)
        assert found is not None  # the text holds what was just parsed from it
        text = _cut(text, _object(plain, found.value), key)
        _, inner = _sections(text, section)
    return _checked(text, wanted) if section in document else text


def _sections(text: str, section: str) -> tuple[dict[str, Any], dict[str, Any]]:
    document = parse(text)
    inner = document.get(section, {})
    if not isinstance(inner, dict):
        raise InvalidInput(f"its {section!r} is not an object")
    return document, inner


def _checked(text: str, wanted: dict[str, Any]) -> str:
    """The text, once it is known to say what it must."""
    if parse(text) != wanted:
        raise P2PError("It cannot be edited without changing something else; add the server by hand")
    return text


def _plain(text: str) -> str:
    """The text with spaces for comments and for commas after a last member; all else keeps its place."""
    return STRING_OR_LAST_COMMA.sub(lambda match: match[0] if match[0][0] == '"' else " ", _uncommented(text))


def _uncommented(text: str) -> str:
    return STRING_OR_COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else _blank(match[0]), text)


def _blank(comment: str) -> str:
    return re.sub(r"[^\r\n]", " ", comment)


def _object(plain: str, start: int) -> Object:
    """The object that opens at `start` of a text known to be JSON."""
    members: list[Member] = []
    position = _skip(plain, start + 1)
    while plain[position] != "}":
        key, end = JSON.raw_decode(plain, position)
        value = _skip(plain, _skip(plain, end) + 1)
        _, end = JSON.raw_decode(plain, value)
        members.append(Member(key=key, start=position, value=value, end=end))
        position = _skip(plain, end)
        if plain[position] == ",":
            position = _skip(plain, position + 1)
    return Object(start=start, end=position, members=tuple(members))


def _skip(plain: str, position: int) -> int:
    while plain[position] in SPACE:
        position += 1
    return position


def _set(text: str, place: Object, key: str, value: Any, level: int) -> str:
    """Replace a member of an object `level` deep, or add it at the end."""
    match = INDENT.match(_plain(text))
    unit = match[1] if match else "  "
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=unit, ensure_ascii=False).splitlines()
    written = (newline + unit * level).join(lines)
    if found := place.last(key):
        return text[: found.value] + written + text[found.end :]
    member = f"{newline}{unit * level}{json.dumps(key)}: {written}"
    if not place.members and not text[place.start + 1 : place.end].strip():
        return text[: place.start + 1] + member + newline + unit * (level - 1) + text[place.end :]
    inside = text[: place.end].rstrip()
    last = place.members[-1].end if place.members else None
    if last is not None and _comma(text, last, place.end) is None:
        inside = text[:last] + "," + inside[last:]
    elif last is not None:  # whoever ends the last member with a comma goes on doing so
        member += ","
    own_line = "\n" in text[len(text[: place.end].rstrip()) : place.end]
    closing = text[len(text[: place.end].rstrip()) :] if own_line else newline + unit * (level - 1) + text[place.end :]
    return inside + member + closing


def _comma(text: str, start: int, end: int) -> int | None:
    """Where a comma stands between two places, outside comments."""
    found = STRING_OR_COMMENT.sub(lambda match: _blank(match[0]), text[start:end]).find(",")
    return None if found < 0 else start + found


def _cut(text: str, place: Object, key: str) -> str:
    """Remove a member with its comma and its line."""
    number = max(i for i, member in enumerate(place.members) if member.key == key)
    found = place.members[number]
    following = place.members[number + 1].start if number + 1 < len(place.members) else place.end
    comma = _comma(text, found.end, following)
    before = _comma(text, place.members[number - 1].end, found.start) if number else None
    end = found.end if comma is None else comma + 1
    start = len(text[: found.start].rstrip(" \t"))
    if text[end:].lstrip(" \t").startswith(("\r", "\n")):  # the member's lines are its own
        start = len(text[:start].removesuffix("\n").removesuffix("\r"))
    kept = text[:start] + text[end:]
    if comma is None and before is not None:
        kept = kept[:before] + kept[before + 1 :]
    closing = place.end - len(text) + len(kept)
    inside = kept[place.start + 1 : closing]
    return kept if inside.strip() else kept[: place.start + 1] + kept[closing:]
