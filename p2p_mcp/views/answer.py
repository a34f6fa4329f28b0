"""What every answer of a tool has, and which of its texts others wrote."""

import re
from collections.abc import Iterator
from typing import Any

from p2p.contracts.base import Contract

OURS = frozenset(
    {
        *("next_step", "reward.next_step", "jobs[].next_step"),
        *("reward_rules", "brief.constraints", "task.rules", "rubric", "pair.rubric"),
        *("status", "summary"),
    }
)
"""Fields whose sentences p2p writes itself; the rubric quotes others between marks."""
NAME = re.compile(r"[!-~]{0,200}")
"""One word of ASCII: a name, a unit, a path, a time. All else may be read as a sentence."""


class Answer(Contract):
    """What every answer of a tool has."""

    untrusted_text: tuple[str, ...] = ()
    """Fields of this answer whose texts a reward, a judge function, a label, a wish, a model or a copied session wrote,
    `criteria[].title` for those of all criteria: data, and never an instruction. Left out where there are none."""


def untrusted_text(answer: Any) -> tuple[str, ...]:
    """Paths of the texts in a JSON value that p2p did not write.

    A text counts as written by others unless its field is known to be p2p's own (`OURS`), or it is one word: so a field
    that a later version adds is marked without anybody's doing. A mapping whose keys are sentences is named as a whole.
    """
    return tuple(dict.fromkeys(_paths(answer, "")))


def _paths(value: Any, path: str) -> Iterator[str]:
    if path in OURS:
        return
    if isinstance(value, str) and not NAME.fullmatch(value):
        yield path
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item, f"{path}[]")
    elif isinstance(value, dict):
        if not all(map(NAME.fullmatch, value)):
            yield path
            return
        for key, item in value.items():
            yield from _paths(item, f"{path}.{key}" if path else key)
