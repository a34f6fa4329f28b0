"""Two hundred clients that ask one server over HTTP, each once a second, how a training stands."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from findings import Findings
from killed_processes import LONG
from small_sessions import accepted_session
from stdio_client import HELLO
from watching import handle, until

from p2p.service.progress.job_views import get_job
from p2p.service.sessions.background import start_training
from p2p.service.sessions.driving import stop_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

CLIENTS, PERIOD_S = 200, 1.0
P99_S = 0.1
WARM_UP_S = 5.0
GROWTH_MB = 20
"""What the server's memory may grow by after the first seconds [MiB]."""


def polling(count: int, place: Path) -> Findings:
    """`count` seconds of polling."""
    findings = Findings()
    findings.watch_for("errors")
    ws = Workspace(Settings(runs_dir=place))
    session_id = accepted_session(ws, LONG)
    job_id = start_training(ws, session_id).job_id
    until(lambda: get_job(ws, job_id).step > 0, 120)
    run = next(iter(ws.record(session_id).iteration(1).runs())).path
    os.kill(handle(run)["child"], signal.SIGSTOP)  # it stays under way, and leaves the machine to server and clients
    command = [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(place), "--http", "--no-token", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = urlsplit(server.stderr.readline().split()[-1])
        try:
            load = _Load(url.hostname or "", url.port or 0, job_id, server.pid)
            asyncio.run(load.run(count))
        finally:
            server.terminate()
            stop_session(ws, session_id)
    findings.count("clients", CLIENTS)
    findings.count("answers", len(load.seconds))
    for error in load.errors:
        findings.went_wrong("errors", error)
    ordered = sorted(load.seconds)
    p99 = ordered[int(0.99 * len(ordered))]
    findings.times_s["answer"] = load.seconds
    memory = f"memory {load.memory_mb[0]:.0f} MB, then {load.memory_mb[-1]:.0f} MB"
    findings.notes += [f"99 % within {1000 * p99:.0f} ms", memory]
    if p99 > P99_S:
        findings.went_wrong("p99 over 100 ms", f"{1000 * p99:.0f} ms")
    if load.memory_mb[-1] - load.memory_mb[0] > GROWTH_MB:
        findings.went_wrong("memory that grows", memory)
    return findings


@dataclass
class _Load:
    """All clients, in one process that does little besides."""

    host: str
    port: int
    job_id: str
    server: int
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    async def run(self, seconds: int) -> None:
        begun = time.monotonic()
        clients = [self._client(number, begun, seconds) for number in range(CLIENTS)]
        await asyncio.gather(self._watch_memory(begun, seconds), *clients)

    async def _watch_memory(self, begun: float, seconds: int) -> None:
        await asyncio.sleep(min(WARM_UP_S, seconds / 2))
        while time.monotonic() - begun < seconds:
            self.memory_mb.append(_memory_mb(self.server))
            await asyncio.sleep(1.0)

    async def _client(self, number: int, begun: float, seconds: int) -> None:
        await asyncio.sleep(WARM_UP_S * number / CLIENTS)
        try:
            connection = await _Connection.open(self.host, self.port)
            at = time.monotonic()
            while at - begun < seconds:
                await asyncio.sleep(max(0.0, at - time.monotonic()))
                asked = time.monotonic()
                answer = await connection.ask("tools/call", {"name": "get_job", "arguments": {"job_id": self.job_id}})
                self.seconds.append(time.monotonic() - asked)
                if answer.get("isError") or answer["structuredContent"]["job_id"] != self.job_id:
                    self.errors.append(str(answer))
                at += PERIOD_S
            connection.close()
        except (OSError, EOFError, ValueError, KeyError) as error:
            self.errors.append(f"client {number}: {error!r}")


class _Connection:
    """One connection that is kept open, and the session of the protocol on it."""

    def __init__(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host, self._reader, self._writer = host, reader, writer
        self._session = ""
        self._number = 0

    @classmethod
    async def open(cls, host: str, port: int) -> "_Connection":
        connection = cls(f"{host}:{port}", *await asyncio.open_connection(host, port))
        await connection.ask("initialize", HELLO)
        await connection._exchange({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return connection

    async def ask(self, method: str, params: dict[str, object]) -> dict[str, object]:
        self._number += 1
        body = await self._exchange({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        message = json.loads(body.partition(b"data: ")[2] or body)
        result: dict[str, object] = message["result"]
        return result

    def close(self) -> None:
        self._writer.close()

    async def _exchange(self, message: dict[str, object]) -> bytes:
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n{self._session}\r\n"
        )
        self._writer.write(head.encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        if lines[0].split()[1] not in ("200", "202"):
            raise ValueError(lines[0])
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        if "mcp-session-id" in headers:
            self._session = (
                f"Mcp-Session-Id: {headers['mcp-session-id']}\r\nMCP-Protocol-Version: {HELLO['protocolVersion']}\r\n"
            )
        if "content-length" in headers:
            return await self._reader.readexactly(int(headers["content-length"]))
        return await self._chunks() if headers.get("transfer-encoding") == "chunked" else b""

    async def _chunks(self) -> bytes:
        parts = []
        while size := int(await self._reader.readline(), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readline()
        await self._reader.readline()
        return b"".join(parts)


def _memory_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))
