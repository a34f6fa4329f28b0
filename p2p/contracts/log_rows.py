"""Rows that loggers write, made from the records of a session."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class LogTable:
    """A table; each row has a value for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | bool | None, ...], ...]


@dataclass(frozen=True)
class LogRow:
    """What is logged at one step of a stream; made again from the same records, it is equal."""

    stream: str
    """"train", "eval" or "iteration"; the rows of a stream are logged in their order."""
    step: int
    """Environment steps, or the number of the iteration."""
    wall_time: float
    """Unix time [s]."""
    scalars: Mapping[str, float]
    """Finite numbers; every name begins with the stream and a slash, and there is at least one."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """In Markdown."""
    tables: Mapping[str, LogTable] = field(default_factory=dict)
    videos: Mapping[str, Path] = field(default_factory=dict)
    """Files in MP4."""

    @property
    def mark(self) -> int:
        """Number that tells this row from another one of its stream, by its step and scalars in single precision; only
        within this process, since Python hashes texts anew in each."""
        return mark_of(self.step, self.scalars)


def mark_of(step: int, scalars: Mapping[str, float]) -> int:
    """The mark of a row that was read back from a log."""
    return hash((step, *((name, struct.pack("<f", single(value))) for name, value in sorted(scalars.items()))))


def single(value: float) -> float:
    """The nearest number of single precision that is finite."""
    largest = 3.4028234663852886e38
    return max(-largest, min(largest, value))


@dataclass(frozen=True)
class LogTarget:
    """What a log is of: a run, or the iterations of a session."""

    session_id: str
    name: str
    """"iter_1/baseline_seed_10", or "session"."""
    directory: Path
    """Of the run, or of the session; the log lies in it."""
    settings: Mapping[str, str | float | bool]
    """Hyperparameters, or what the session was asked for."""
    metrics: Sequence[str] = ()
    """Names of the scalars that its settings are compared by."""
