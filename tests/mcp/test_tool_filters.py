import pytest
from mcp.client import Client

from p2p.contracts.errors import UnknownName
from p2p.service.workspace import Workspace
from p2p_mcp.filters import SLIM, TOOLSETS, ServerOptions
from p2p_mcp.server import build_server

pytestmark = pytest.mark.anyio


async def _names(ws: Workspace, **options: object) -> set[str]:
    async with Client(build_server(ws, ServerOptions.model_validate(options))) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


async def test_slim_offers_what_the_loop_cannot_do_without(ws: Workspace) -> None:
    assert await _names(ws, slim=True) == {*SLIM}


async def test_read_only_wins_over_all_other_options(ws: Workspace) -> None:
    assert await _names(ws, read_only=True, tools=("create_session", "get_session")) == {"get_session"}


async def test_toolsets_together_are_all_tools(ws: Workspace) -> None:
    everything = await _names(ws)
    by_toolset = [await _names(ws, toolsets=(name,)) for name in TOOLSETS]
    assert set().union(*by_toolset) == everything
    assert sum(map(len, by_toolset)) == len(everything)


async def test_a_tool_that_is_left_out_cannot_be_called(ws: Workspace) -> None:
    async with Client(build_server(ws, ServerOptions(read_only=True))) as client:
        result = await client.call_tool("create_session", {"intent": "run forward"})
    assert result.is_error
    assert "Unknown tool 'create_session'" in str(result.content)


@pytest.mark.parametrize("options", [{"tools": ("train",)}, {"toolsets": ("everything",)}])
def test_a_tool_or_toolset_that_does_not_exist_is_named(ws: Workspace, options: dict[str, object]) -> None:
    with pytest.raises(UnknownName, match="Known: "):
        build_server(ws, ServerOptions.model_validate(options))
