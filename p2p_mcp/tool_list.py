"""The tools as they are listed before they are loaded: `tool_list.json`, which `make docs` makes from them.

A client that starts the server asks for the list at once. Loading the tools and making their schemas would take as long
as half the SDK.
"""

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from mcp.types import Tool
from pydantic import TypeAdapter

from p2p_mcp.filters import ServerOptions


class ListedTool(NamedTuple):
    """A line of the list."""

    toolset: str
    tool: Tool


_lines = TypeAdapter(tuple[ListedTool, ...])


def listed_tools(options: ServerOptions) -> list[Tool]:
    """The tools that the options admit, in their order."""
    lines = _lines.validate_json(files("p2p_mcp").joinpath("tool_list.json").read_bytes())
    return [
        tool
        for toolset, tool in lines
        if options.admit(tool.name, toolset, read_only=bool(tool.annotations and tool.annotations.read_only_hint))
    ]


def write_tool_list(tools: Iterable[ListedTool]) -> Path:
    """Write the list anew."""
    path = Path(__file__).with_suffix(".json")
    text = _lines.dump_json(tuple(tools), indent=1, by_alias=True, exclude_none=True)
    path.write_bytes(text + b"\n")
    return path
