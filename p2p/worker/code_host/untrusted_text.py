"""Sanitise text from generated code for logs, terminals and prompts."""

from typing import Any

MAX_MESSAGE = 2_000
"""Characters of a message that are kept."""
MAX_STRING = 20_000
MAX_DEPTH = 32


def one_line(text: str, limit: int = MAX_MESSAGE) -> str:
    """Message without control characters, of limited length."""
    return shortened("".join(c if c.isprintable() else " " for c in text), limit)


def without_controls(value: Any, depth: int = 0) -> Any:
    """JSON value with sanitised texts: no control characters but newlines and tabs, limited length.

    Raises:
        ValueError: it is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise ValueError("a text that is nested too deeply")
    if isinstance(value, str):
        return shortened("".join(c for c in value if c.isprintable() or c in "\n\t"), MAX_STRING)
    if isinstance(value, list):
        return [without_controls(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {without_controls(key, depth + 1): without_controls(item, depth + 1) for key, item in value.items()}
    return value


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
