"""Who wants to hear of which resource, in both eras of the protocol.

Clients of 2026-07-28 open a stream that the SDK serves from a bus; clients of 2025 and before send
`resources/subscribe`, for which `MCPServer` has no public hook. What is private is touched in `serve` and
`_connection` alone, and a test notices when either moves.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from mcp.server import MCPServer, ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

MAX_URIS = 256
"""Resources that one connection may subscribe to; what it asks for beyond that is not delivered."""

Context = ServerRequestContext[Any, Any]


class Subscriptions(InMemorySubscriptionBus):
    """The bus of one server, and the subscribers of protocols with a handshake."""

    def __init__(self) -> None:
        super().__init__()
        self._streams = 0
        self._subscribers: dict[Connection, set[str]] = {}
        self.generation = 0
        """Grows with every new subscription: what changed before it may not have been seen by its owner."""

    @property
    def wanted(self) -> bool:
        """True while anybody listens."""
        return self._streams > 0 or any(self._subscribers.values())

    @property
    def uris(self) -> Counter[str]:
        """Subscribers per resource, those of the handshake era."""
        return Counter(uri for uris in self._subscribers.values() for uri in uris)

    async def resource_updated(self, uri: str) -> None:
        """Say that the resource at `uri` may have to be read again."""
        await self.publish(ResourceUpdated(uri=uri))
        for connection, uris in list(self._subscribers.items()):
            if uri in uris:
                await connection.send_resource_updated(uri)

    async def resource_list_changed(self) -> None:
        """Say that there are other resources than before, to the listeners of 2026-07-28."""
        await self.publish(ResourcesListChanged())

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Register a stream of 2026-07-28; returns what ends it."""
        end = super().subscribe(listener)
        self._streams += 1
        self.generation += 1
        ended = False

        def unsubscribe() -> None:
            nonlocal ended
            if not ended:
                ended = True
                self._streams -= 1
            end()

        return unsubscribe

    def serve(self, server: MCPServer[Any]) -> None:
        """Answer `resources/subscribe` and `resources/unsubscribe` of the handshake era."""
        lowlevel = server._lowlevel_server
        lowlevel.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        lowlevel.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)

    async def _subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        connection = _connection(context)
        if connection not in self._subscribers:
            self._subscribers[connection] = set()
            connection.exit_stack.callback(self._subscribers.pop, connection, None)
        uris = self._subscribers[connection]
        if len(uris) < MAX_URIS:
            uris.add(str(params.uri))
            self.generation += 1
        return EmptyResult()

    async def _unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        self._subscribers.get(_connection(context), set()).discard(str(params.uri))
        return EmptyResult()


def _connection(context: Context) -> Connection:
    """The client behind a request; the session of the context lives for that request alone."""
    return context.session._connection
