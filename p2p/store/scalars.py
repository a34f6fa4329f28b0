"""Metrics of a run: appended while it trains, read incrementally."""

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from p2p.store.growing_file import GrowingFile

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
    """Incremental reader of one file."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path)
        self._lock = Lock()
        self._begin()

    def read(self) -> tuple[Rows, Rows]:
        with self._lock:
            if self._file.replaced():
                self._begin()
            for _, row in self._file.values():
                (self._evaluations if row.get("type") == "eval" else self._training).append(row)
            return self._training.copy(), self._evaluations.copy()

    def _begin(self) -> None:
        self._training: Rows = []
        self._evaluations: Rows = []
