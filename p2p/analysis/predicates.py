"""Criteria measured on one rollout."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from p2p.analysis.windows import (
    Features,
    Flags,
    Floats,
    all_hold,
    ends,
    rollout_length,
    satisfies,
    values_of,
    window_steps,
)
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import CONDITIONAL, Comparison, Criterion, Intent, Predicate, Statistic

STRETCHES = 6
"""Equal parts of a window that steadiness compares."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One criterion on one rollout."""

    key: str
    value: float | None
    """In the predicate's unit; None when it could not be measured."""
    score: float
    """Partial credit in [0, 1]."""
    met: bool
    met_step: int | None = None
    """Step at which it was first met, see `first_met`; None when it was not."""
    visual: bool = False
    """True when only eyes can judge it, or what it comes after."""


def measure(intent: Intent, features: Features, dt: float) -> tuple[Measurement, ...]:
    """Measure every criterion of `intent` on one rollout.

    A criterion that comes after another reads only the steps after the one at which that was first met; it is not
    measured when that was not met. One that cannot be measured, for this reason, for want of steps in its window, or
    because a value it reads is not finite, is not met and has no partial credit.

    Args:
        intent: What was asked.
        features: Name -> values, shape (T,), one sample per control step.
        dt: Control period [s].

    Returns:
        One measurement per criterion, in the intent's order.

    Raises:
        InvalidInput: a predicate reads a feature that is not in `features` (`UnknownName`), the features differ in
            length, or `dt` is not positive.
    """
    _check(intent, features, dt)
    measured: dict[str, Measurement] = {}
    for criterion in intent.criteria:
        earlier = measured[criterion.after] if criterion.after else None
        measured[criterion.key] = _measure_one(criterion, features, dt, earlier)
    return tuple(measured.values())


def first_met(predicate: Predicate, prefixes: Floats) -> int | None:
    """Index into the window at which a predicate was first met, or None when the whole window does not meet it.

    | statistic                    | comparison | first met                                                   |
    |------------------------------|------------|-------------------------------------------------------------|
    | max, count, longest_hold     | at_least   | first prefix that satisfies it: no later step can undo that |
    | min                          | at_most    | the same                                                    |
    | max, count, longest_hold     | at_most    | end of the window: any later step can still break it        |
    | min                          | at_least   | the same                                                    |
    | mean, steadiness, fraction   | all        | the same                                                    |
    | min, max, count, longest_hold| between    | first prefix that satisfies it, as something was reached;   |
    |                              |            | end of the window when the first sample alone satisfies it, |
    |                              |            | as then something was kept                                  |
    | final, change                | all        | the same                                                    |

    Args:
        predicate: The claim.
        prefixes: Its statistic on the first 1, 2, … samples of the window, shape (n,).
    """
    met = satisfies(prefixes, predicate)
    if not met[-1]:
        return None
    settled = predicate.comparison is _SETTLED.get(predicate.statistic)
    kept = predicate.statistic in _NEVER_SETTLED or predicate.comparison is _OPEN.get(predicate.statistic)
    if settled or not (kept or met[0]):
        return int(np.argmax(met))
    return len(met) - 1


def partial_credit(predicate: Predicate, value: float) -> float:
    """1 where `value` satisfies the predicate, falling linearly to 0 at `margin` away from it."""
    if satisfies(np.array([value]), predicate)[0]:
        return 1.0
    low, high = ends(predicate)
    distance = max(low - value, value - high)
    return max(0.0, 1.0 - distance / predicate.margin)


_SETTLED = {
    Statistic.MAX: Comparison.AT_LEAST,
    Statistic.COUNT: Comparison.AT_LEAST,
    Statistic.LONGEST_HOLD: Comparison.AT_LEAST,
    Statistic.MIN: Comparison.AT_MOST,
}
_OPEN = {
    Statistic.MAX: Comparison.AT_MOST,
    Statistic.COUNT: Comparison.AT_MOST,
    Statistic.LONGEST_HOLD: Comparison.AT_MOST,
    Statistic.MIN: Comparison.AT_LEAST,
}
_NEVER_SETTLED = frozenset({Statistic.MEAN, Statistic.STEADINESS, Statistic.FRACTION})


