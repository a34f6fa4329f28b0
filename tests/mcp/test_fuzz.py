import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import IO, Any

import pytest
from hostile import IDS, UNKNOWN, frames, request

AT_A_TIME = 50
HOSTILE = IDS + UNKNOWN


class Wire:
    """A server on stdio, the frames it sent, and what it complained of."""

    def __init__(self, runs_dir: Path) -> None:
        kept = {name: os.environ[name] for name in ("HOME", "PATH")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "p2p_mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=kept | {"P2P_RUNS_DIR": str(runs_dir)},
            cwd=runs_dir.parent,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.answers: Queue[dict[str, Any]] = Queue()
        self.complaints: list[str] = []
        self._readers = (
            threading.Thread(target=self._read_answers, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_complaints, args=(self.process.stderr,), daemon=True),
        )
        for reader in self._readers:
            reader.start()

    def send(self, frame: bytes) -> None:
        self.stdin.write(frame + b"\n")
        self.stdin.flush()

    def ask(self, number: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; those to earlier frames are passed over."""
        self.send(request(number, method, params))
        while (answer := self.answers.get(timeout=30)).get("id") != number:
            pass
        return answer

    def close(self) -> int:
        """Close the wire as a client does, and return the exit code."""
        self.stdin.close()
        code = self.process.wait(timeout=15)
        for reader in self._readers:
            reader.join(timeout=5)
        return code

    def _read_answers(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self.answers.put(json.loads(line))  # whatever comes in, only frames go out

    def _read_complaints(self, stderr: IO[bytes]) -> None:
        self.complaints += [line.decode(errors="replace") for line in stderr]


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    wire = Wire(tmp_path / "runs")
    with wire.process:
        yield wire
        wire.process.kill()


def _arguments(tools: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {tool["name"]: [*tool["inputSchema"].get("properties", {})] for tool in tools}


@pytest.mark.parametrize("count", [300, pytest.param(3500, marks=pytest.mark.nightly)])
def test_hostile_frames_leave_the_server_alive_and_the_disk_clean(count: int, wire: Wire, tmp_path: Path) -> None:
    tools = wire.ask("first", "tools/list", {})["result"]["tools"]
    for number, frame in enumerate(frames(count, _arguments(tools), seed=4)):
        wire.send(frame)
        if number % AT_A_TIME == 0:  # it answers in between, and never falls behind for good
            assert "result" in wire.ask(f"alive {number}", "tools/list", {})
    assert [tool["name"] for tool in wire.ask("last", "tools/list", {})["result"]["tools"]] == [*_arguments(tools)]
    assert wire.close() == 0
    assert [line for line in wire.complaints if "Traceback" in line] == []
    assert [path.name for path in tmp_path.iterdir() if path.name != "runs"] == []


def test_no_tool_takes_a_hostile_id_for_a_path_or_fails_without_words(wire: Wire) -> None:
    tools = wire.ask("first", "tools/list", {})["result"]["tools"]
    for tool in tools:
        name, properties = tool["name"], tool["inputSchema"].get("properties", {})
        for key in [key for key in properties if key.endswith("_id")]:
            for index, value in enumerate(IDS):
                arguments = {**_least(tool["inputSchema"]), key: value}
                answer = wire.ask(f"{name} {key} {index}", "tools/call", {"name": name, "arguments": arguments})
                assert answer["result"]["isError"] is True, (name, key, value)
                words = " ".join(block["text"] for block in answer["result"]["content"])
                assert "root:" not in words
                assert len(words) > len(f"Error executing tool {name}: "), (name, key, value)


def test_no_resource_is_read_through_a_hostile_uri(wire: Wire) -> None:
    templates = wire.ask("first", "resources/templates/list", {})["result"]["resourceTemplates"]
    uris = [template["uriTemplate"] for template in templates]
    assert uris
    for uri in uris:
        head, *rest = uri.split("{")
        for index, value in enumerate(HOSTILE):
            hostile = head + "".join(value + part.partition("}")[2] for part in rest)
            answer = wire.ask(f"{uri} {index}", "resources/read", {"uri": hostile})
            assert "error" in answer, hostile
    for uri in (
        "file:///etc/passwd",
        "p2p://",
        "ui://p2p/../dashboard.html",
        "/etc/passwd",
        "http://127.0.0.1/",
        "p2p:",
    ):
        assert "error" in wire.ask(f"other {uri}", "resources/read", {"uri": uri}), uri


def _least(schema: dict[str, Any]) -> dict[str, Any]:
    """Plausible values for what a tool requires."""
    by_type: dict[str, Any] = {"integer": 1, "number": 0.5, "boolean": False, "array": [], "object": {}}
    return {name: by_type.get(schema["properties"][name].get("type"), "reward") for name in schema.get("required", [])}
