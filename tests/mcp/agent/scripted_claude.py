"""Claude as a script behind a local HTTP server that speaks the Messages format, streamed."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]
Body = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer: blocks, why it stops, and what it uses."""

    blocks: Sequence[Block]
    stop_reason: str = "tool_use"
    input_tokens: int = 100
    output_tokens: int = 20
    cache_read: int = 0
    cut_after: int | None = None
    """Number of events after which the connection breaks."""


@dataclass(frozen=True)
class Raw:
    """An answer that is no stream of messages."""

    status: int
    body: str
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


Step = Turn | Raw | Callable[[Body], "Turn | Raw"]


def use(tool: str, arguments: Any, call_id: str = "") -> Block:
    """A call of a tool; its input is sent as it is, also when it is no object."""
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


def text(words: str) -> Block:
    """Words."""
    return {"type": "text", "text": words}


def calls(tool: str, **arguments: Any) -> Turn:
    """An answer that calls one tool."""
    return Turn([use(tool, arguments)])


def says(words: str) -> Turn:
    """An answer that calls nothing."""
    return Turn([text(words)], "end_turn")


def overloaded() -> Raw:
    """HTTP 529; to be asked again at once."""
    return Raw(
        529,
        json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        headers={"retry-after-ms": "1"},
    )


def results(body: Body) -> list[Block]:
    """The results of tools in the last message."""
    return [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]


def said(block: Block) -> str:
    """The text of a result."""
    return "\n".join(part["text"] for part in block["content"] if part["type"] == "text")


def found(body: Body, key: str) -> Any:
    """The newest value of `key` in the JSON results of the conversation."""
    for message in reversed(body["messages"]):
        for block in message["content"]:
            if block["type"] != "tool_result" or block.get("is_error"):
                continue
            try:
                value = json.loads(said(block))
            except ValueError:
                continue
            if isinstance(value, dict) and key in value:
                return value[key]
    raise KeyError(key)


class ScriptedClaude:
    """Answers requests one after the other; the last step answers every later one too."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps, self.bodies = list(steps), []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self._turns = 0

    def answer(self, body: Body, headers: dict[str, str]) -> Turn | Raw:
        self.bodies.append(body)
        self.headers.append(headers)
        step = self.steps[min(len(self.bodies) - 1, len(self.steps) - 1)]
        return step(body) if callable(step) else step

    @contextmanager
    def serving(self) -> Iterator["ScriptedClaude"]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                try:
                    reply = script.answer(body, {name.lower(): value for name, value in self.headers.items()})
                except Exception as error:  # the test shall see it, not a silent server
                    reply = Raw(400, json.dumps({"type": "error", "error": {"type": "script", "message": repr(error)}}))
                (self._raw if isinstance(reply, Raw) else self._stream)(reply, body)  # type: ignore[arg-type]

            def _raw(self, reply: Raw, _: Body) -> None:
                data = reply.body.encode()
                self.send_response(reply.status)
                self.send_header("content-type", reply.content_type)
                self.send_header("content-length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, reply: Turn, body: Body) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for number, event in enumerate(events(reply, body, len(script.bodies))):
                    if reply.cut_after is not None and number >= reply.cut_after:
                        return  # the connection closes: HTTP/1.0 has no other end of a body
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                """A client that has left is no news."""

        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def events(turn: Turn, body: Body, number: int) -> Iterator[Block]:
    """A turn as the events of its stream."""
    usage = {"input_tokens": turn.input_tokens, "output_tokens": 1, "cache_read_input_tokens": turn.cache_read}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    for index, block in enumerate(turn.blocks):
        yield from _block_events(index, block, number)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": turn.stop_reason, "stop_sequence": None},
        "usage": {"output_tokens": min(turn.output_tokens, body["max_tokens"])},
    }
    yield {"type": "message_stop"}


def _block_events(index: int, block: Block, number: int) -> Iterator[Block]:
    delta: Block
    if block["type"] == "tool_use":
        call_id = block["id"] or f"toolu_{number}_{index}"
        start = {**block, "id": call_id, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    elif block["type"] == "text":
        start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start = {"type": "thinking", "thinking": "", "signature": ""}
        delta = {"type": "thinking_delta", "thinking": block["thinking"]}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    if block["type"] == "thinking":
        yield {"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta", "signature": "sig"}}
    yield {"type": "content_block_stop", "index": index}
