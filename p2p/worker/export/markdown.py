"""Markdown out of values."""

from collections.abc import Iterable, Sequence


def paragraphs(*parts: str) -> str:
    """Parts with an empty line between them; empty ones are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; empty without rows."""
    lines = ["| " + " | ".join(plain(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), *lines])


def plain(value: object) -> str:
    """A text on one line, without what would begin a tag."""
    return " ".join(str(value).split()).replace("<", "&lt;")


def number(value: float | None, unit: str = "") -> str:
    """A measured number with four figures; "–" for none."""
    if value is None:
        return "–"
    shown = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return shown if unit in ("", "1") else f"{shown} {unit}"


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """Both ends of an interval; "–" for none."""
    return "–" if low is None or high is None else f"{number(low)} … {number(high, unit)}"


def share(value: float | None) -> str:
    """A share in [0, 1] as per cent; "–" for none."""
    return "–" if value is None else f"{100 * value:.0f} %"
