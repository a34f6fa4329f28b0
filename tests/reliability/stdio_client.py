"""A client of the MCP server on stdio, small enough to see what it does while its server is killed."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "reliability", "version": "1"},
}


class ServerGone(Exception):
    """The server died before it answered."""


class StdioClient:
    """A server in a process of its own, and one request at a time to it."""

    def __init__(self, runs_dir: Path, variables: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(runs_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(variables or {})},
        )
        self._number = 0

    def __enter__(self) -> "StdioClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """`kill -9` of the server."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()

    def greet(self) -> None:
        """The handshake."""
        self.request("initialize", HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structure of a tool's answer.

        Raises:
            RuntimeError: it is an error; its words.
        """
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        structure: dict[str, Any] = result["structuredContent"]
        return structure

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request.

        Raises:
            ServerGone: the server died.
        """
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            message = json.loads(self._line())
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(json.dumps(message["error"]))
                result: dict[str, Any] = message["result"]
                return result

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise ServerGone from error

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        try:
            line = self.process.stdout.readline()
        except (OSError, ValueError) as error:
            raise ServerGone from error
        if not line.endswith(b"\n"):
            raise ServerGone
        return line
