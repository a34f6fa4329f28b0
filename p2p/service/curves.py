"""Curves over the steps of a training, thinned out for readers who pay by the number."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from p2p.contracts.metrics import Curve
from p2p.service.rounding import short

Rows = Sequence[Mapping[str, Any]]
STEP = "global_step"


def curve(run_id: str, name: str, rows: Rows, key: str, points: int) -> Curve | None:
    """The values of `key` over the steps, at most `points` of them; None where no row has any.

    Args:
        run_id: Whose.
        name: What it is called.
        rows: Of `scalars.jsonl`, oldest first.
        key: What is read of each; rows without it are left out.
        points: At least 2; the first and the last row are kept.
    """
    found = [(int(row[STEP]), row[key]) for row in rows if row.get(key) is not None and STEP in row]
    if not found:
        return None
    kept = [found[index] for index in thinned(len(found), points)]
    return Curve(
        run_id=run_id, name=name, steps=tuple(step for step, _ in kept), values=tuple(_number(v) for _, v in kept)
    )


def thinned(length: int, points: int) -> list[int]:
    """At most `points` indices below `length`, evenly spread, with the first and the last."""
    if length <= points:
        return list(range(length))
    return [round(index * (length - 1) / (points - 1)) for index in range(points)]


def _number(value: object) -> float | None:
    return short(float(value)) if isinstance(value, int | float) and math.isfinite(value) else None
