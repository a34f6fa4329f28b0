"""How soon a client that starts the server is greeted and has its tools, and what that costs."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from typing import IO, Any

import anyio
import pytest
from anyio import from_thread
from mcp import Client

from p2p.service.workspace import Workspace
from p2p_mcp.filters import ServerOptions
from p2p_mcp.policy_server import Content, PolicyServer
from p2p_mcp.server import fill
from p2p_mcp.tool_list import listed_tools

RUNS = 3
RATIO = 1.3
MEMORY_MB = 120
ENVELOPE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}


def _ask(process: subprocess.Popen[str], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    wire: IO[str] | None = process.stdin
    assert wire is not None
    assert process.stdout is not None
    wire.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    wire.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def _server(runs_dir: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(runs_dir)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _cpu_s(process: subprocess.Popen[str]) -> float:
    """Processor time of a process that is about to end [s]: it hardly depends on who else is at work."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def _bare() -> float:
    return _cpu_s(subprocess.Popen([sys.executable, "-c", "import mcp.server"], text=True))


def _begin(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """Greet a server, and ask for its tools."""
    assert _ask(process, 1, "initialize", ENVELOPE)["result"]["serverInfo"]["name"] == "p2p"
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    tools: list[dict[str, Any]] = _ask(process, 2, "tools/list", {})["result"]["tools"]
    return tools


def _begun(runs_dir: Path) -> float:
    """Processor time of a server until it has listed its tools [s]."""
    with _server(runs_dir) as process:
        assert len(_begin(process)) > 20
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        assert process.stdin is not None
        process.stdin.close()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_greeting_and_the_list_of_tools_cost_little_more_than_the_import_of_the_sdk(tmp_path: Path) -> None:
    both = [(_bare(), _begun(tmp_path)) for _ in range(RUNS)]
    ratio = median(begun / bare for bare, begun in both)
    assert ratio <= RATIO, f"{ratio:.2f}: {both}"


@pytest.mark.anyio
async def test_tools_are_loaded_when_they_have_been_listed_and_before_one_is_called(ws: Workspace) -> None:
    loaded = anyio.Event()

    def load(server: PolicyServer) -> Content:
        content = fill(server, ws, ServerOptions())
        from_thread.run_sync(loaded.set)
        return content

    async with Client(PolicyServer(load, partial(listed_tools, ServerOptions()))) as client:
        assert len((await client.list_tools()).tools) > 20
        assert not loaded.is_set()
        with anyio.fail_after(30):
            await loaded.wait()


def test_a_server_with_all_its_tools_stays_small(tmp_path: Path) -> None:
    with _server(tmp_path) as process:
        _begin(process)
        assert _ask(process, 3, "tools/call", {"name": "list_environments"})["result"]["structuredContent"]
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak_mb = int(status.split("VmHWM:")[1].split()[0]) / 1024
        assert process.stdin is not None
        process.stdin.close()
    assert peak_mb < MEMORY_MB
