"""Difference of two sources, line by line and word by word."""

from enum import StrEnum

from p2p.contracts.base import Contract


class LineKind(StrEnum):
    """Which of the two sources has a line."""

    SAME = "same"
    OLD = "old"
    NEW = "new"
    SKIPPED = "skipped"
    """Stands for lines that both have."""


class DiffPart(Contract):
    """A piece of a line."""

    text: str
    changed: bool
    """Whether the other source has something else there."""


class DiffLine(Contract):
    """A line of a difference."""

    kind: LineKind
    old_number: int | None
    """In the first source, from 1; None where it has no such line."""
    new_number: int | None
    """In the second source, from 1; None where it has no such line."""
    parts: tuple[DiffPart, ...]
    """One after another they are the line."""


class SourceDiff(Contract):
    """The first source against the second."""

    added: int
    """Lines that only the second has."""
    removed: int
    """Lines that only the first has."""
    lines: tuple[DiffLine, ...]
    """Empty where the sources are equal."""
