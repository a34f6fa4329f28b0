"""Numbers as short as they are read."""

import math
from typing import overload

DIGITS = 4
"""Significant digits."""


@overload
def short(value: float) -> float: ...
@overload
def short(value: None) -> None: ...
def short(value: float | None) -> float | None:
    """`value` with four significant digits; None stays None, and what is not finite stays as it is."""
    return value if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")
