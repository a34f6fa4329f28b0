"""Measured numbers, scores and shares in words; apart from the contracts, so that a list needs no pydantic."""

import math

SLACK = 1e-6
"""Of what is rounded down: 0.29 is 0.28999… in binary."""


def number(value: float | None, unit: str = "") -> str:
    """A measured number with three figures; "–" for None."""
    if value is None:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return shown if unit in ("", "1") else f"{shown} {unit}"


def score_in_words(value: float | None) -> str:
    """A score in [0, 1], measured or required, with up to three figures; "–" for None.

    It is rounded down: 0.9996 is not shown as 1, and what misses a threshold of three figures is not shown to meet it.
    """
    return "–" if value is None else f"{math.floor(value * 1000 + SLACK) / 1000:g}"


def share_in_words(value: float | None) -> str:
    """A share in [0, 1] as per cent, such as "99%"; "–" for none. It is rounded down: 0.996 is not shown as all."""
    return "–" if value is None else f"{math.floor(value * 100 + SLACK)}%"


def interval_in_words(low: float | None, high: float | None, joined: str = " to ") -> str:
    """An interval of a share, such as "81% to 97%", rounded outward; "–" for none."""
    if low is None or high is None:
        return "–"
    return f"{share_in_words(low)}{joined}{math.ceil(high * 100 - SLACK)}%"


def duration(seconds: float | None) -> str:
    """A time span: "40 s", "3 min 05 s", "2 h 10 min"; "–" for none."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
