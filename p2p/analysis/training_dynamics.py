"""The course of a training, in numbers and in words."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.plateau import STILL_HELD

Floats = NDArray[np.float64]

KL_SPIKE = 0.1
"""approx_kl of an update that moved the policy further than clipping and an early stop should allow."""
SPIKE_SHARE = 0.05
"""Share of such updates that is worth a warning."""
ENOUGH_ROWS = 9
"""Fewer updates than this say nothing about a trend: three to each third."""
FLAT = 0.05
"""Rise over the last third, as a share of the whole training's range, below which the return stands still."""
NOISE = 1.5
"""A rise below this many of its standard errors is not told from noise."""
PREFIX = "reward_term_"

_MEANS = ("approx_kl", "clip_fraction")


def dynamics(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Numbers of a training, from the rows of its `scalars.jsonl`.

    Rows of evaluations (`type` is "eval") and values that are missing or not finite are left out; a number that
    nothing is known about is absent. None depends on the scale of the reward.

    | name                           | meaning                                                                        |
    |--------------------------------|--------------------------------------------------------------------------------|
    | updates                        | training rows                                                                  |
    | not_finite                     | values among them that were NaN or infinite                                    |
    | approx_kl, clip_fraction       | mean                                                                           |
    | approx_kl_max, kl_spike_share  | largest; share of updates above `KL_SPIKE`                                     |
    | explained_variance             | mean of the last fifth                                                         |
    | entropy_drop                   | first minus last fifth [nats]                                                  |
    | policy_std, policy_std_ratio   | mean of the last fifth; the same over the first update's                       |
    | value_loss_growth              | median of the last fifth over that of the first half                           |
    | return_first, return_last      | mean of the first and last fifth                                               |
    | return_max                     | largest mean of a fifth that slides over the rows                              |
    | return_gain, return_drop       | last minus first, largest minus last, both over the range of the returns       |
    | return_slope                   | straight-line rise over the last third, over the range of the returns          |
    | plateau                        | 1 when that is within `FLAT`, or its own noise, of 0; else 0                   |
    | assistance_first, _last        | first share of the weight that was held; mean of the last fifth                |
    | reward_term_<name>_first/_last | mean of the first and last fifth                                               |
    """
    training = [row for row in rows if row.get("type") != "eval"]
    numbers: dict[str, float] = {
        "updates": float(len(training)),
        "not_finite": float(
            sum(1 for row in training for value in row.values() if _is_number(value) and not math.isfinite(value))
        ),
    }
    for name in _MEANS:
        if len(values := _series(training, name)):
            numbers[name] = float(values.mean())
    numbers |= _policy(training)
    if len(explained := _series(training, "explained_variance")):
        numbers["explained_variance"] = _last_fifth(explained)
    loss = _series(training, "value_loss")
    if len(loss) >= ENOUGH_ROWS and (early := float(np.median(loss[: len(loss) // 2]))) > 0:
        numbers["value_loss_growth"] = float(np.median(loss[-_fifth(loss) :])) / early
    numbers |= _returns(_series(training, "episodic_return"))
    if len(held := _series(training, "curriculum_assistance")):
        numbers |= {"assistance_first": float(held[0]), "assistance_last": _last_fifth(held)}
    for name in sorted({key for row in training for key in row if key.startswith(PREFIX)}):
        if len(values := _series(training, name)):
            numbers |= {f"{name}_first": _first_fifth(values), f"{name}_last": _last_fifth(values)}
    return numbers


def dynamics_warnings(numbers: Mapping[str, float]) -> tuple[str, ...]:
    """Problems in the numbers of `dynamics`, in words."""
    return tuple(text.format(**numbers) for name, wrong, text in _WARNINGS if name in numbers and wrong(numbers[name]))


_WARNINGS: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("not_finite", lambda x: x > 0, "{not_finite:.0f} training values were not finite."),
    (
        "kl_spike_share",
        lambda x: x > SPIKE_SHARE,
        "The policy jumped in {kl_spike_share:.0%} of the updates (approx_kl up to {approx_kl_max:.2g}); "
        "a lower learning rate or fewer epochs would steady it.",
    ),
    (
        "policy_std_ratio",
        lambda x: x < 0.1,
        "Exploration collapsed: the policy's standard deviation fell to {policy_std_ratio:.1%} of its start.",
    ),
    (
        "explained_variance",
        lambda x: x < 0.2,
        "The value function explains {explained_variance:.0%} of the returns' variance; 50 % or more is usual.",
    ),
    (
        "value_loss_growth",
        lambda x: x > 5.0,
        "The value loss grew to {value_loss_growth:.1f} times that of the first half; it may be diverging.",
    ),
    (
        "return_drop",
        lambda x: x > 0.3,
        "The return fell after its best, from {return_max:.4g} to {return_last:.4g}.",
    ),
    (
        "assistance_last",
        lambda x: x > STILL_HELD,
        "At the end of the training {assistance_last:.0%} of the robot's weight were still held; judged rollouts hold "
        "nothing.",
    ),
    (
        "plateau",
        lambda x: x == 1.0,
        "The return did not rise measurably over the last third of the training (it ends at {return_last:.4g}).",
    ),
)


def _policy(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    if len(kl := _series(rows, "approx_kl")):
        numbers |= {"approx_kl_max": float(kl.max()), "kl_spike_share": float(np.mean(kl > KL_SPIKE))}
    if len(entropy := _series(rows, "entropy")):
        numbers["entropy_drop"] = _first_fifth(entropy) - _last_fifth(entropy)
    if len(std := _series(rows, "policy_std")):
        numbers["policy_std"] = _last_fifth(std)
        if std[0] > 0:
            numbers["policy_std_ratio"] = _last_fifth(std) / float(std[0])
    return numbers


def _returns(values: Floats) -> dict[str, float]:
    if not len(values):
        return {}
    sliding = np.convolve(values, np.full(_fifth(values), 1.0 / _fifth(values)), mode="valid")
    first, last, largest = _first_fifth(values), _last_fifth(values), float(sliding.max())
    numbers = {"return_first": first, "return_last": last, "return_max": largest}
    if len(values) < ENOUGH_ROWS:
        return numbers
    scale = float(values.max() - values.min()) or 1.0
    rise, error = _straight_rise(values[-(len(values) // 3) :])
    return numbers | {
        "return_gain": (last - first) / scale,
        "return_drop": (largest - last) / scale,
        "return_slope": rise / scale,
        "plateau": float(abs(rise) <= max(FLAT * scale, NOISE * error)),
    }


def _straight_rise(values: Floats) -> tuple[float, float]:
    """Rise of the least-squares line over `values`, and its standard error."""
    steps = np.arange(len(values), dtype=np.float64) - (len(values) - 1) / 2
    sum_of_squares = float(steps @ steps)
    slope = float(steps @ values) / sum_of_squares
    residuals = values - values.mean() - slope * steps
    variance = float(residuals @ residuals) / max(1, len(values) - 2)
    return slope * (len(values) - 1), math.sqrt(variance / sum_of_squares) * (len(values) - 1)


def _series(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    values = [row[name] for row in rows if _is_number(row.get(name))]
    array = np.array(values, dtype=np.float64)
    return array[np.isfinite(array)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fifth(values: Floats) -> int:
    return max(1, len(values) // 5)


def _first_fifth(values: Floats) -> float:
    return float(values[: _fifth(values)].mean())


def _last_fifth(values: Floats) -> float:
    return float(values[-_fifth(values) :].mean())
