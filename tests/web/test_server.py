"""A real server on a real socket: `p2p web` in a process of its own."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from asking import EXAMPLES, VIDEO

SESSION = EXAMPLES["session_id"]
TOKEN = "a-token-of-this-test-0123456789"
PATIENCE_S = 30.0


class Server:
    """One process of `p2p web`.

    Args:
        runs_dir: Where its sessions are.
        port: 0 takes any free one.
        options: Further ones of the command.
    """

    def __init__(self, runs_dir: Path, port: int = 0, *options: str) -> None:
        where = ("--port", str(port), "--json", "--runs-dir", str(runs_dir))
        command = [sys.executable, "-m", "p2p.web", *where, *options]
        environment = {**os.environ, "P2P_WEB_TOKEN": TOKEN}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            line = self._process.stdout.readline()
            assert line, "the server has ended"
            text += line
        self.told: dict[str, Any] = json.loads(text)
        self.port: int = self.told["port"]
        self.pid = self._process.pid

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(self, method: str, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
        connection = self.connection()
        connection.request(method, path, headers={"authorization": f"Bearer {TOKEN}", **headers})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response, body

    def stream(self, path: str, **headers: str) -> "Stream":
        connection = self.connection()
        connection.request("GET", path, headers={"authorization": f"Bearer {TOKEN}", **headers})
        return Stream(connection)

    def stop(self) -> int:
        """Ctrl-C; its exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=PATIENCE_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=PATIENCE_S)
        assert self._process.stdout is not None
        self._process.stdout.close()


class Stream:
    """Events of an open stream."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self.response = connection.getresponse()

    def next(self, until: Callable[[dict[str, str]], bool] = lambda _: True) -> dict[str, str]:
        """The next event for which `until` holds."""
        found: dict[str, str] = {}
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                found[name] = value
            elif found:
                if until(found):
                    return found
                found = {}

    def close(self) -> None:
        self.response.close()
        self._connection.close()


@pytest.fixture
def server(seeded: Path) -> Iterator[Server]:
    started = Server(seeded)
    yield started
    started.kill()


def _append_event(runs: Path, seq: int) -> None:
    """What a driver does when something has happened."""
    event = {"seq": seq, "timestamp": "2026-01-01T00:00:00.000+00:00", "event": "guardrail.warning", "data": {}}
    with (runs / SESSION / "events.jsonl").open("a") as log:
        log.write(json.dumps(event) + "\n")


def test_a_server_answers_in_parts_refuses_streams_and_resumes(server: Server, seeded: Path) -> None:
    address = urlsplit(server.told["address"])
    assert (address.hostname, parse_qs(address.query)["token"]) == ("127.0.0.1", [TOKEN])

    video = f"/api/sessions/{SESSION}/iterations/1/videos/median.mp4"
    part, body = server.ask("GET", video, range="bytes=1000-1999")
    assert (part.status, body) == (206, VIDEO[1000:2000])
    whole, body = server.ask("GET", video)
    assert (whole.status, body) == (200, VIDEO)
    head, body = server.ask("HEAD", video)
    assert (head.status, body, head.headers["content-length"]) == (200, b"", str(len(VIDEO)))
    assert server.ask("HEAD", "/api/stream")[0].status == 200  # and ends

    assert server.ask("GET", "/api/sessions", authorization="Bearer wrong")[0].status == 401
    assert server.ask("GET", "/api/sessions", origin="http://127.0.0.1:1")[0].status == 403
    assert server.ask("GET", "/api/sessions/nope/events/stream")[0].status == 404

    log = server.stream(f"/api/sessions/{SESSION}/events/stream")
    assert log.response.headers["content-type"].startswith("text/event-stream")
    last = len((seeded / SESSION / "events.jsonl").read_text().splitlines())
    seen = [int(log.next()["id"]) for _ in range(last)]
    assert seen == list(range(1, last + 1))
    changed = server.stream("/api/stream")
    first = json.loads(changed.next()["data"])
    assert {"topic": "session", "id": SESSION} in [{"topic": one["topic"], "id": one["id"]} for one in first]

    _append_event(seeded, last + 1)
    assert json.loads(log.next()["data"])["event"] == "guardrail.warning"
    told = json.loads(changed.next(lambda event: SESSION in event["data"])["data"])
    versions = {one["version"] for one in [*first, *told] if one["id"] == SESSION}
    assert len(versions) == 2

    log.close()
    changed.close()
    server.kill()
    _append_event(seeded, last + 2)
    again = Server(seeded, server.port)
    try:
        resumed = again.stream(f"/api/sessions/{SESSION}/events/stream", **{"Last-Event-ID": str(last + 1)})
        assert resumed.next()["id"] == str(last + 2)  # none is missing, none comes twice
        assert again.stop() == 130  # with a stream open
        resumed.close()
    finally:
        again.kill()
