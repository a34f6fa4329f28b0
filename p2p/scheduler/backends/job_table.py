"""What a scheduler said last of all its jobs: one question for all of them, and no more often than is polite."""

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from typing import NamedTuple, TypeVar

from p2p.contracts.errors import NodeUnreachable
from p2p.contracts.job import LIMIT_BROKEN
from p2p.contracts.remedies import Remedy

ASK_S = (1.0, 10.0)
"""How often a scheduler is asked at most: the first while jobs change, up to the second when nothing has changed for a
while [s]."""
MISSING_S = 0.2
"""Age from which an answer is no proof that a job is not there: another process may have submitted it since [s]."""
SILENT_S = 2.0
"""How long a scheduler that did not answer is left alone [s]."""
FULL_S = 30.0
"""How long a scheduler that takes no more jobs is offered none [s]."""
T = TypeVar("T")


def out_of_memory(asked: str) -> str:
    """Why a job ended that its scheduler stopped for its memory.

    Args:
        asked: How much it had asked for, with its unit.
    """
    return (
        f"{LIMIT_BROKEN} it took more memory than it had asked for, {asked}. Give the runs of this cluster more: "
        f"{Remedy.GIVE_MEMORY.of()}"
    )


class Phase(StrEnum):
    """What a scheduler does with a job."""

    WAITING = "waiting"
    RUNNING = "running"
    OVER = "over"
    """It has let the job go, or never had it."""


class Ending(StrEnum):
    """Why a scheduler let a job go."""

    UNKNOWN = "unknown"
    """It does not say, or the job ended by itself."""
    INTERRUPTED = "interrupted"
    """For reasons of its own: preempted, out of time, a machine that failed."""
    CANCELLED = "cancelled"
    """Somebody ended it with the scheduler's own commands."""
    FAILED = "failed"
    """It broke a limit and would again."""


class Report(NamedTuple):
    """What a scheduler says of a job."""

    phase: Phase
    reason: str = ""
    """In the scheduler's words, and what to do about it."""
    ending: Ending = Ending.UNKNOWN


class JobTable:
    """Last answer of one scheduler, by the jobs' names."""

    def __init__(self) -> None:
        self._jobs: Mapping[str, Report] = {}
        self._lock = threading.Lock()
        self._asked = self._changed = self._outdated = float("-inf")
        self._silence: tuple[float, NodeUnreachable] | None = None
        self._refusal = float("-inf"), ""

    def find(self, name: str, ask: Callable[[], Mapping[str, Report]], fresh: bool = False) -> Report | None:
        """What is said of a job; None for one that the scheduler does not know.

        Args:
            name: Of the job.
            ask: Asks the scheduler for all jobs.
            fresh: Whether an answer from before this call will not do.

        Raises:
            NodeUnreachable: the scheduler does not answer.
        """
        with self._lock:
            now = time.monotonic()
            least, most = ASK_S
            patience_s = min(most, max(least, (now - self._changed) / 10)) if name in self._jobs else MISSING_S
            if fresh or self._asked <= self._outdated or now - self._asked > patience_s:
                self._ask(now, ask)
            return self._jobs.get(name)

    def outdate(self) -> None:
        """Note that something was done which the last answer does not tell."""
        self._outdated = self._changed = time.monotonic()

    def through(self, call: Callable[[], T]) -> T:
        """What a call of the scheduler returns; one that was silent a moment ago is not called.

        Raises:
            NodeUnreachable: the scheduler does not answer.
        """
        if self._silence is not None and time.monotonic() - self._silence[0] < SILENT_S:
            raise self._silence[1]
        try:
            answer = call()
        except NodeUnreachable as error:
            self._silence = time.monotonic(), error
            raise
        self._silence = None
        return answer

    @property
    def refusal(self) -> str:
        """Why the scheduler took no more jobs a moment ago; empty when it may take some."""
        when, reason = self._refusal
        return reason if time.monotonic() - when < FULL_S else ""

    @refusal.setter
    def refusal(self, reason: str) -> None:
        self._refusal = time.monotonic(), reason

    def _ask(self, now: float, ask: Callable[[], Mapping[str, Report]]) -> None:
        jobs = self.through(ask)
        self._asked = now
        if jobs != self._jobs:
            self._changed = now
        self._jobs = jobs


_TABLES: dict[Hashable, JobTable] = {}


def table_of(scheduler: Hashable) -> JobTable:
    """The table of a scheduler: one for all backends of this process that ask it."""
    return _TABLES.setdefault(scheduler, JobTable())
