"""Checks of `p2p-mcp doctor`: this machine, this server, and every installed client."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from p2p.contracts.errors import P2PError
from p2p.contracts.node import CheckLevel, SetupCheck
from p2p.service.machines.setup import check_setup
from p2p.service.workspace import Workspace
from p2p_mcp.install import server_probe
from p2p_mcp.install.change import servers
from p2p_mcp.install.clients import CLIENTS, Client, configuration, installed
from p2p_mcp.install.entry import ServerEntry
from p2p_mcp.install.machine import Machine
from p2p_mcp.install.over_http import check_token


def checks(ws: Workspace, entry: ServerEntry, machine: Machine) -> Iterator[SetupCheck]:
    """Everything, one after the other; servers are started for some seconds.

    Args:
        ws: Knows what training needs.
        entry: The server of this installation.
        machine: Whose clients are looked at.
    """
    yield from check_setup(ws).checks
    yield _started("p2p-mcp", entry, "Run: p2p-mcp --version; reinstall p2p when that fails too.")
    yield check_token()
    for client in CLIENTS.values():
        if not installed(client, machine):
            yield SetupCheck(name=client.name, level=CheckLevel.OK, found=f"{client.title} is not here")
            continue
        try:
            listed = servers(client, machine)
        except P2PError as error:
            yield SetupCheck(name=client.name, level=CheckLevel.PROBLEM, found=str(error), remedy="Correct the file.")
            continue
        install = f"Run: p2p-mcp install {client.name}"
        ours = {name: written for name, written in listed.items() if isinstance(written, dict) and _starts_p2p(written)}
        if not ours:
            found = f"p2p is not in {configuration(client, machine)}"
            yield SetupCheck(name=client.name, level=CheckLevel.OK, found=found, remedy=install)
        for name, written in ours.items():
            again = install if name == "p2p" else f"{install} --name {name}"
            yield _configured(client, written, entry, again)


def _configured(client: Client, written: dict[str, Any], entry: ServerEntry, again: str) -> SetupCheck:
    try:
        own = ServerEntry(**{part: written[part] for part in ServerEntry.model_fields if written.get(part)})
    except ValueError:
        found = "its entry has no command, args and env of the right kind"
        return SetupCheck(name=client.name, level=CheckLevel.PROBLEM, found=found, remedy=again)
    if own == entry:
        return SetupCheck(name=client.name, level=CheckLevel.OK, found=f"{client.title} starts this very server")
    if Path(own.command).is_absolute() and not Path(own.command).exists():
        found = f"{own.command} is no longer there"
        return SetupCheck(name=client.name, level=CheckLevel.PROBLEM, found=found, remedy=again)
    check = _started(client.name, own, again)
    if check.level is CheckLevel.OK and own.command != entry.command:
        note = f"It starts another installation than this one; to change that: {again.removeprefix('Run: ')}"
        return check.model_copy(update={"remedy": note})
    return check


def _started(name: str, entry: ServerEntry, remedy: str) -> SetupCheck:
    answer = server_probe.ask(entry.command, list(entry.args), entry.env)
    if answer.problem:
        found = f"{entry.command}: {answer.problem}"
        return SetupCheck(name=name, level=CheckLevel.PROBLEM, found=found, remedy=remedy)
    found = f"{entry.command} {answer.version} answers in {answer.seconds:g} s with {answer.tools} tools"
    return SetupCheck(name=name, level=CheckLevel.OK, found=found)


def _starts_p2p(written: dict[str, Any]) -> bool:
    """Whether a server in a client's list is p2p, under any name."""
    command = written.get("command")
    args = written.get("args")
    words = [Path(str(command)).stem, *(map(str, args) if isinstance(args, list) else ())]
    return "p2p-mcp" in words or "p2p_mcp" in words
