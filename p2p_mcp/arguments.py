"""Arguments that cannot be used, told so that a model can correct them."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

MOST = 8
"""Faults that are named at once."""


def refuse_unknown(tool: str, arguments: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse an argument that the tool does not have: a misspelt one would be passed over in silence.

    Raises:
        ToolError: there is one.
    """
    for name in arguments:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ToolError(f"{tool} has no argument {name[:100]!r}.{hint} It has: {', '.join(known) or 'none'}.")


def refusal(tool: str, error: ValidationError) -> str:
    """A line for each argument that is wrong."""
    faults = [f"{'.'.join(map(str, fault['loc']))}: {_words(dict(fault))}" for fault in error.errors()[:MOST]]
    return "\n".join([f"{tool} was not called: its arguments do not fit.", *faults])


def _words(fault: dict[str, Any]) -> str:
    if fault["type"] == "missing":
        return "it must be given."
    value = repr(fault.get("input"))
    return f"{fault['msg']}, got {value if len(value) <= 80 else value[:77] + '...'}."
