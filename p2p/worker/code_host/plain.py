"""Plain result of generated code: numbers, texts, booleans, lists and dicts, of limited size."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from pydantic import JsonValue

from p2p.contracts.errors import CodeFailed
from p2p.contracts.work import CodeLimits


def plain_result(value: Any, limits: CodeLimits) -> dict[str, JsonValue]:
    """Result of a function, as JSON.

    Raises:
        CodeFailed: it is no dict, or holds what is no plain value, or too much.
    """
    if not isinstance(value, dict):
        raise CodeFailed(f"the function returned {_kind(value)}; expected a dict from name to value.")
    result = _Copier(limits).copy(value, "the result", 0)
    assert isinstance(result, dict)
    return result


class _Copier:
    def __init__(self, limits: CodeLimits) -> None:
        self._limits = limits
        self._values = 0

    def copy(self, value: Any, place: str, depth: int) -> JsonValue:
        """Plain copy; `place` is its name in errors."""
        if isinstance(value, np.ndarray | np.generic):
            if value.size > self._limits.max_values:
                raise self._too_many()
            value = value.tolist()
        if isinstance(value, dict | list | tuple):
            return self._container(value, place, depth + 1)
        self._count()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, Integral):
            if abs(int(value)) > 1 << 53:
                raise CodeFailed(f"{place} is a whole number that is too large. Use float(…).")
            return int(value)
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
        shown = f"{value}" if isinstance(value, Real) else _kind(value)
        raise CodeFailed(f"{place} is {shown}; expected a finite number, a text, True, False, None, a list or a dict.")

    def _container(self, value: Any, place: str, depth: int) -> JsonValue:
        if depth > self._limits.max_depth:
            raise CodeFailed(f"{place} is nested deeper than {self._limits.max_depth} dicts and lists.")
        if not isinstance(value, dict):
            return [self.copy(item, f"{place}[{i}]", depth) for i, item in enumerate(value)]
        for name in value:
            if not isinstance(name, str):
                raise CodeFailed(f"{place} has {_kind(name)} as a key; expected text.")
            self._count()
        return {
            self._text(name, "a name"): self.copy(item, f"{place}[{name!r}]", depth) for name, item in value.items()
        }

    def _text(self, value: str, place: str) -> str:
        if len(value) > self._limits.max_characters:
            raise CodeFailed(f"{place} has {len(value)} characters, of {self._limits.max_characters} at most.")
        return str(value)

    def _count(self) -> None:
        self._values += 1
        if self._values > self._limits.max_values:
            raise self._too_many()

    def _too_many(self) -> CodeFailed:
        return CodeFailed(f"the result has more than {self._limits.max_values} values. Return a summary.")


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
