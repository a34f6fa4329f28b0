"""Lenient parsing of numbers, states and tags in models' answers."""

import math
import re
from typing import Any

STATES = {
    "yes": "met",
    "partial": "partially_met",
    "partially": "partially_met",
    "partly_met": "partially_met",
    "no": "not_met",
    "unmet": "not_met",
    "unclear": "cannot_tell",
    "unknown": "cannot_tell",
}
NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:/\s*(\d+(?:\.\d+)?)|%)?\s*")


def score_of(value: Any) -> float:
    """Score in [0, 1] in steps of 0.1; values above 1 count as tenths, above 10 as hundredths.

    Raises:
        ValueError: it is no number, or outside all scales.
    """
    number = _number(value)
    if not math.isfinite(number) or number > 100:
        raise ValueError(f"{value!r} is not a score: give a number from 0 to 1")
    if number > 10:
        number /= 100
    elif number > 1:
        number /= 10
    return round(max(0.0, number), 1)


def sight_of(value: Any) -> Any:
    """Name of a state, in any spelling."""
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s-]+", "_", value.strip().lower())
    return STATES.get(word, word)


def tag_of(value: Any) -> Any:
    """Tag in snake_case."""
    if not isinstance(value, str):
        return value
    return re.sub(r"[^a-z0-9]+", "_", value.lower()).lstrip("_0123456789")[:60].rstrip("_") or "unnamed"


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a score: give a number from 0 to 1")
    if not isinstance(value, str):
        return float(value)
    found = NUMBER.fullmatch(value)
    if found is None:
        raise ValueError(f"{value!r} is not a score: give a number from 0 to 1")
    if found[2] is not None:
        return float(found[1]) / max(float(found[2]), 1.0)
    return float(found[1]) / (100 if "%" in value else 1)
