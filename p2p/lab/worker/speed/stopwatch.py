"""The time between two rollouts, measured while others are measured too."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.reward_rules import Method
from p2p.lab.contracts.measurement import MeasureRequest, SpeedMeasurement
from p2p.lab.records import MeasurementRecord
from p2p.worker.training.process import age_s, peak_memory_mb

WARM_UP_LAPS = 2
"""Rollouts before the first that counts: the first of a training proves its reward, the next one begins to use it."""
PATIENCE_S = 60.0
LOOK_S = 0.002


class Stopwatch:
    """Begins after the warm-up, when the jobs beside this one are warm too.

    Args:
        seconds: The measurement ends with the first lap that ends after so many.
        meet: Returns when all are warm.
    """

    def __init__(self, seconds: float, meet: Callable[[], None]) -> None:
        self._seconds = seconds
        self._meet = meet
        self._laps, self._first_steps, self._begun = 0, 0, 0.0
        self._steps, self._elapsed, self._paused, self._ready_s = 0, 0.0, 0.0, 0.0

    def ready(self) -> None:
        """Note that the first environment step is next."""
        self._ready_s = age_s()

    def lap(self, steps: int) -> bool:
        """A rollout begins after `steps` environment steps; True when the measurement is over."""
        self._laps += 1
        if self._laps <= WARM_UP_LAPS:
            return False
        if not self._begun:
            self._meet()
            self._first_steps = steps
            self._begun = time.perf_counter()
            self._paused = 0.0
            return False
        self._steps = steps - self._first_steps
        self._elapsed = time.perf_counter() - self._begun - self._paused
        return self._elapsed >= self._seconds

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude a block from the measured time."""
        begun = time.perf_counter()
        yield
        self._paused += time.perf_counter() - begun

    def result(self, method: Method | None = None) -> SpeedMeasurement:
        """The measurement, once it is over."""
        return SpeedMeasurement(
            steps=self._steps,
            seconds=self._elapsed,
            ready_s=self._ready_s,
            peak_memory_mb=peak_memory_mb(),
            method=method,
        )


def stopwatch(record: MeasurementRecord, request: MeasureRequest) -> Stopwatch:
    """The stopwatch of a job.

    Its `lap` raises:
        EnvironmentProblem: the jobs beside this one do not become warm.
    """
    others = [MeasurementRecord((record.path / path).resolve()) for path in request.beside]
    return Stopwatch(request.seconds, lambda: _meet(record, others))


def _meet(record: MeasurementRecord, others: Sequence[MeasurementRecord]) -> None:
    record.mark_warm()
    deadline = time.monotonic() + PATIENCE_S
    while not all(other.is_warm for other in others):
        if time.monotonic() > deadline:
            raise EnvironmentProblem(f"the measurements beside this one did not begin in {PATIENCE_S:g} s.")
        time.sleep(LOOK_S)
