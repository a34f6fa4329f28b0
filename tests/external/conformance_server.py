"""Our own server with the fixtures of the conformance suite: python conformance_server.py RUNS_DIR."""

import itertools
import socket
import sys
import warnings
from pathlib import Path

import uvicorn
from conformance_content import add_content
from conformance_questions import add_questions
from conformance_tasks import add_tasks
from mcp import MCPDeprecationWarning
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.types import JSONRPCMessage

from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.http import HttpOptions, http_app
from p2p_mcp.server import build_server


class Memory(EventStore):
    """Events in the order they came, for clients that reconnect."""

    def __init__(self) -> None:
        self._events: dict[EventId, tuple[StreamId, JSONRPCMessage | None]] = {}
        self._numbers = itertools.count(1)

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        event_id = str(next(self._numbers))
        self._events[event_id] = stream_id, message
        return event_id

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        if last_event_id not in self._events:
            return None
        stream = self._events[last_event_id][0]
        for event_id, (stream_id, message) in list(self._events.items()):
            if stream_id == stream and int(event_id) > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, event_id))
        return stream


def main(runs_dir: str) -> None:
    """Serve on a free port of this machine; the address is printed."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the older revisions are part of the suite
    server = build_server(Workspace(Settings(runs_dir=Path(runs_dir))))
    add_content(server)
    add_questions(server)
    add_tasks(server)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = http_app(server, HttpOptions(), events=Memory())
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
