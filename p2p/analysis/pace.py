"""Speed of a training, for estimates of its end."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Rows = Sequence[Mapping[str, Any]]

SETTLED_S = 3.0
SETTLED_ROWS = 8
"""Time and updates after the first one from which the pace is trusted; the first update carries the start."""
LONG_S = 10.0
"""Time after which one update is enough: the start is a small part of it."""
EVALUATION_FACTOR = 2.0
"""Time of an evaluation's step, with its features and its files, in terms of a collected step's; until an evaluation
has been measured. 2.2 … 2.6 of HalfCheetah-v5, 1.4 … 2.6 of Hopper-v5, 1.8 … 2.1 of Swimmer-v5, 0.8 … 1.6 of
Walker2d-v5 (`p2p lab eta`)."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What has been measured of a training's speed."""

    step_s: float
    """Time per environment step, without evaluations [s]."""
    evaluation_s: float | None
    """Time by which an evaluation delays the training [s]; None before one was followed by an update."""
    collect_s: float | None
    """Part of `step_s` that collects the step [s]; None where it was not measured."""

    def evaluation_time(self, steps: int) -> float:
        """Time of an evaluation of so many environment steps [s]: measured, else by the price of collecting them."""
        if self.evaluation_s is not None:
            return self.evaluation_s
        return EVALUATION_FACTOR * steps * (self.collect_s or 0.0)


def measured_pace(rows: Rows, evaluated: Collection[int] = ()) -> Pace | None:
    """Current pace of a training.

    The first third of the updates is left out: it holds the start, and the machine as it was then.

    Args:
        rows: Training rows of `scalars.jsonl`, oldest first.
        evaluated: Steps after which the policy was evaluated.

    Returns:
        None while too little has been measured to tell.
    """
    timed = [row for row in rows if row.get("elapsed_time") is not None and row.get("global_step")]
    if not timed:
        return None
    last = timed[-1]
    settled = last["elapsed_time"] - timed[0]["elapsed_time"] >= SETTLED_S and len(timed) > SETTLED_ROWS
    if not settled and last["elapsed_time"] < LONG_S:
        return None
    updates = [_Update.between(before, after) for before, after in zip(({}, *timed), timed, strict=False)]
    # the first update is left out as soon as there is another that carries no evaluation
    delayed = [update for update in updates[1:] if update.begun in evaluated]
    plain = [update for update in updates[1:] if update.begun not in evaluated] or updates[:1]
    recent = plain[(len(timed) - 1) // 3 :] or plain
    steps = sum(update.steps for update in recent)
    step_s = sum(update.seconds for update in recent) / steps
    collected = [update.collecting for update in recent if update.collecting is not None]
    return Pace(
        step_s=step_s,
        evaluation_s=max(0.0, fmean(one.seconds - one.steps * step_s for one in delayed)) if delayed else None,
        collect_s=sum(collected) / steps if len(collected) == len(recent) else None,
    )


@dataclass(frozen=True, slots=True)
class _Update:
    begun: int
    """Step at which it began."""
    steps: int
    seconds: float
    collecting: float | None

    @classmethod
    def between(cls, before: Mapping[str, Any], after: Mapping[str, Any]) -> "_Update":
        begun = before.get("global_step", 0)
        return cls(
            begun=begun,
            steps=after["global_step"] - begun,
            seconds=after["elapsed_time"] - before.get("elapsed_time", 0.0),
            collecting=after.get("rollout_time"),
        )
