"""Arguments that cannot be used, told so that a model can correct them."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

MOST = 8
"""Faults that are named at once."""
MOST_ITEMS = 1000
"""Items of a list or mapping among the arguments, where its schema does not say fewer."""


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


def refuse_long(tool: str, arguments: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse a list that is longer than any that is of use, in one line, before its items are looked at.

    Args:
        tool: Its name.
        arguments: What it is called with.
        known: Its properties, as the schema tells them; one may say how many items it takes.

    Raises:
        ToolError: there is one.
    """
    for name, value in arguments.items():
        schema = known.get(name, {})
        said = [form["maxItems"] for form in (schema, *schema.get("anyOf", ())) if "maxItems" in form]
        allowed = max(said, default=MOST_ITEMS)
        if isinstance(value, list) and len(value) > allowed:
            raise ToolError(f"{tool} was not called: {name} has {len(value)} items, expected at most {allowed}.")
        if (longest := _longest(value)) > MOST_ITEMS:
            raise ToolError(
                f"{tool} was not called: a list in {name} has {longest} items, expected at most {MOST_ITEMS}."
            )


def _longest(value: Any) -> int:
    """Items of the longest list or mapping in a value."""
    longest = 0
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict | list):
            longest = max(longest, len(one))
            if longest > MOST_ITEMS:
                break
            rest += one.values() if isinstance(one, dict) else one
    return longest


def refusal(tool: str, error: ValidationError) -> str:
    """A line for each argument that is wrong."""
    lines = [f"{tool} was not called: its arguments do not fit."]
    for fault in error.errors()[:MOST]:
        value = repr(fault.get("input"))
        got = value if len(value) <= 80 else f"{value[:77]}..."
        words = "it must be given." if fault["type"] == "missing" else f"{fault['msg']}, got {got}."
        lines.append(f"{'.'.join(map(str, fault['loc']))}: {words}")
    return "\n".join(lines)
