"""Metrics of a run: appended while it trains, read incrementally."""

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from p2p.store import files

Rows = list[dict[str, Any]]
KEPT = 64
"""Files whose rows are remembered."""


def read_scalars(path: Path) -> tuple[Rows, Rows]:
    """Training and evaluation rows so far; only new bytes of a known file are parsed."""
    return _scalars(path).read()


@lru_cache(maxsize=KEPT)
def _scalars(path: Path) -> "_Scalars":
    return _Scalars(path)


class _Scalars:
    """Incremental reader of one file; remembers its offset."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._offset = 0
        self._begin()

    def read(self) -> tuple[Rows, Rows]:
        with self._lock:
            if self._identity() != self._seen or files.size(self._path) < self._offset:
                self._begin()  # another training has taken its place
            rows, self._offset = files.read_lines(self._path, self._offset)
            self._training += [row for row in rows if row.get("type") != "eval"]
            self._evaluations += [row for row in rows if row.get("type") == "eval"]
            return self._training.copy(), self._evaluations.copy()

    def _begin(self) -> None:
        self._seen = self._identity()
        self._offset = 0
        self._training: Rows = []
        self._evaluations: Rows = []

    def _identity(self) -> int | None:
        try:
            return self._path.stat().st_ino
        except OSError:
            return None
