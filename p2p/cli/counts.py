"""Counts of steps as people write them."""

import re
from decimal import Decimal

import typer

_COUNT = re.compile(r"((?:\d{1,3}(?:,\d{3})+|\d[\d_]*)(?:\.\d+)?(?:e\+?\d{1,2})?)\s*([km]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}
MOST_STEPS = 10**12


def steps(text: str | int) -> int:
    """Read a number of environment steps: 300000, 300_000, 300,000, 3e5, 300k and 0.3M are the same.

    Raises:
        typer.BadParameter: it is no whole number from 1 on.
    """
    found = _COUNT.fullmatch(str(text).strip())
    if found is not None:
        value = Decimal(re.sub(r"[_,]", "", found[1])) * _TIMES[found[2].lower()]
        if value == value.to_integral_value() and 1 <= value <= MOST_STEPS:
            return int(value)
    raise typer.BadParameter(
        f"expected a whole number of steps from 1 on, such as 300000, 300_000, 3e5 or 0.3M; got {text!r}."
    )
