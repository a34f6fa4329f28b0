"""Steps of a rollout that a predicate reads, and steps at which a comparison holds."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.intent import Bound, Comparison, Measure, Predicate, Window

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Features = Mapping[str, Floats]

SLACK = 1e-9
"""Relative slack of every comparison: 43 steps of 0.05 s are not exactly 2.15 s."""


def window_steps(window: Window, features: Features, dt: float, begin: int) -> slice | None:
    """Steps of `window` from step `begin` on.

    The window starts at the first step at which every bound of `after` holds, is cut to `within_s`, and of what is
    then left the last share is kept: at least one step when there is any.

    Args:
        window: Which part is wanted.
        features: Name -> values, shape (T,).
        dt: Control period [s].
        begin: First step that may be read.

    Returns:
        A slice with start < stop, or None when there are no such steps.
    """
    end = rollout_length(features)
    start = begin
    if window.after:
        steps = np.flatnonzero(all_hold(window.after, features)[begin:])
        start = begin + int(steps[0]) if len(steps) else end
    if start >= end:
        return None
    if window.within_s is not None:
        end = min(end, start + max(1, round(window.within_s / dt)))
    kept = max(1, round(window.last_share * (end - start)))
    return slice(end - kept, end)


def all_hold(bounds: tuple[Bound, ...], features: Features) -> Flags:
    """Steps at which all `bounds` hold, shape (T,)."""
    flags = [satisfies(values_of(bound, features), bound) for bound in bounds]
    return np.asarray(np.logical_and.reduce(flags), dtype=np.bool_)


def values_of(claim: Bound | Measure, features: Features) -> Floats:
    """Values compared by a bound, or by a predicate with a feature, shape (T,)."""
    assert claim.feature is not None, "only a predicate that counts steps has no feature, and its bounds have one"
    values = np.asarray(features[claim.feature], dtype=np.float64)
    return np.abs(values) if claim.absolute else values


def satisfies(values: Floats, claim: Bound | Predicate) -> Flags:
    """Which of `values` satisfy the comparison of `claim`; non-finite values never do."""
    low, high = ends(claim)
    above = values >= low - SLACK * max(1.0, abs(low))
    below = values <= high + SLACK * max(1.0, abs(high))
    return np.isfinite(values) & above & below


def ends(claim: Bound | Predicate) -> tuple[float, float]:
    """The interval in which `claim` is true; an open side is infinite."""
    if claim.comparison is Comparison.AT_LEAST:
        return claim.threshold, np.inf
    if claim.comparison is Comparison.AT_MOST:
        return -np.inf, claim.threshold
    assert claim.upper is not None, "the contract gives `between` an upper end"
    return claim.threshold, claim.upper


def rollout_length(features: Features) -> int:
    """Number of samples T."""
    return len(next(iter(features.values()), ()))
