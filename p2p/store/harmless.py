"""Strip terminal escapes and invisible text from a runs directory's files: other users may have written them."""

import json
import re
from typing import Any

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"
"""Marks that show a line in another order than it is written."""
_TAGS = "\U000e0000-\U000e007f"
"""ASCII once more, which no font shows and models read."""
_OBEYED = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_TAGS}]")
_PERHAPS = re.compile(
    rb"\\[ubfr]|[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xf3\xa0[\x80\x81]"
)
"""In JSON: what may stand for such a letter."""


def harmless_text(text: str) -> str:
    """Remove control characters except newline and tab, bidirectional marks and invisible letters."""
    return _OBEYED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def harmless_json(data: bytes) -> bytes:
    """Clean the texts inside JSON; other input is returned unchanged, for its parser to refuse."""
    if not _PERHAPS.search(data):
        return data
    try:
        return json.dumps(harmless(json.loads(data))).encode()
    except (ValueError, RecursionError):
        return data


def harmless(value: Any) -> Any:
    """Clean the texts inside a JSON value."""
    if isinstance(value, str):
        return harmless_text(value)
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, dict):
        return {harmless(key): harmless(item) for key, item in value.items()}
    return value
