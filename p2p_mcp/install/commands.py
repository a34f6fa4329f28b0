"""`p2p-mcp install` and `p2p-mcp doctor`."""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.node import CheckLevel, SetupCheck
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.install import own_program
from p2p_mcp.install.change import ConfigChange, apply, change_of, keep_copy
from p2p_mcp.install.clients import CLIENTS, client_named, configuration, installed
from p2p_mcp.install.doctor import checks
from p2p_mcp.install.entry import this_installation, variables
from p2p_mcp.install.machine import Machine
from p2p_mcp.install.over_http import entry_over_http

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MARKS = {CheckLevel.OK: "✓", CheckLevel.WARNING: "!", CheckLevel.PROBLEM: "✗"}
FIRST_PROMPT = "Use p2p to teach HalfCheetah-v5 to run forward as fast as it can, and show me how it moves."
INSTALL_EXAMPLES = """\
examples:
  p2p-mcp install claude-desktop --dry-run     show what would be written
  p2p-mcp install claude-code
  p2p-mcp install vscode --env MUJOCO_GL=egl
  p2p-mcp install cursor --uninstall
"""
DOCTOR_EXAMPLES = """\
examples:
  p2p-mcp doctor
  p2p-mcp doctor --json
"""


def install(arguments: Sequence[str]) -> int:
    """Add the server to a client's configuration, or take it out.

    Raises:
        InvalidInput: the client is unknown, an option is malformed, or the client's configuration is broken.
        EnvironmentProblem: the client is not here, or its configuration cannot be written.
    """
    parser = argparse.ArgumentParser(
        prog="p2p-mcp install",
        description="Add p2p to the servers of a client, keeping everything else and a copy of the old file.",
        epilog=INSTALL_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("client", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")
    parser.add_argument("--uninstall", action="store_true", help="take it out again")
    parser.add_argument("--runs-dir", type=Path, help="where sessions are kept (P2P_RUNS_DIR, ./runs)")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="variable the server starts with; again for more. Keys are better kept in ~/.config/p2p/config.toml",
    )
    parser.add_argument("--name", default="p2p", help="what the client calls it (p2p)")
    parser.add_argument(
        "--file", action="store_true", help="change the client's file itself, not through the client's own program"
    )
    parser.add_argument("--force", action="store_true", help="also when the client does not seem to be installed")
    options = parser.parse_args(arguments)
    if not NAME.fullmatch(options.name):
        raise InvalidInput(f"A server cannot be called {options.name!r}. Use letters, digits, - and _.")
    client = client_named(options.client)
    machine = Machine.this()
    if not (options.uninstall or options.force or installed(client, machine)):
        raise EnvironmentProblem(
            f"{client.title} does not seem to be installed: neither its program nor its configuration "
            f"({configuration(client, machine)}) is found. Install it and start it once, or add --force to write the "
            "configuration anyway."
        )
    entry = this_installation(Settings.from_environment(options.runs_dir).runs_dir, variables(options.env))
    change = change_of(client, machine, options.name, None if options.uninstall else entry)
    commands = [] if options.file else own_program.commands(change, machine)
    if change.needed and not commands:
        change.after()  # refused before anything is said or written
    copy = None
    if commands and not options.dry_run:
        copy = keep_copy(change)
        own_program.run(commands, change, machine)
    elif not options.dry_run:
        copy = apply(change)
    _tell(change, commands, options.dry_run)
    if copy is not None:
        print(f"The file as it was: {copy}")
    if change.needed and not options.dry_run:
        if options.uninstall:
            print(f"{client.title} starts it no more. Sessions stay where they are.")
        else:
            print(f'{client.then}\nThen try: "{FIRST_PROMPT}"')
            print(f"{client.title} starts the server itself, over standard input and output: no port, no token.")
            if over_http := entry_over_http(client):
                print(f"For a server that runs already (p2p-mcp --http): {over_http}")
    return 0


def doctor(arguments: Sequence[str]) -> int:
    """Look at this machine, this server and every client, and say what to do about each problem.

    Raises:
        InvalidInput: the configuration file of p2p is broken.
    """
    parser = argparse.ArgumentParser(
        prog="p2p-mcp doctor",
        description="Look at this machine, this server and every client, and say what to do about each problem.",
        epilog=DOCTOR_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs-dir", type=Path, help="where sessions are kept (P2P_RUNS_DIR, ./runs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    settings = Settings.from_environment(options.runs_dir)
    entry = this_installation(settings.runs_dir, {})
    found: list[SetupCheck] = []
    for check in checks(Workspace(settings), entry, Machine.this()):
        found.append(check)
        if not options.json:
            remedy = f"\n{'':26}→ {check.remedy}" if check.remedy else ""
            print(f"{MARKS[check.level]} {check.name:<23} {check.found}{remedy}", flush=True)
    usable = all(check.level is not CheckLevel.PROBLEM for check in found)
    if options.json:
        print(json.dumps({"usable": usable, "checks": [check.model_dump(mode="json") for check in found]}, indent=2))
    else:
        print("All is well." if usable else "There is something to do; see the lines with ✗.")
    return 0 if usable else EnvironmentProblem.exit_code


def _tell(change: ConfigChange, commands: list[own_program.OwnCommand], dry_run: bool) -> None:
    """Say what comes about; the values of keys are left out."""
    title = change.client.title
    name = change.name
    entry = change.entry
    if not change.needed:
        print(f"{title} {'does not have' if entry is None else 'already has'} {name!r}: {change.path} stays as it is.")
        return
    verb = "remove" if entry is None else "add" if change.present is None else "replace"
    done = f"would {verb}" if dry_run else f"{verb}d" if verb.endswith("e") else f"{verb}ed"
    print(f"{title}: {done} {name!r} in {change.path}")
    for command in commands:
        print(f"  by: {command.shown}")
    if entry is not None:
        print(json.dumps({name: entry.shown_for(change.client)}, indent=2, ensure_ascii=False))
    if dry_run:
        print("Nothing was written (--dry-run).")


COMMANDS = {"install": install, "doctor": doctor}
"""First word of the command line -> what it runs."""
