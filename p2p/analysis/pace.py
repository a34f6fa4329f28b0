"""Speed of a training, for estimates of its end."""

from collections.abc import Mapping, Sequence
from typing import Any

SETTLED_S = 3.0
SETTLED_ROWS = 8
"""Time and updates after the first one from which the pace is trusted; the first update carries the start."""
LONG_S = 10.0
"""Time after which one update is enough: the start is a small part of it."""


def seconds_per_step(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Current time per environment step, evaluations included [s].

    The first third of the updates is left out: it holds the start, and the machine as it was then.

    Args:
        rows: Training rows of `scalars.jsonl`, oldest first.

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
    if len(timed) == 1:
        return float(last["elapsed_time"] / last["global_step"])
    first = timed[(len(timed) - 1) // 3]
    steps = last["global_step"] - first["global_step"]
    return float((last["elapsed_time"] - first["elapsed_time"]) / steps) if steps > 0 else None
