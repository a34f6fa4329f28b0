"""Training curves, thinned for readers who pay per token."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from p2p.contracts.metrics import Curve
from p2p.service.rounding import short

Rows = Sequence[Mapping[str, Any]]
STEP = "global_step"


def curve(run_id: str, name: str, rows: Rows, key: str, points: int) -> Curve | None:
    """Values of `key` over the steps, at most `points` of them; None if no row has any.

    Args:
        run_id: Whose.
        name: What it is called.
        rows: Of `scalars.jsonl`, oldest first.
        key: What is read of each; rows without it are left out.
        points: At least 2; the first and the last row are kept, and peaks before what lies between them.
    """
    found: list[tuple[int, float | None]] = []
    for row in rows:
        if (value := row.get(key)) is not None and STEP in row:
            finite = isinstance(value, int | float) and math.isfinite(value)
            found.append((int(row[STEP]), short(float(value)) if finite else None))
    if not found:
        return None
    kept = [found[index] for index in thinned([value for _, value in found], points)]
    return Curve(run_id=run_id, name=name, steps=tuple(step for step, _ in kept), values=tuple(v for _, v in kept))


def thinned(values: Sequence[float | None], points: int) -> list[int]:
    """At most `points` indices into `values`: the first, the last, and the extremes of even parts in between.

    Of few points, such as three, those that lie evenly are kept instead.
    """
    last = len(values) - 1
    parts = (points - 2) // 2
    if len(values) <= points:
        return list(range(len(values)))
    if not parts:
        return [round(index * last / (points - 1)) for index in range(points)]
    edges = [1 + round(part * (last - 1) / parts) for part in range(parts + 1)]
    kept = {0, last}
    for begin, end in pairwise(edges):
        known = [index for index in range(begin, end) if values[index] is not None] or [begin]
        kept |= {min(known, key=lambda i: values[i] or 0.0), max(known, key=lambda i: values[i] or 0.0)}
    return sorted(kept)
