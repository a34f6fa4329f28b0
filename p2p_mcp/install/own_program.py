"""Clients' own commands: each knows best how its file is written, and keeps the comments in it."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem
from p2p_mcp.install.change import ConfigChange, servers
from p2p_mcp.install.machine import Machine

TIMEOUT_S = 60


class OwnCommand(Contract):
    """One call of a client's program."""

    words: tuple[str, ...]
    """The program, and what may be shown."""
    values: tuple[str, ...] = ()
    """What follows; it may hold keys."""

    @property
    def shown(self) -> str:
        """The call without its values."""
        return " ".join((*self.words, *(["…"] if self.values else [])))


def commands(change: ConfigChange, machine: Machine) -> list[OwnCommand]:
    """List the calls that make a change, in order; empty where the client has no program for it on this machine."""
    program = machine.program(change.client.own_program) if change.client.own_program else None
    if program is None or not change.needed or Path(program).suffix.lower() in (".cmd", ".bat"):
        return []  # what goes through cmd.exe loses its quotes
    name = change.name
    entry = change.entry
    if change.client.name == "vscode":  # it has no command that removes
        if entry is None:
            return []
        described = json.dumps({"name": name, **entry.written_for(change.client)}, ensure_ascii=False)
        return [OwnCommand(words=(program, "--add-mcp"), values=(described,))]
    found = []
    if change.present is not None:
        found.append(OwnCommand(words=(program, "mcp", "remove", "--scope", "user", name)))
    if entry is not None and change.client.name == "gemini":
        variables = tuple(word for key, value in entry.env.items() for word in ("-e", f"{key}={value}"))
        values = (*variables, name, entry.command, "--", *entry.args)
        found.append(OwnCommand(words=(program, "mcp", "add", "--scope", "user"), values=values))
    elif entry is not None:
        described = json.dumps(entry.written_for(change.client), ensure_ascii=False)
        found.append(OwnCommand(words=(program, "mcp", "add-json", "--scope", "user", name), values=(described,)))
    return found


def run(found: Sequence[OwnCommand], change: ConfigChange, machine: Machine) -> None:
    """Have a client change its configuration.

    Raises:
        EnvironmentProblem: it did not do so; its words, without the values it was given.
    """
    for command in found:
        try:
            done = subprocess.run(
                [*command.words, *command.values],
                env=dict(machine.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _failed(command, change, type(error).__name__) from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            for value in sorted(command.values, key=len, reverse=True):
                said = said.replace(value, "…")
            raise _failed(command, change, said)
    written = servers(change.client, machine).get(change.name)
    starts = written.get("command") if isinstance(written, dict) else None
    if starts != (None if change.entry is None else change.entry.command):
        raise _failed(found[-1], change, f"it ended well, and {change.path} does not say so")


def _failed(command: OwnCommand, change: ConfigChange, reason: str) -> EnvironmentProblem:
    words = " ".join((Path(command.words[0]).name, *command.words[1:3]))
    return EnvironmentProblem(f"`{words}` failed: {reason}. Add --file to change {change.path} itself.")
