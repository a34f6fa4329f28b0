"""What it costs to start p2p: processor time of its commands and of its server, held against what they are made of."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from p2p.contracts.errors import EnvironmentProblem
from p2p.lab.contracts.measurement import Spread, StartReport, StartRow

COMMAND = "import sys; from p2p.cli import main; sys.exit(main())"
SERVER = "import sys; from p2p_mcp.cli import main; sys.exit(main())"
"""As the installed scripts start them."""
LIBRARIES = "import typer, rich.console, rich.table"
BARE_SERVER = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def echo(text: str) -> str:
    "Say it again."
    return text
server.run("stdio")
"""
GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "p2p bench start", "version": "0"},
}


Calls = tuple[tuple[str, Mapping[str, Any]], ...]
"""Methods that a server is asked for, with their parameters."""


class Start(NamedTuple):
    """A process that is started and measured."""

    name: str
    arguments: tuple[str, ...]
    """Of the interpreter."""
    calls: Calls | None = None
    """What a server is asked after its greeting; None for a process that ends by itself."""


CODE = Start(LIBRARIES, ("-c", LIBRARIES))
LISTING: Calls = (("tools/list", {}),)


def starts(has_sessions: bool) -> list[tuple[Start, Start]]:
    """What is measured, each with what it is held against.

    Args:
        has_sessions: Whether there is one to show.
    """
    words = ["--help", "list", "list --json", *(["show latest", "show latest --json"] if has_sessions else [])]
    commands = [(Start(f"p2p {line}", ("-c", COMMAND, *line.split())), CODE) for line in words]
    ours, bare = ("-c", SERVER), ("-c", BARE_SERVER)
    first_call: Calls = (("tools/call", {"name": "list_environments"}),)
    echo: Calls = (("tools/call", {"name": "echo", "arguments": {"text": "a"}}),)
    return [
        *commands,
        (Start("p2p-mcp, until its tools are listed", ours, LISTING), Start("a bare server", bare, LISTING)),
        (
            Start("p2p-mcp, until a tool has answered", ours, LISTING + first_call),
            Start("a bare server", bare, LISTING + echo),
        ),
    ]


def measure_starts(
    runs_dir: Path, repetitions: int, has_sessions: bool, progress: Callable[[str], None]
) -> StartReport:
    """Measure each start and what it is held against in turns; load of the machine meets both alike.

    Args:
        runs_dir: Whose sessions are listed and shown.
        repetitions: Times each is started; once more before, unmeasured, for files that the first start writes.
        has_sessions: Whether there is one to show.
        progress: Called with a line for each start that has been measured.

    Raises:
        EnvironmentProblem: a process failed.
    """
    environment = {**os.environ, "P2P_RUNS_DIR": str(runs_dir)}
    rows = []
    for start, base in starts(has_sessions):
        pairs = [(_processor_s(start, environment), _processor_s(base, environment)) for _ in range(repetitions + 1)]
        measured = pairs[1:]
        row = StartRow(
            what=start.name,
            against=base.name,
            seconds=Spread.of(tuple(own for own, _ in measured)),
            ratio=Spread.of(tuple(own / other for own, other in measured)),
        )
        rows.append(row)
        progress(f"{row.what}: {row.ratio.median:.2f}")
    return StartReport(repetitions=repetitions, rows=tuple(rows))


def _processor_s(start: Start, environment: Mapping[str, str]) -> float:
    """Processor time of a process until it ends, or until a server has answered its last question [s]."""
    process = subprocess.Popen(
        [sys.executable, *start.arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL if start.calls is None else subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        assert process.stdin is not None
        if start.calls is None:
            process.stdin.close()
        else:
            answered = _converse(process, start.calls)
            process.kill()
            if not answered:
                raise EnvironmentProblem(f"{start.name} gave no answer to one of {[name for name, _ in start.calls]}.")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if start.calls is None and process.returncode != 0:
        raise EnvironmentProblem(f"{start.name} ended with {process.returncode}.")
    return used.ru_utime + used.ru_stime


def _converse(process: "subprocess.Popen[str]", calls: Calls) -> bool:
    """Greet a server and ask it; False where an answer is no result."""
    assert process.stdin is not None
    assert process.stdout is not None
    for number, (method, params) in enumerate([("initialize", GREETING), *calls]):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line or "result" not in (answer := json.loads(line)) or answer["result"].get("isError"):
            return False
        if method == "initialize":
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    return True


def table(report: StartReport) -> str:
    """One row per start, in Markdown."""
    lines = ["| start | processor time | times that of | ratio |", "|---|---|---|---|"]
    for row in report.rows:
        seconds, ratio = row.seconds, row.ratio
        against = f"`{row.against}`" if row.against == LIBRARIES else row.against
        lines.append(
            f"| {row.what} | {seconds.median:.2f} s [{seconds.low:.2f}, {seconds.high:.2f}] | {against} | "
            f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] |"
        )
    return "\n".join(
        [
            *lines,
            "",
            f"Median [smallest, largest] of {report.repetitions} repetitions, each start and its base in turns.",
        ]
    )
