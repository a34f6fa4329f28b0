"""Criteria measured on one rollout."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.windows import (
    SLACK,
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
from p2p.contracts.intent import (
    CONDITIONAL,
    Combination,
    Comparison,
    Criterion,
    Intent,
    Measure,
    Predicate,
    Sampling,
    Statistic,
)

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
    if not dt > 0:
        raise InvalidInput(f"dt must be a positive number of seconds, got {dt}.")
    for criterion in intent.criteria:
        for name in criterion.predicate.names() if criterion.predicate is not None else ():
            if name not in features:
                raise UnknownName(f"feature in criterion {criterion.key!r}:", name, features)
    lengths = {name: np.shape(values) for name, values in features.items()}
    if any(shape != (rollout_length(features),) for shape in lengths.values()):
        raise InvalidInput(f"Features of one rollout must all have shape (T,) with the same T, got {lengths}.")
    measured: dict[str, Measurement] = {}
    for criterion in intent.criteria:
        earlier = measured[criterion.after] if criterion.after else None
        measured[criterion.key] = _measure_one(criterion, features, dt, earlier)
    return tuple(measured.values())


def first_met(predicate: Predicate, prefixes: Floats) -> int | None:
    """Index into the window at which a predicate is first met; None if the whole window does not meet it.

    | statistic                       | comparison | first met                                                |
    |---------------------------------|------------|----------------------------------------------------------|
    | start                           | all        | first sample                                             |
    | max, range, counts,             | at_least   | first prefix that satisfies it: no later step can undo   |
    | longest_hold                    |            | that                                                     |
    | min                             | at_most    | the same                                                 |
    | max, range, counts,             | at_most    | end of the window: any later step can still break it     |
    | longest_hold                    |            |                                                          |
    | min                             | at_least   | the same                                                 |
    | mean, std, percentile, rate,    | all        | the same                                                 |
    | steadiness, event_rate, fraction|            |                                                          |
    | min, max, range, counts,        | between    | first prefix that satisfies it, as something was         |
    | longest_hold                    |            | reached; end of the window when the first sample alone   |
    |                                 |            | satisfies it, as then something was kept                 |
    | final, change                   | all        | the same                                                 |
    | any that is compared by `versus`| all        | end of the later window                                  |

    Args:
        predicate: The claim.
        prefixes: Its statistic on the first 1, 2, … steps of the window, shape (n,); NaN before its first sample.
    """
    met = satisfies(prefixes, predicate)
    if not met[-1]:
        return None
    first = int(np.argmax(np.isfinite(prefixes)))
    settled = predicate.statistic is Statistic.START or predicate.comparison is _SETTLED.get(predicate.statistic)
    kept = predicate.statistic in _NEVER_SETTLED or predicate.comparison is _OPEN.get(predicate.statistic)
    if settled or not (kept or met[first]):
        return int(np.argmax(met))
    return len(met) - 1


def partial_credit(predicate: Predicate, value: float) -> float:
    """1 where `value` satisfies the predicate, falling linearly to 0 at `margin` away from it."""
    if satisfies(np.array([value]), predicate)[0]:
        return 1.0
    low, high = ends(predicate)
    distance = max(low - value, value - high)
    return max(0.0, 1.0 - distance / predicate.margin)


_GROWING = (
    Statistic.MAX,
    Statistic.RANGE,
    Statistic.COUNT_EVENTS,
    Statistic.COUNT_STEPS,
    Statistic.LONGEST_HOLD,
)
_SETTLED = {**dict.fromkeys(_GROWING, Comparison.AT_LEAST), Statistic.MIN: Comparison.AT_MOST}
_OPEN = {**dict.fromkeys(_GROWING, Comparison.AT_MOST), Statistic.MIN: Comparison.AT_LEAST}
_NEVER_SETTLED = frozenset(
    {
        Statistic.MEAN,
        Statistic.STD,
        Statistic.PERCENTILE,
        Statistic.RATE,
        Statistic.STEADINESS,
        Statistic.EVENT_RATE,
        Statistic.FRACTION,
    }
)


def _measure_one(criterion: Criterion, features: Features, dt: float, earlier: Measurement | None) -> Measurement:
    predicate = criterion.predicate
    visual = predicate is None or (earlier is not None and earlier.visual)
    unmeasured = Measurement(criterion.key, None, 0.0, False, visual=visual)
    if predicate is None or visual or (earlier is not None and earlier.met_step is None):
        return unmeasured
    begin = 0 if earlier is None or earlier.met_step is None else earlier.met_step + 1
    first = _measured(predicate, features, dt, begin)
    if first is None:
        return unmeasured
    window, prefixes = first
    value = float(prefixes[-1])
    if predicate.versus is None:
        step = first_met(predicate, prefixes)
        met_step = None if step is None else window.start + step
    else:
        second = _measured(predicate.versus, features, dt, begin)
        combined = None if second is None else _combined(predicate.versus.combination, value, float(second[1][-1]))
        if second is None or combined is None:
            return unmeasured
        value = combined
        met = bool(satisfies(np.array([value]), predicate)[0])
        met_step = max(window.stop, second[0].stop) - 1 if met else None
    return Measurement(
        key=criterion.key,
        value=value,
        score=partial_credit(predicate, value),
        met=met_step is not None,
        met_step=met_step,
    )


def _measured(measure: Measure, features: Features, dt: float, begin: int) -> tuple[slice, Floats] | None:
    """The window and the statistic of its first 1, 2, … steps; None if it cannot be measured."""
    window = window_steps(measure.window, features, dt, begin)
    if window is None:
        return None
    read = {bound.feature for bound in measure.where} | ({measure.feature} if measure.feature else set())
    if not all(bool(np.isfinite(features[name][window]).all()) for name in read):
        return None
    phases = None
    if measure.where:
        phases = Phases(
            all_hold(measure.where, features),
            window,
            1 if measure.least_s is None else max(1, ceil(measure.least_s / dt * (1.0 - SLACK))),
        )
    if measure.statistic in CONDITIONAL:
        assert phases is not None, "the contract gives it bounds"
        return window, _OF_PHASES[measure.statistic](phases, dt)
    values = values_of(measure, features)[window]
    steps = np.arange(len(values))
    if phases is not None and measure.at is not None:
        steps = phases.sampled(measure.at)
    if not len(steps):
        return None
    prefixes = _of_values(measure, values[steps], np.asarray(steps * dt, dtype=np.float64))
    if len(steps) == len(values):
        return window, prefixes
    held = np.searchsorted(steps, np.arange(len(values)), side="right") - 1
    return window, np.where(held < 0, np.nan, prefixes[held])


class Phases:
    """Runs of steps at which a condition holds, within a window.

    Args:
        flags: Where it holds, over the whole rollout, shape (T,).
        window: The steps that are read.
        least: Steps that a run must have to count.
    """

    def __init__(self, flags: Flags, window: slice, least: int) -> None:
        self._before = bool(flags[window.start - 1]) if window.start > 0 else True
        self._after = bool(flags[window.stop]) if window.stop < len(flags) else True
        self.flags = flags[window]
        self.least = least
        steps = np.arange(1, len(self.flags) + 1)
        self.ages = steps - np.maximum.accumulate(np.where(self.flags, 0, steps))
        """Length of the run so far at each step [steps]."""

    def steps(self) -> Floats:
        """Steps in runs that count, up to each step; a run counts once it is long enough."""
        added = np.where(self.ages == self.least, self.least, self.ages > self.least)
        return np.cumsum(added).astype(np.float64)

    def events(self) -> Floats:
        """Runs that count, up to each step."""
        return np.cumsum(self.ages == self.least).astype(np.float64)

    def longest(self) -> Floats:
        """Length of the longest run that counts, up to each step [steps]."""
        return np.maximum.accumulate(np.where(self.ages >= self.least, self.ages, 0)).astype(np.float64)

    def sampled(self, at: Sampling) -> NDArray[np.intp]:
        """Steps of the window at which a feature is read."""
        padded = np.concatenate(([False], self.flags, [False]))
        starts = np.flatnonzero(padded[1:-1] & ~padded[:-2])
        ends = np.flatnonzero(padded[1:-1] & ~padded[2:])
        long_enough = ends - starts + 1 >= self.least
        if at is Sampling.WHILE:
            runs = [np.arange(s, e + 1) for s, e in zip(starts[long_enough], ends[long_enough], strict=True)]
            return np.concatenate(runs) if runs else np.arange(0)
        if at is Sampling.ONSET:
            return starts[long_enough & ((starts > 0) | (not self._before))]
        return ends[long_enough & ((ends < len(self.flags) - 1) | (not self._after))]


def _of_values(measure: Measure, values: Floats, times: Floats) -> Floats:
    """Statistic of the first 1, 2, … values; if only the last is read, that one everywhere."""
    statistic = measure.statistic
    if statistic in _RUNNING:
        return _RUNNING[statistic](values)
    if statistic is Statistic.STD:
        value = values.std()
    elif statistic is Statistic.PERCENTILE:
        assert measure.percent is not None, "the contract gives a percentile its percent"
        value = np.percentile(values, measure.percent)
    else:
        elapsed = times[-1] - times[0]
        value = (values[-1] - values[0]) / elapsed if elapsed > 0 else 0.0
    return np.full(len(values), float(value))


def _mean(values: Floats) -> Floats:
    means = np.cumsum(values) / np.arange(1, len(values) + 1)
    means[-1] = values.mean()
    return means


def _range(values: Floats) -> Floats:
    return np.asarray(np.maximum.accumulate(values) - np.minimum.accumulate(values))


def _steadiness(values: Floats) -> Floats:
    """The same number for every prefix: only the whole window counts."""
    mean = values.mean()
    if mean == 0.0 or len(values) < STRETCHES:
        return np.zeros(len(values))
    parts = [part.mean() for part in np.array_split(values, STRETCHES)[1:]]
    return np.full(len(values), min(part / mean for part in parts))


def _combined(combination: Combination, first: float, second: float) -> float | None:
    if combination is Combination.DIFFERENCE:
        return first - second
    if combination is Combination.ASYMMETRY:
        largest = max(abs(first), abs(second))
        return abs(first - second) / largest if largest > 0 else 0.0
    ratio = first / second if second else np.inf
    return ratio if np.isfinite(ratio) else None


_RUNNING: dict[Statistic, Callable[[Floats], Floats]] = {
    Statistic.MEAN: _mean,
    Statistic.MIN: np.minimum.accumulate,
    Statistic.MAX: np.maximum.accumulate,
    Statistic.RANGE: _range,
    Statistic.START: lambda values: np.full(len(values), values[0]),
    Statistic.FINAL: lambda values: values,
    Statistic.CHANGE: lambda values: values - values[0],
    Statistic.STEADINESS: _steadiness,
}
_OF_PHASES: dict[Statistic, Callable[[Phases, float], Floats]] = {
    Statistic.COUNT_EVENTS: lambda phases, _dt: phases.events(),
    Statistic.COUNT_STEPS: lambda phases, _dt: phases.steps(),
    Statistic.EVENT_RATE: lambda phases, dt: phases.events() / (dt * np.arange(1, len(phases.flags) + 1)),
    Statistic.FRACTION: lambda phases, _dt: phases.steps() / np.arange(1, len(phases.flags) + 1),
    Statistic.LONGEST_HOLD: lambda phases, dt: phases.longest() * dt,
}
