"""Scripted models behind one local HTTP server that speaks the formats of all three vendors, streamed.

For tests that let the real libraries ask: of one call, of one role, or of a whole session with real trainings::

    from wire_stub import Fault, Reply, Stub, answers, calls, says

    stub = Stub([says("hello"), calls("get_scores", top_k=3), answers({"score": 0.5}), Fault.OVERLOADED, says("again")])
    with stub.serving():
        for name, value in stub.environment().items():      # keys and base URLs of all providers
            monkeypatch.setenv(name, value)                  # child processes inherit them
        ...                                                  # anthropic:any-model, gemini:any-model, openai:any-model
    assert stub.seen[0].system.startswith("You write rewards")

What a script is made of
    A step is a `Reply`, a `Fault`, or a function of the request (`Seen`) that returns one of them.
    `says(text)`, `calls(tool, **arguments)` and `answers(json_value)` make the usual replies; `Reply(...)` makes any:
    several calls, token counts, a stop reason ("max_tokens" or "refusal"), a thought, a cut after some text.
    Steps are taken in order. `repeat_last=True` lets the last one answer every later request; otherwise a request
    past the end of the script is refused with HTTP 400, which a test sees as `RequestRejected`.
    `by_prompt={"words of a system prompt": [steps], ...}` gives each role a script of its own; the first key that is
    found in the system prompt, or else in the whole text of the request, decides. What no key fits takes `steps`.

What a test can look at
    `stub.seen`: every request, in order, as `Seen`: provider, model, system, text (all words), last (words of the last
    message), results (texts of tool results in the last message), tools (names), schema, pictures (how many), effort,
    max_tokens, headers (lower case), body. `stub.remaining()`: steps that nobody asked for.

Keys: `stub.environment()` sets all keys to CANARY; a test may look for it in every file it leaves behind:
`assert not files_with(CANARY, tmp_path)`.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import wire_formats
from wire_formats import Json, Reply, Seen

CANARY = "sk-canary-7f3a91c2e5d84b60"
HANG_S = 30.0
"""A hanging server lets go after this time at the latest, so that no test hangs for good."""


class Fault(StrEnum):
    """What can go wrong with one answer."""

    RATE_LIMITED = "429 with Retry-After"
    OVERLOADED = "529"
    SERVER_ERROR = "500"
    HANG = "hang"
    CUT = "cut"
    BROKEN_JSON = "broken JSON"
    HTML = "HTML with 200"
    TOOL_INPUT_STRING = "tool input as string"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSAL = "refusal"
    UNKNOWN_TOOL = "unknown tool"
    UNAUTHORIZED = "401"
    DRIP = "slow drip"
    REDIRECT = "307 to the same place"


TRANSPORT = (
    Fault.RATE_LIMITED,
    Fault.OVERLOADED,
    Fault.SERVER_ERROR,
    Fault.HANG,
    Fault.CUT,
    Fault.BROKEN_JSON,
    Fault.HTML,
)
"""Faults after which the same request is asked again by itself."""

Answer = Reply | Fault
Step = Reply | Fault | Callable[[Seen], Answer]

_REPLIES = {
    Fault.TOOL_INPUT_STRING: Reply(calls=(("get_scores", "not an object"),)),
    Fault.UNKNOWN_TOOL: Reply(calls=(("no_such_tool", {"a": 1}),)),
    Fault.TRUNCATED: Reply(text="def reward_fn(obs, act", stop="max_tokens"),
    Fault.REFUSAL: Reply(stop="refusal"),
    Fault.EMPTY: Reply(),
}
_STATUS = {Fault.RATE_LIMITED: 429, Fault.OVERLOADED: 529, Fault.SERVER_ERROR: 500, Fault.UNAUTHORIZED: 401}


def says(text: str, **more: Any) -> Reply:
    """An answer in words."""
    return Reply(text=text, **more)


def calls(tool: str, /, **arguments: Any) -> Reply:
    """An answer that calls one tool."""
    return Reply(calls=((tool, arguments),))


def answers(value: Any, **more: Any) -> Reply:
    """An answer in JSON."""
    return Reply(text=json.dumps(value), **more)


def files_with(secret: str, directory: Path) -> list[Path]:
    """Every file below a directory that holds the secret."""
    return [path for path in directory.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@dataclass
class Stub:
    """A server of scripted models; see the top of this module."""

    steps: Sequence[Step] = ()
    by_prompt: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    repeat_last: bool = False
    retry_after_s: float = 0.01
    url: str = ""
    seen: list[Seen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._taken: dict[str | None, int] = {}
        self._lock, self._closing = threading.Lock(), threading.Event()

    def environment(self) -> dict[str, str]:
        """Variables under which every provider is this server."""
        keys = dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"), CANARY)
        urls = {"ANTHROPIC_BASE_URL": self.url, "GEMINI_BASE_URL": self.url, "OPENAI_BASE_URL": f"{self.url}/v1"}
        return {**keys, **urls, "VLLM_BASE_URL": f"{self.url}/v1", "OLLAMA_BASE_URL": f"{self.url}/v1"}

    def remaining(self) -> int:
        """How many steps nobody has asked for."""
        scripts: dict[str | None, Sequence[Step]] = {None: self.steps, **self.by_prompt}
        return sum(max(len(script) - self._taken.get(key, 0), 0) for key, script in scripts.items())

    def next(self, seen: Seen) -> Answer:
        """The next step for a request."""
        with self._lock:
            self.seen.append(seen)
            key = next((key for key in self.by_prompt if key in seen.system), None)
            key = key or next((key for key in self.by_prompt if key in seen.text), None)
            script = self.steps if key is None else self.by_prompt[key]
            index = self._taken.get(key, 0)
            self._taken[key] = index + 1
            if index >= len(script) and not (self.repeat_last and script):
                raise LookupError(f"the script {key or ''} has {len(script)} steps, and more was asked")
            step = script[min(index, len(script) - 1)]
        return step if isinstance(step, Reply | Fault) else step(seen)

    @contextmanager
    def serving(self) -> Iterator["Stub"]:
        """Serve on a free port of this machine while the block runs."""
        server = _Server(self)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            self._closing.set()
            server.shutdown()
            thread.join()
            server.server_close()

    def wait(self, seconds: float) -> None:
        """Wait, but not for longer than the server lives."""
        self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, stub: Stub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stub = stub

    def handle_error(self, *_: Any) -> None:
        """A client that has left is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen = wire_formats.seen(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        try:
            answer = self.server.stub.next(seen)
        except Exception as error:  # the test shall see it, not a silent server
            self._send(400, wire_formats.error(seen.provider, 400, f"{type(error).__name__}: {error}"))
            return
        if isinstance(answer, Reply):
            self._stream(seen, answer)
        elif answer in _STATUS:
            headers = {"retry-after": str(self.server.stub.retry_after_s)} if answer is Fault.RATE_LIMITED else {}
            self._send(_STATUS[answer], wire_formats.error(seen.provider, _STATUS[answer], answer), headers)
        elif answer is Fault.REDIRECT:
            self._send(307, b"", {"location": f"{self.server.stub.url}{self.path}"})
        elif answer is Fault.HTML:
            self._send(200, b"<html><body>Sign in to the network</body></html>", {}, "text/html")
        elif answer is Fault.HANG:
            self.server.stub.wait(HANG_S)
        else:
            self._broken(seen, answer)

    def _broken(self, seen: Seen, fault: Fault) -> None:
        if fault in _REPLIES:
            self._stream(seen, _REPLIES[fault])
            return
        events = list(wire_formats.events(seen, Reply(text="half an answer, and then nothing more")))
        self._begin("text/event-stream")
        if fault is Fault.CUT:
            self.wfile.write(b"".join(events[: len(events) // 2]))
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif fault is Fault.BROKEN_JSON:
            self.wfile.write(events[0] + events[1][: len(events[1]) // 2] + b"\n\n" + b"".join(events[2:]))
        else:
            for byte in b"".join(events):
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                self.server.stub.wait(0.02)

    def _stream(self, seen: Seen, reply: Reply) -> None:
        self._begin("text/event-stream")
        for event in wire_formats.events(seen, reply):
            self.wfile.write(event)

    def _begin(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.end_headers()

    def _send(self, status: int, body: Json | bytes, headers: Mapping[str, str] | None = None, kind: str = "") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind or "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
