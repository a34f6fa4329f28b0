"""Retries with backoff, within a total time limit."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.inference import ModelProblem, ModelReply, ModelTimeout
from p2p.inference.deadline import until

HEARTBEAT_S = 5.0


class Patience(Contract):
    """Limits on retries of one answer."""

    attempts: int = Field(default=6, ge=1)
    first_pause_s: float = Field(default=2.0, ge=0)
    """Before the second attempt; it doubles with each."""
    longest_pause_s: float = Field(default=60.0, ge=0)
    total_s: float = Field(default=1_800.0, gt=0)
    """For all attempts and pauses together."""


def ask_patiently(
    ask: Callable[[], ModelReply],
    patience: Patience,
    told: Callable[[ModelProblem], None] = lambda _: None,
    pause: Callable[[float], None] = time.sleep,
) -> ModelReply:
    """Ask, and retry after transient errors.

    A provider that says how long to wait is obeyed; another is waited for twice as long each time, half of it at
    random, so that those who were turned away together do not come back together.

    Args:
        ask: Asks once.
        patience: How long, and how often.
        told: Hears of each error, also of the last.
        pause: Waits the given time [s].

    Raises:
        ModelProblem: the last error, when asking again does not help or the time is up.
    """
    deadline = time.monotonic() + patience.total_s
    for attempt in range(1, patience.attempts + 1):
        try:
            with until(deadline):
                return ask()
        except ModelProblem as problem:
            told(problem)
            # Seconds to wait after an error.
            if problem.retry_after_s is not None:
                wait = problem.retry_after_s
            else:
                longest = min(patience.first_pause_s * 2.0 ** (attempt - 1), patience.longest_pause_s)
                wait = longest * (0.5 + 0.5 * random.random())
            if not problem.transient or attempt == patience.attempts:
                raise
            if time.monotonic() + wait >= deadline:
                raise _too_late(problem, wait, patience) from problem
        pause(wait)
    raise AssertionError("the loop returns or raises")


@contextmanager
def beating(heartbeat: Callable[[], None], every_s: float = HEARTBEAT_S) -> Iterator[None]:
    """Call `heartbeat` at intervals from a thread while the block waits."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every_s):
            heartbeat()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _too_late(problem: ModelProblem, wait: float, patience: Patience) -> ModelProblem:
    """Error of the same kind, saying that the time limit leaves no further attempt."""
    text = f"{problem} The next attempt, {wait:.0f} s from now, would exceed the limit of {patience.total_s:g} s."
    if isinstance(problem, ModelTimeout):
        return ModelTimeout(text, retry_after_s=problem.retry_after_s)
    return type(problem)(text)
