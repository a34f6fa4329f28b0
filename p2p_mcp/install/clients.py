"""The clients p2p can be added to: where each keeps its list of servers, and in which form."""

from pathlib import Path

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import UnknownName
from p2p_mcp.install.json_text import Dialect
from p2p_mcp.install.machine import Machine


class Client(Contract):
    """One program that starts servers; facts only."""

    name: str
    """What `p2p-mcp install` calls it."""
    title: str
    folders: tuple[str, ...]
    """Patterns of the folder its configuration is in; the first that exists is the one, else the last."""
    file: str
    """Name of its configuration."""
    signs: tuple[str, ...] = ()
    """Patterns of folders and files that are there when it is installed, besides the folder of its configuration."""
    programs: tuple[str, ...] = ()
    """Commands that are there when it is installed."""
    own_program: str = ""
    """Command that adds servers to its configuration; empty where there is none."""
    section: str = "mcpServers"
    """Member of the file that lists the servers."""
    entry: dict[str, str] = Field(default={})
    """What each server is written with besides command, args and env."""
    url_member: str = ""
    """What holds the address of a server that it does not start; empty where its file lists none."""
    dialect: Dialect = Dialect.STRICT
    """What its configuration may hold besides JSON."""
    then: str
    """What its user does next."""


PACKAGED_CLAUDE = "{local}/Packages/Claude_*/LocalCache/Roaming/Claude"
"""On Windows a packaged Claude Desktop has a private copy of %APPDATA% here, and never reads the other one."""

CLIENTS = {
    client.name: client
    for client in (
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            folders=(PACKAGED_CLAUDE, "{config}/Claude"),
            file="claude_desktop_config.json",
            programs=("claude-desktop",),
            then="Quit Claude Desktop wholly (closing its window is not enough) and start it again.",
        ),
        Client(
            name="claude-code",
            title="Claude Code",
            folders=("{home}",),
            file=".claude.json",
            signs=("{home}/.claude", "{home}/.claude.json"),
            programs=("claude",),
            own_program="claude",
            entry={"type": "stdio"},
            then="Start `claude`, and type /mcp to see it.",
        ),
        Client(
            name="cursor",
            title="Cursor",
            folders=("{home}/.cursor",),
            file="mcp.json",
            signs=("{config}/Cursor",),
            programs=("cursor",),
            url_member="url",
            then="In Cursor, open Settings, then MCP, and switch it on.",
        ),
        Client(
            name="vscode",
            title="Visual Studio Code",
            folders=("{config}/Code/User",),
            file="mcp.json",
            signs=("{config}/Code", "{home}/.vscode"),
            programs=("code",),
            own_program="code",
            url_member="url",
            section="servers",
            entry={"type": "stdio"},
            dialect=Dialect.LENIENT,
            then='In VS Code, run the command "MCP: List Servers", choose p2p and start it.',
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            folders=("{home}/.gemini",),
            file="settings.json",
            programs=("gemini",),
            own_program="gemini",
            url_member="httpUrl",
            dialect=Dialect.COMMENTED,
            then="Start `gemini` in a folder it trusts, and type /mcp to see it.",
        ),
    )
}
"""Name -> client."""


def client_named(name: str) -> Client:
    """A client by its name.

    Raises:
        UnknownName: there is no such client, with those there are.
    """
    if name not in CLIENTS:
        raise UnknownName("client", name, CLIENTS)
    return CLIENTS[name]


def configuration(client: Client, machine: Machine) -> Path:
    """The file in which a client lists its servers; neither it nor its folder need exist."""
    folders = [path for pattern in client.folders for path in machine.paths(pattern)]
    return next((path for path in folders if path.is_dir()), folders[-1]) / client.file


def installed(client: Client, machine: Machine) -> bool:
    """Whether anything on this machine says that the client is there."""
    folder = configuration(client, machine).parent
    signs = [path for sign in client.signs for path in machine.paths(sign)]
    found = any(path.exists() for path in (*signs, folder) if path != machine.home)
    return found or any(machine.program(name) for name in client.programs)
