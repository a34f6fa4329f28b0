"""Rounding of numbers for display."""

import math
from typing import overload

from p2p.contracts.reward import TermStatistics

DIGITS = 4
"""Significant digits."""


@overload
def short(value: float) -> float: ...
@overload
def short(value: None) -> None: ...
def short(value: float | None) -> float | None:
    """Round `value` to four significant digits; None and non-finite values stay unchanged."""
    return value if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")


def rounded_term(term: TermStatistics) -> TermStatistics:
    """Statistics of a reward term with rounded numbers."""
    numbers = ("mean", "std", "minimum", "maximum", "share")
    return term.model_copy(update={name: short(getattr(term, name)) for name in numbers})
