"""How soon a client that starts the server is greeted, and what that costs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import IO, Any

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


def _greeted(runs_dir: Path) -> float:
    with _server(runs_dir) as process:
        assert _ask(process, 1, "initialize", ENVELOPE)["result"]["serverInfo"]["name"] == "p2p"
        assert process.stdin is not None
        process.stdin.close()
        return _cpu_s(process)


def test_a_greeting_costs_little_more_than_the_import_of_the_sdk(tmp_path: Path) -> None:
    both = [(_bare(), _greeted(tmp_path)) for _ in range(RUNS)]
    ratio = median(greeted / bare for bare, greeted in both)
    assert ratio <= RATIO, f"{ratio:.2f}: {both}"


def test_a_server_with_all_its_tools_stays_small(tmp_path: Path) -> None:
    with _server(tmp_path) as process:
        _ask(process, 1, "initialize", ENVELOPE)
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
        assert len(_ask(process, 2, "tools/list", {})["result"]["tools"]) > 20
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak_mb = int(status.split("VmHWM:")[1].split()[0]) / 1024
        process.stdin.close()
    assert peak_mb < MEMORY_MB
