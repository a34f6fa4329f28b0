"""Spreads the runs of an iteration over a backend, as many at a time as there are cores."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.store.iterations import IterationRecord

RETRIES = 2
"""How often a run that was killed from outside is started again. One that failed by itself is not, until a resume; one
that a cluster's scheduler interrupted always is, if it got further than at its last start, or never began."""

LOOKING_SHARE = 0.01
"""Share of a core that looking at the runs may take, with the commands that ask for their states and what is done at
each look: a thousand are looked at every quarter of a minute, a few at once."""


class Trainer:
    """Trains runs to their end; called again, it adopts those still alive and skips the finished ones.

    Args:
        backend: where the runs are executed.
        job: what executes one run in its directory.
        max_parallel: runs at a time.
        tick: called at every look at the runs.
    """

    def __init__(self, backend: Backend, job: JobSpec, max_parallel: int, tick: Callable[[], None]) -> None:
        self.backend, self.job, self.max_parallel, self.tick = backend, job, max_parallel, tick

    def train(self, runs: Sequence[IterationRecord], poll_s: float = 0.2) -> None:
        """Return when every run has completed or failed."""
        live = {run.path: run for run in runs}
        tries = dict.fromkeys(live, 0)
        reached = dict.fromkeys(live, 0)
        pace = _Pace(poll_s)
        while True:
            states = {path: self._status(path) for path in live}
            waiting = [path for path, status in states.items() if self._startable(status, tries[path])]
            over = {path for path, status in states.items() if status is not None and status.state.finished}
            for path in over - set(waiting):
                del live[path]
            if not live:
                return
            begun = _processor_s()
            for path in waiting[: max(0, self.max_parallel - (len(live) - len(waiting)))]:
                status = states[path]
                before, reached[path] = reached[path], _learned(live[path])
                no_further = reached[path] <= before
                if status is None or not status.interrupted or (status.started_at and no_further):
                    tries[path] += 1
                self.backend.submit(self.job, path)
            submitted_s = _processor_s() - begun
            self.tick()
            time.sleep(pace.rest_s(submitted_s))

    def _status(self, path: Path) -> JobStatus | None:
        with suppress(InvalidInput):
            return self.backend.status(path)
        return None

    def _startable(self, status: JobStatus | None, tries: int) -> bool:
        if status is None:
            return True
        if status.state is JobState.COMPLETED or not status.state.finished or tries > RETRIES:
            return False
        if status.over_a_limit:
            return tries == 0
        killed = status.state in (JobState.LOST, JobState.CANCELLED) or status.signal is not None
        return killed or tries == 0


class _Pace:
    """Keeps the processor time of looks below a share of what passes, from the first look on.

    Args:
        least_s: Shortest pause between two looks [s].
    """

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._spent_s: float | None = None
        """Processor time up to the last pause [s]; None before the first, since what begins the runs is no look."""
        self._owed_s = 0.0
        """Processor time of looks that is not rested for yet [s]; negative where that of the next one is already."""

    def rest_s(self, apart_s: float) -> float:
        """Pause after a look, which pays for it, and for one more like it before that is made [s].

        Args:
            apart_s: Of the processor time since the last pause, what was no look [s].
        """
        before_s, self._spent_s = self._spent_s, _processor_s()
        if before_s is None:
            return self._least_s
        look_s = self._spent_s - before_s - apart_s
        rest_s = max(self._least_s, (self._owed_s + 2 * look_s) / LOOKING_SHARE)
        self._owed_s = max(-look_s, self._owed_s + look_s - rest_s * LOOKING_SHARE)
        return rest_s


def _processor_s() -> float:
    """Processor time of this process and of the commands that it has started [s]."""
    return sum(os.times()[:4])


def _learned(run: IterationRecord) -> int:
    """Rollouts that a run will not have to make again."""
    point = run.read_resume_point()
    return point.rollouts if point is not None else 0
