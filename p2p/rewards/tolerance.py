"""Partial credit: closeness of a value to a target interval."""

from typing import overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@overload
def tolerance(x: float, low: float, high: float, margin: float) -> float: ...
@overload
def tolerance(x: Floats, low: float, high: float, margin: float) -> Floats: ...
def tolerance(x: float | Floats, low: float, high: float, margin: float) -> float | Floats:
    """Credit in [0, 1]: 1 inside [low, high], falling linearly to 0 at a distance of `margin` from it.

    The linear kind of `tolerance` in the DeepMind Control Suite (Tassa et al. 2018), https://arxiv.org/abs/1801.00690

    Args:
        x: The value, or an array of values of any shape.
        low: Lower end of the interval; -inf leaves it open.
        high: Upper end; inf leaves it open.
        margin: Distance at which the credit reaches 0, in the unit of `x`. 0 gives nothing outside.

    Returns:
        A float for a number, an array of the same shape for an array.

    Raises:
        ValueError: `low` is above `high`, or `margin` is negative.
    """
    if low > high:
        raise ValueError(f"low must not be above high, got {low} and {high}")
    if margin < 0:
        raise ValueError(f"margin must not be negative, got {margin}")
    if isinstance(x, float | int):
        if low <= x <= high:
            return 1.0
        gap = float(low - x if x < low else x - high)
        return max(1.0 - gap / margin, 0.0) if margin else 0.0
    with np.errstate(
        invalid="ignore"
    ):  # at the open end of an interval, an infinite value is at no distance: inf - inf
        distance = np.maximum(np.fmax(low - x, x - high), 0.0)
    return np.clip(1.0 - distance / margin, 0.0, 1.0) if margin else (distance == 0.0).astype(np.float64)
