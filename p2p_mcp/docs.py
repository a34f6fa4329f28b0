"""What is made from what the server really offers: its reference, and the list of its tools.

`python -m p2p_mcp.docs docs/tools.md` writes both.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import Prompt, ResourceTemplate, Tool

from p2p.contracts.base import Contract
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.server import build_server
from p2p_mcp.tool_list import ListedTool, write_tool_list
from p2p_mcp.tools import TOOLS

Schema = dict[str, Any]
HINTS = (
    ("read_only_hint", "changes nothing"),
    ("destructive_hint", "may end or overwrite something"),
    ("idempotent_hint", "may be repeated"),
    ("open_world_hint", "may reach beyond this machine"),
)
HEAD = """\
# Tools, prompts and resources

What `p2p-mcp` offers to clients of the Model Context Protocol, made from the server by `make docs`. Every result also
has its text form, with the same content. An argument in bold must be given.
"""


class Offer(Contract):
    """All that a client can list."""

    tools: tuple[Tool, ...]
    prompts: tuple[Prompt, ...]
    templates: tuple[ResourceTemplate, ...]


def offer() -> Offer:
    """What the server offers, asked over the protocol; no session need exist."""
    return anyio.run(_ask)


async def _ask() -> Offer:
    server = build_server(Workspace(Settings(runs_dir=Path("runs").absolute())))
    async with Client(server) as client:
        return Offer(
            tools=tuple(await server.documented_tools()),
            prompts=tuple((await client.list_prompts()).prompts),
            templates=tuple((await client.list_resource_templates()).resource_templates),
        )


def reference(offered: Offer) -> str:
    """The whole document."""
    parts = [HEAD, tool_table(offered.tools), *map(_tool, offered.tools)]
    if offered.prompts:
        lines = []
        for prompt in offered.prompts:
            arguments = ", ".join(f"`{each.name}`" for each in prompt.arguments or ())
            lines.append(f"- `{prompt.name}`{f' ({arguments})' if arguments else ''}: {_line(prompt.description)}")
        parts += ["## Prompts", "\n".join(lines)]
    if offered.templates:
        rows = (
            f"| `{each.uri_template}` | {each.mime_type or ''} | {_line(each.description)} |"
            for each in offered.templates
        )
        parts += ["## Resources", _table(("resource", "type", "what it is"), rows)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def for_models(tools: Iterable[Tool]) -> list[Tool]:
    """Without the tools that only the pages of this server call."""
    return [tool for tool in tools if (tool.meta or {}).get("ui", {}).get("visibility") != ["app"]]


def tool_names(tools: Iterable[Tool]) -> str:
    """What a model can call, by name, for a document that has no room for more."""
    return " · ".join(f"`{tool.name}`" for tool in for_models(tools))


def tool_table(tools: Iterable[Tool]) -> str:
    """One row per tool: its name, and the first sentence of what it is for."""
    rows = (f"| `{tool.name}` | {_line(tool.description).partition('. ')[0].rstrip('.')} |" for tool in tools)
    return _table(("tool", "for"), rows)


def _tool(tool: Tool) -> str:
    hints = [text for name, text in HINTS if tool.annotations is not None and getattr(tool.annotations, name)]
    parts = [f"## {tool.name}", _line(tool.description)]
    if not for_models([tool]):
        hints.append("for the pages of this server, unseen by models")
    if hints:
        parts.append(f"*{', '.join(hints).capitalize()}.*")
    arguments = list(_fields(tool.input_schema))
    parts.append(_table(("argument", "type", "meaning"), arguments) if arguments else "No arguments.")
    results = list(_fields(tool.output_schema or {}, bold=False))
    if results:
        parts.append(_table(("result", "type", "meaning"), results))
    return "\n\n".join(parts)


def _fields(schema: Schema, bold: bool = True) -> Iterator[str]:
    definitions = schema.get("$defs", {})
    for name, field in schema.get("properties", {}).items():
        shown = f"**`{name}`**" if bold and name in schema.get("required", ()) else f"`{name}`"
        reference = definitions.get(str(field.get("$ref", "")).rpartition("/")[2], {})
        meaning = _line(field.get("description") or reference.get("description"))
        if field.get("default") not in (None, [], {}, ""):
            meaning = f"{meaning} Default: {json.dumps(field['default'], ensure_ascii=False)}.".strip()
        yield f"| {shown} | {_type(field, definitions)} | {meaning} |"


def _type(field: Schema, definitions: Schema) -> str:
    """A type in words."""
    if reference := field.get("$ref"):
        name = str(reference).rpartition("/")[2]
        return _type(definitions[name], {}) if "enum" in definitions.get(name, {}) else name
    if choices := field.get("anyOf"):
        return " or ".join(dict.fromkeys(_type(each, definitions) for each in choices))
    if isinstance(kinds := field.get("type"), list):
        return " or ".join(_type({**field, "type": kind}, definitions) for kind in kinds)
    if "enum" in field or "const" in field:
        return ", ".join(f"`{each}`" for each in field.get("enum", [field.get("const")]))
    kind = str(field.get("type", "any"))
    if kind == "array":
        return f"list of {_type(field.get('items', {}), definitions)}"
    return "none" if kind == "null" else {"string": "text"}.get(kind, kind) + _range(field)


def _range(field: Schema) -> str:
    low = field.get("minimum", field.get("minLength"))
    high = field.get("maximum", field.get("maxLength"))
    if low is None and high is None:
        return ""
    unit = " characters" if "minLength" in field or "maxLength" in field else ""
    return f" ({'' if low is None else f'{low:g}'}…{'' if high is None else f'{high:g}'}{unit})"


def _table(head: tuple[str, ...], rows: Iterable[str]) -> str:
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])


def _line(text: str | None) -> str:
    """A text as one cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


def listed(tools: Iterable[Tool]) -> Iterator[ListedTool]:
    """The lines of the list, of documented tools."""
    toolsets = {tool.function.__name__: tool.toolset for tool in TOOLS}
    for tool in tools:
        yield ListedTool(toolsets[tool.name], tool.model_copy(update={"output_schema": None}))


def main(arguments: list[str]) -> int:
    """Write the reference into a file, and the list beside the code that reads it."""
    offered = offer()
    path = Path(arguments[0] if arguments else "docs/tools.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(reference(offered), encoding="utf-8")
    print(path)
    print(write_tool_list(listed(offered.tools)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
