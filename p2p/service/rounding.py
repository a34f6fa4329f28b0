"""Rounding of numbers for display."""

import math
from typing import overload

DIGITS = 4
"""Significant digits."""


@overload
def short(value: float) -> float: ...
@overload
def short(value: None) -> None: ...
def short(value: float | None) -> float | None:
    """Round `value` to four significant digits; None and non-finite values stay unchanged."""
    return value if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")
