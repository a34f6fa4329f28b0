"""Entries: what others need to simulate the policies of a run again, and what came of it."""

from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract, RelativePath
from p2p.contracts.suite import CaseResult, Suite, SuiteRun


class Entry(Contract):
    """A run of a suite as it is handed to others (`results.json`)."""

    format: Literal[1] = 1
    suite: Suite
    """The whole suite, with its exams."""
    run: SuiteRun
    results: tuple[CaseResult, ...] = Field(max_length=100_000)
    env_kwargs: dict[str, dict[str, bool]] = {}
    """Session -> what its policy observes, where that is not all: Gymnasium's options of that."""
    files: dict[RelativePath, str]
    """SHA-256 of every other file of the entry, by its path."""


class ExportedEntry(Contract):
    """Where the entry of a run was written, and what it holds."""

    directory: str
    sessions: int
    policies: int
    """Of the sessions that sat an exam, each with the reward it was trained with."""


class EntryProblem(Contract):
    """Something in an entry that is not what it says."""

    where: str
    """Case and seed, or a file; empty for the entry as a whole."""
    what: str


class EntryReport(Contract):
    """What came of simulating an entry again."""

    run: str
    suite: str
    version: int
    digest: str
    known_suite: bool
    """Whether the suite is one that comes with p2p, or that the caller named: without, the entry vouches for its own
    exams."""
    sessions: int
    simulated: int
    """Policies that sat their exam again."""
    same: int
    """Of them those whose rollouts and results are the same to the bit."""
    exams_passed: int
    """By the rollouts simulated here."""
    problems: tuple[EntryProblem, ...]
    notes: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether nothing differs."""
        return not self.problems
