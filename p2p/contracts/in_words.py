"""Numbers and thresholds as every door shows them."""

from p2p.contracts.intent import Comparison


def number(value: float | None, unit: str = "") -> str:
    """A measured number with three figures; "–" for none."""
    if value is None:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return shown if unit in ("", "1") else f"{shown} {unit}"


def needed(comparison: Comparison, threshold: float, upper: float | None, unit: str) -> str:
    """What a criterion asks for: "≥ 2 m/s"."""
    if comparison is Comparison.BETWEEN:
        return f"{number(threshold)} … {number(upper, unit)}"
    sign = "≥" if comparison is Comparison.AT_LEAST else "≤"
    return f"{sign} {number(threshold, unit)}"
