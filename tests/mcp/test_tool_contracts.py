"""What every tool promises. `P2P_UPDATE_SNAPSHOTS=1 pytest tests/mcp/test_tool_contracts.py` renews the snapshots."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool
from tool_caller import Connect

from p2p.service.workspace import Workspace
from p2p_mcp.filters import ServerOptions
from p2p_mcp.policy_server import Content, PolicyServer
from p2p_mcp.server import build_server
from p2p_mcp.tool_list import listed_tools
from p2p_mcp.tools import TOOLS
from p2p_mcp.tools.sessions import list_sessions

pytestmark = pytest.mark.anyio
SNAPSHOTS = Path(__file__).parent / "snapshots"
READ_ONLY = {
    *("list_environments", "check_setup", "get_session", "list_sessions", "get_job"),
    *("list_jobs", "get_metrics", "compare_iterations", "check_reward", "view_rollout", "show_dashboard"),
    *("read_dashboard", "list_nodes", "compare_benchmarks", "verify_benchmark"),
}


async def _tools(connect: Connect, ws: Workspace) -> list[Tool]:
    async with connect(ws) as client:
        return (await client.list_tools()).tools


def _values(schema: Any, name: str, kind: type) -> Iterator[Any]:
    """Values of a keyword such as `title`, wherever they are in a schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from _values(part, name, kind)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == name and isinstance(value, kind):
                yield value
            yield from _values(value, name, kind)


def test_a_tool_is_a_function_of_its_module_that_takes_the_workspace(ws: Workspace) -> None:
    assert [tool.function.__name__ for tool in TOOLS if "<locals>" in tool.function.__qualname__] == []
    assert list_sessions(ws).sessions == ()


async def test_every_tool_says_what_it_is_and_what_it_may_do(connect: Connect, ws: Workspace) -> None:
    for tool in await _tools(connect, ws):
        hints = tool.annotations
        assert tool.title
        assert tool.description
        assert len(tool.description) > 40
        assert hints is not None
        assert hints.title == tool.title
        assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert hints.read_only_hint == (tool.name in READ_ONLY), f"{tool.name}: one that only reads is in READ_ONLY"
        assert hints.destructive_hint == (tool.name == "cancel_job")


async def test_every_argument_is_described_and_every_result_has_a_schema_with_the_next_step(ws: Workspace) -> None:
    for tool in await build_server(ws).documented_tools():
        for name, argument in tool.input_schema.get("properties", {}).items():
            assert argument.get("description"), f"{tool.name}({name})"
        assert tool.output_schema, tool.name
        assert "next_step" in tool.output_schema["required"], tool.name
        for schema in (tool.input_schema, tool.output_schema):
            assert list(_values(schema, "title", str)) == [], tool.name
            for choices in _values(schema, "enum", list):  # some validators refuse a schema that repeats one
                assert len(choices) == len(set(choices)), tool.name


async def test_the_list_is_small_and_schemas_of_results_are_left_to_the_documents(
    connect: Connect, ws: Workspace
) -> None:
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in await _tools(connect, ws)]
    assert not any("outputSchema" in tool for tool in listed)
    assert len(json.dumps(listed, separators=(",", ":"))) < 55_000  # bytes; 173,015 with the schemas of results


async def test_what_a_model_reads_of_all_tools_stays_small(connect: Connect, ws: Workspace) -> None:
    tools = await _tools(connect, ws)
    read = sum(len(json.dumps(tool.input_schema)) + len(tool.description or "") for tool in tools)
    assert read < 37_000  # bytes, about 9,000 tokens


@pytest.mark.parametrize(
    "options", [ServerOptions(), ServerOptions(slim=True), ServerOptions(toolsets=("viewing",), read_only=True)]
)
async def test_a_server_whose_tools_are_not_loaded_lists_the_same_ones(ws: Workspace, options: ServerOptions) -> None:
    def load(_: PolicyServer) -> Content:
        raise AssertionError

    listed = await PolicyServer(load, partial(listed_tools, options)).list_tools()
    assert listed == await build_server(ws, options).list_tools(), "`make docs` renews p2p_mcp/tool_list.json"


async def test_no_schema_changes_unnoticed(connect: Connect, ws: Workspace) -> None:
    tools = await _tools(connect, ws)
    renew = "P2P_UPDATE_SNAPSHOTS=1 pytest tests/mcp/test_tool_contracts.py renews it"
    for tool in tools:
        path = SNAPSHOTS / f"{tool.name}.json"
        text = (
            json.dumps(tool.model_dump(mode="json", by_alias=True, exclude_none=True), indent=1, sort_keys=True) + "\n"
        )
        if os.environ.get("P2P_UPDATE_SNAPSHOTS"):
            path.write_text(text)
        assert path.exists(), f"{tool.name} has no snapshot; {renew}"
        assert path.read_text() == text, f"{tool.name} differs from its snapshot; where that is meant, {renew}"
    kept = {path.stem for path in SNAPSHOTS.glob("*.json")}
    assert kept == {tool.name for tool in tools}, "remove the snapshots of tools that there are no more"
