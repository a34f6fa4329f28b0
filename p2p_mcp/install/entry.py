"""The server as a client's configuration describes it."""

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p_mcp.install.clients import Client

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL | re.ASCII)


class ServerEntry(Contract):
    """How a client starts the server."""

    command: str
    """Absolute, since a client's search path is not the shell's."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default={}, repr=False)
    """Variables beyond the few a client passes on."""

    def written_for(self, client: Client) -> dict[str, Any]:
        """As it stands in a client's file."""
        entry: dict[str, Any] = {**client.entry, "command": self.command, "args": list(self.args)}
        return {**entry, "env": self.env} if self.env else entry

    def shown_for(self, client: Client) -> dict[str, Any]:
        """The same with the values of keys left out."""
        hidden = {name: "(not shown)" if SECRET.search(name) else value for name, value in self.env.items()}
        return self.model_copy(update={"env": hidden}).written_for(client)


def this_installation(runs_dir: Path, env: dict[str, str]) -> ServerEntry:
    """The server of the installation this program belongs to.

    Args:
        runs_dir: Where sessions are kept; made absolute, since clients start servers anywhere.
        env: Variables it is to be started with.
    """
    python = Path(
        sys.executable
    ).absolute()  # not resolved: behind a virtual environment's link there is another python
    script = python.with_name("p2p-mcp.exe" if os.name == "nt" else "p2p-mcp")
    start = [str(script)] if script.is_file() else [str(python), "-m", "p2p_mcp"]
    return ServerEntry(command=start[0], args=(*start[1:], "--runs-dir", str(runs_dir.absolute())), env=env)


def variables(assignments: Iterable[str]) -> dict[str, str]:
    """`KEY=VALUE` as it comes from the command line.

    Raises:
        InvalidInput: one has another form; its value is not repeated.
    """
    found = {}
    for assignment in assignments:
        match = ASSIGNMENT.fullmatch(assignment)
        if match is None:
            raise InvalidInput(
                f"--env {assignment.partition('=')[0]!r} is not an assignment. Write --env NAME=VALUE, such as "
                "--env MUJOCO_GL=egl."
            )
        found[match["name"]] = match["value"]
    return found
