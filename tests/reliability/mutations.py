"""Ways in which a file gets broken: by a crash, a disk, an editor, or another version of a program."""

import json
import random
from collections.abc import Callable
from typing import Any

STRANGE: tuple[Any, ...] = (None, 0, -1, 1e308, float("nan"), "", "x" * 1000, [], {}, True, [[]], "1e9", 2**80)
"""What may stand where something else is expected."""


def mutated(content: bytes, suffix: str, dice: random.Random) -> bytes:
    """Another content for a file, which differs."""
    ways = [_cut, _empty, _flipped, _zeroed, _another, _garbage]
    if suffix == ".json":
        ways += [_changed] * 6
    if suffix == ".jsonl":
        ways += [_changed_line] * 6
    while (new := dice.choice(ways)(content, dice)) == content:
        pass
    return new


def _cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(max(1, len(content)))]


def _empty(_content: bytes, _dice: random.Random) -> bytes:
    return b""


def _flipped(content: bytes, dice: random.Random) -> bytes:
    data = bytearray(content or b" ")
    for _ in range(dice.randint(1, 8)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)


def _zeroed(content: bytes, dice: random.Random) -> bytes:
    """As after a loss of power: the length is right, and the end was never written."""
    kept = dice.randrange(max(1, len(content)))
    return content[:kept] + bytes(max(1, len(content) - kept))


def _another(_content: bytes, dice: random.Random) -> bytes:
    return json.dumps(dice.choice(STRANGE)).encode()


def _garbage(_content: bytes, dice: random.Random) -> bytes:
    return dice.choice(
        (dice.randbytes(200), b"[" * 100_000, b'{"a":' * 50_000, "ä".encode("latin-1"), b"\xef\xbb\xbf{}")
    )


def _changed(content: bytes, dice: random.Random) -> bytes:
    """One value of a JSON document replaced, removed or added."""
    value = json.loads(content)
    places = list(_places(value))
    if not places:
        return json.dumps(dice.choice(STRANGE)).encode()
    change = dice.choice(places)
    change(dice)
    return json.dumps(value, indent=2).encode()


def _changed_line(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines()
    if not lines:
        return b"{}\n"
    number = dice.randrange(len(lines))
    lines[number] = _changed(lines[number], dice).replace(b"\n", b"")
    return b"\n".join(lines) + b"\n"


def _places(value: Any) -> list[Callable[[random.Random], None]]:
    """A change for each value in a document."""
    found: list[Callable[[random.Random], None]] = []
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    for key in keys:
        found += [_replacing(value, key), _removing(value, key), *_places(value[key])]
    if isinstance(value, dict):
        found.append(lambda dice: value.update(unknown=dice.choice(STRANGE)))
    return found


def _replacing(value: Any, key: Any) -> Callable[[random.Random], None]:
    def replace(dice: random.Random) -> None:
        value[key] = dice.choice(STRANGE)

    return replace


def _removing(value: Any, key: Any) -> Callable[[random.Random], None]:
    def remove(_dice: random.Random) -> None:
        del value[key]

    return remove
