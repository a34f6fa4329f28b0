"""Format values as Markdown."""

from collections.abc import Iterable, Sequence


def paragraphs(*parts: str) -> str:
    """Join non-empty parts with blank lines."""
    return "\n\n".join(part for part in parts if part) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Table; empty without rows."""
    lines = ["| " + " | ".join(plain(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), *lines])


def plain(value: object) -> str:
    """Text on one line, with HTML tags defused."""
    return " ".join(str(value).split()).replace("<", "&lt;")


def number(value: float | None, unit: str = "") -> str:
    """Number with four significant figures; "–" for None."""
    if value is None:
        return "–"
    shown = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return shown if unit in ("", "1") else f"{shown} {unit}"


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """Interval; "–" for None."""
    return "–" if low is None or high is None else f"{number(low)} … {number(high, unit)}"


def share(value: float | None) -> str:
    """Share in [0, 1] as per cent; "–" for None."""
    return "–" if value is None else f"{100 * value:.0f} %"
