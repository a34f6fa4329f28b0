from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp.types as types
import pytest
from mcp.client import Client
from mcp.server import MCPServer
from mcp.server.subscriptions import ResourceUpdated

from p2p_mcp.live.subscriptions import MAX_URIS, Subscriptions

URI = "p2p://jobs/job_1"
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning"),  # the older client is the point here
]


def _server() -> tuple[MCPServer[Any], Subscriptions]:
    subscriptions = Subscriptions()
    server = MCPServer[Any]("small", subscriptions=subscriptions)
    server.resource(URI, name="job")(lambda: "a job")
    subscriptions.serve(server)
    return server, subscriptions


@asynccontextmanager
async def _older_client(server: MCPServer[Any]) -> AsyncIterator[tuple[Client, list[str]]]:
    """A client of 2025, and the resources it was told of."""
    told: list[str] = []

    async def note(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.append(str(message.params.uri))

    async with Client(server, mode="legacy", message_handler=note) as client:
        yield client, told


async def _until(condition: Any) -> None:
    with anyio.fail_after(5):
        while not condition():
            await anyio.sleep(0.01)


async def test_the_private_hook_of_the_sdk_is_where_it_was() -> None:
    """Fails when an update of the SDK moves what `Subscriptions.serve` and `_connection` touch."""
    server, subscriptions = _server()
    async with _older_client(server) as (client, _):
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.resources.subscribe is True
        await client.subscribe_resource(URI)
        assert subscriptions.uris == {URI: 1}


async def test_a_client_of_2025_hears_of_what_it_subscribed_to_and_of_nothing_else() -> None:
    server, subscriptions = _server()
    async with _older_client(server) as (client, told), _older_client(server) as (other, told_other):
        await client.subscribe_resource(URI)
        await other.subscribe_resource("p2p://jobs/job_2")
        await subscriptions.resource_updated(URI)
        await _until(lambda: told)
        await client.unsubscribe_resource(URI)
        await subscriptions.resource_updated(URI)
        await subscriptions.resource_updated("p2p://jobs/job_2")
        await _until(lambda: told_other)
        assert told == [URI]
        assert told_other == ["p2p://jobs/job_2"]


async def test_unsubscribing_ends_only_ones_own_subscription() -> None:
    server, subscriptions = _server()
    async with _older_client(server) as (client, _), _older_client(server) as (other, told):
        await client.subscribe_resource(URI)
        await other.subscribe_resource(URI)
        await client.unsubscribe_resource(URI)
        await subscriptions.resource_updated(URI)
        await _until(lambda: told == [URI])


async def test_a_client_of_2026_hears_through_its_stream() -> None:
    server, subscriptions = _server()
    async with Client(server) as client, client.listen(resource_subscriptions=[URI]) as stream:
        assert subscriptions.wanted
        await subscriptions.resource_updated("p2p://jobs/another")
        await subscriptions.resource_updated(URI)
        with anyio.fail_after(5):
            assert await anext(aiter(stream)) == ResourceUpdated(uri=URI)


async def test_a_client_that_leaves_is_forgotten() -> None:
    server, subscriptions = _server()
    assert not subscriptions.wanted
    async with _older_client(server) as (client, _):
        await client.subscribe_resource(URI)
        assert subscriptions.wanted
    async with Client(server) as client, client.listen(resource_subscriptions=[URI]):
        assert subscriptions.wanted
    await _until(lambda: not subscriptions.wanted)
    await subscriptions.resource_updated(URI)


async def test_one_client_cannot_fill_the_memory_with_subscriptions() -> None:
    server, subscriptions = _server()
    async with _older_client(server) as (client, _):
        for number in range(MAX_URIS + 20):
            await client.subscribe_resource(f"p2p://jobs/job_{number}")
        assert subscriptions.uris.total() == MAX_URIS
