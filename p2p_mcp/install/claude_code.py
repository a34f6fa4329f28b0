"""Claude Code's own command, asked to change its file where it is there: that file is rewritten while it runs."""

import json
import subprocess
from collections.abc import Sequence

from p2p.contracts.errors import EnvironmentProblem
from p2p_mcp.install.change import Change
from p2p_mcp.install.entry import ServerEntry
from p2p_mcp.install.machine import Machine

CLIENT = "claude-code"
PROGRAM = "claude"
TIMEOUT_S = 60


def commands(change: Change, name: str, entry: ServerEntry, machine: Machine) -> list[list[str]]:
    """The commands that make a change, in order; none for another client, or where `claude` is not there.

    Args:
        change: What is to come about.
        name: Of the server.
        entry: What it is added with.
        machine: Where the program is looked for.
    """
    program = machine.program(PROGRAM)
    if change.client.name != CLIENT or program is None or not change.needed:
        return []
    remove = [program, "mcp", "remove", "--scope", "user", name]
    add = [program, "mcp", "add-json", "--scope", "user", name]
    add.append(json.dumps(entry.written_for(change.client), ensure_ascii=False))
    return [*([remove] if change.replaces else []), *([add] if change.adds else [])]


def run(command: Sequence[str], machine: Machine) -> None:
    """Have Claude Code change its configuration.

    Raises:
        EnvironmentProblem: it did not do so; its words, without the values it was given.
    """
    try:
        done = subprocess.run(
            command,
            env=dict(machine.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentProblem(_failed(command, type(error).__name__)) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise EnvironmentProblem(_failed(command, said.replace(command[-1], "…")))


def _failed(command: Sequence[str], reason: str) -> str:
    return f"`claude {' '.join(command[1:3])}` failed: {reason}. Add --file to change ~/.claude.json itself."
