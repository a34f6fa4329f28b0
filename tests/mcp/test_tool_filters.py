import pytest
from mcp.client import Client

from p2p.contracts.errors import UnknownName
from p2p.service import Service
from p2p_mcp.filters import SLIM, TOOLSETS, ServerOptions
from p2p_mcp.server import build_server

pytestmark = pytest.mark.anyio


async def _names(service: Service, **options: object) -> set[str]:
    async with Client(build_server(service, ServerOptions.model_validate(options))) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


async def test_slim_offers_what_the_loop_cannot_do_without(service: Service) -> None:
    assert await _names(service, slim=True) == {*SLIM}


async def test_read_only_wins_over_all_other_options(service: Service) -> None:
    assert await _names(service, read_only=True, tools=("create_session", "get_session")) == {"get_session"}


async def test_toolsets_together_are_all_tools(service: Service) -> None:
    everything = await _names(service)
    by_toolset = [await _names(service, toolsets=(name,)) for name in TOOLSETS]
    assert set().union(*by_toolset) == everything
    assert sum(map(len, by_toolset)) == len(everything)


async def test_a_tool_that_is_left_out_cannot_be_called(service: Service) -> None:
    async with Client(build_server(service, ServerOptions(read_only=True))) as client:
        result = await client.call_tool("create_session", {"intent": "run forward"})
    assert result.is_error
    assert "Unknown tool 'create_session'" in str(result.content)


@pytest.mark.parametrize("options", [{"tools": ("train",)}, {"toolsets": ("everything",)}])
def test_a_tool_or_toolset_that_does_not_exist_is_named(service: Service, options: dict[str, object]) -> None:
    with pytest.raises(UnknownName, match="Known: "):
        build_server(service, ServerOptions.model_validate(options))
