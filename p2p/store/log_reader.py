"""A log of numbered lines, read from where it was last read to, and from any number on."""

from array import array
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from p2p.store import files
from p2p.store.growing_file import GrowingFile

NONE_AFTER = 2**62
KEPT = 256
"""Logs whose places are remembered: sixteen bytes a line."""


def log_after(path: Path, number: int, limit: int) -> tuple[list[Any], int]:
    """The first `limit` lines whose `seq` is larger than a number, oldest first, and the `seq` of the newest line.

    Lines that are broken, or whose number is smaller than that of the line before, are skipped. Only new bytes of a
    known file are looked through.

    Args:
        path: Of the log; 0 lines if it is absent.
        number: 0 for all.
        limit: Most lines.
    """
    return _places(path).after(number, limit)


def newest_number(path: Path) -> int:
    """The `seq` of the newest line of a log; 0 where there is none."""
    return _places(path).after(NONE_AFTER, 1)[1]


@lru_cache(maxsize=KEPT)
def _places(path: Path) -> "_Places":
    return _Places(path)


class _Places:
    """Where the lines of one log begin."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path)
        self._lock = Lock()
        self._begin()

    def after(self, number: int, limit: int) -> tuple[list[Any], int]:
        with self._lock:
            self._look()
            first = bisect_right(self._numbers, number)
            last = min(first + limit, len(self._numbers))
            newest = self._numbers[-1] if self._numbers else 0
            if first >= last:
                return [], newest
            begin, end = self._starts[first], self._starts[last] if last < len(self._starts) else self._file.offset
            wanted = set(self._starts[first:last])
        placed, _ = files.read_placed_lines(self._file.path, begin, end)
        return [line for start, line in placed if start in wanted], newest

    def _begin(self) -> None:
        self._numbers = array("q")
        self._starts = array("q")

    def _look(self) -> None:
        if self._file.replaced():
            self._begin()
        for start, line in self._file.values():
            number = line.get("seq") if isinstance(line, dict) else None
            if isinstance(number, int) and number >= (self._numbers[-1] if self._numbers else 1):
                self._numbers.append(number)
                self._starts.append(start)
