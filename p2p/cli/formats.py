"""Shares, times and bars in words."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from p2p.contracts.numbers import duration, interval_in_words, share_in_words

if TYPE_CHECKING:
    from p2p.contracts.session import SessionView

BARS = "▁▂▃▄▅▆▇█"


def plan_in_words(view: "SessionView") -> str:
    """How the runs share the machine, and for how long still: "6 runs, 2 at a time on 2 cores, about 4 min"."""
    plan = view.plan
    if plan is None:
        return ""
    runs = "1 run" if plan.n_runs == 1 else f"{plan.n_runs} runs, {plan.parallel} at a time,"
    cores = "1 core" if plan.cores == 1 else f"{plan.cores} cores"
    left = "" if view.remaining_s is None else f", about {duration(view.remaining_s)} left"
    if view.remaining_s is None and any(run.state == "running" and run.waiting is None for run in view.runs):
        left = ", estimating the time left"
    if any(run.planning for run in view.runs):
        left = ", planning motions to begin in"
    steps = plan.candidate_steps
    short = f"short trainings of candidates, {steps:,} steps each: " if steps else ""
    return f"{short}{runs} on {cores}{left}"


def share(value: float | None) -> str:
    """A share in [0, 1] as per cent, rounded down; "–" for none."""
    return share_in_words(value).replace("%", " %")


def interval(low: float | None, high: float | None) -> str:
    """An interval of a share as per cent, " [81 %, 97 %]"; empty for none."""
    return "" if low is None else f" [{interval_in_words(low, high, ', ').replace('%', ' %')}]"


def age(created_at: str, now: datetime | None = None) -> str:
    """How long ago a moment was, in its largest unit: "5 min"."""
    seconds = max(0.0, ((now or datetime.now(UTC)) - datetime.fromisoformat(created_at)).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def sparkline(values: Sequence[float], width: int = 20) -> str:
    """The course of a number, its last `width` values between their own lowest and highest."""
    recent = [value for value in values if math.isfinite(value)][-width:]
    if not recent:
        return ""
    low = min(recent)
    high = max(recent)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[min(len(BARS) - 1, round((value - low) / step))] for value in recent)


def short_path(path: Path) -> str:
    """A path as one would type it here: relative below the current directory, absolute elsewhere."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