def _measure_one(criterion: Criterion, features: Features, dt: float, earlier: Measurement | None) -> Measurement:
    predicate = criterion.predicate
    visual = predicate is None or (earlier is not None and earlier.visual)
    unmeasured = Measurement(criterion.key, None, 0.0, False, visual=visual)
    if predicate is None or visual or (earlier is not None and earlier.met_step is None):
        return unmeasured
    begin = 0 if earlier is None or earlier.met_step is None else earlier.met_step + 1
    window = window_steps(predicate.window, features, dt, begin)
    if window is None or not _finite(predicate, features, window):
        return unmeasured
    prefixes = _prefixes(predicate, features, window, dt)
    value, step = float(prefixes[-1]), first_met(predicate, prefixes)
    return Measurement(
        key=criterion.key,
        value=value,
        score=partial_credit(predicate, value),
        met=step is not None,
        met_step=None if step is None else window.start + step,
    )


def _prefixes(predicate: Predicate, features: Features, window: slice, dt: float) -> Floats:
    if predicate.statistic in CONDITIONAL:
        return _OF_FLAGS[predicate.statistic](all_hold(predicate.where, features)[window], dt)
    return _OF_VALUES[predicate.statistic](values_of(predicate, features)[window])


def _mean(values: Floats) -> Floats:
    means = np.cumsum(values) / np.arange(1, len(values) + 1)
    means[-1] = values.mean()
    return means


def _steadiness(values: Floats) -> Floats:
    """The same number for every prefix: only the whole window counts."""
    mean = values.mean()
    if mean == 0.0 or len(values) < STRETCHES:
        return np.zeros(len(values))
    parts = [part.mean() for part in np.array_split(values, STRETCHES)[1:]]
    return np.full(len(values), min(part / mean for part in parts))


def _count(flags: Flags, _dt: float) -> Floats:
    return np.cumsum(flags & ~np.concatenate(([False], flags[:-1]))).astype(np.float64)


def _fraction(flags: Flags, _dt: float) -> Floats:
    return np.cumsum(flags) / np.arange(1, len(flags) + 1)


def _longest_hold(flags: Flags, dt: float) -> Floats:
    steps = np.arange(1, len(flags) + 1)
    run = steps - np.maximum.accumulate(np.where(flags, 0, steps))
    return np.maximum.accumulate(run) * dt


_OF_VALUES: dict[Statistic, Callable[[Floats], Floats]] = {
    Statistic.MEAN: _mean,
    Statistic.MIN: np.minimum.accumulate,
    Statistic.MAX: np.maximum.accumulate,
    Statistic.FINAL: lambda values: values,
    Statistic.CHANGE: lambda values: values - values[0],
    Statistic.STEADINESS: _steadiness,
}
_OF_FLAGS: dict[Statistic, Callable[[Flags, float], Floats]] = {
    Statistic.COUNT: _count,
    Statistic.FRACTION: _fraction,
    Statistic.LONGEST_HOLD: _longest_hold,
}


def _finite(predicate: Predicate, features: Features, window: slice) -> bool:
    names = {predicate.feature} if predicate.feature else {bound.feature for bound in predicate.where}
    return all(bool(np.isfinite(features[name][window]).all()) for name in names)


def _check(intent: Intent, features: Features, dt: float) -> None:
    if not dt > 0:
        raise InvalidInput(f"dt must be a positive number of seconds, got {dt}.")
    for criterion in intent.criteria:
        for name in _names(criterion.predicate):
            if name not in features:
                raise UnknownName(f"feature in criterion {criterion.key!r}:", name, features)
    lengths = {name: np.shape(values) for name, values in features.items()}
    if any(shape != (rollout_length(features),) for shape in lengths.values()):
        raise InvalidInput(f"Features of one rollout must all have shape (T,) with the same T, got {lengths}.")


def _names(predicate: Predicate | None) -> list[str]:
    if predicate is None:
        return []
    bounds = (*predicate.where, *predicate.window.after)
    own = [predicate.feature] if predicate.feature else []
    return own + [bound.feature for bound in bounds]
