"""How a client reaches a server over HTTP, and whether the token of this person's servers lets it in."""

import json
import os
import stat
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from p2p.contracts.node import CheckLevel, SetupCheck
from p2p_mcp.install.clients import CLIENTS, Client
from p2p_mcp.token_file import location

PORT = 8765
"""Where `p2p-mcp --http` listens unless told otherwise."""
TIMEOUT_S = 5.0
LISTENING = "0A"
"""State of a socket in /proc/net/tcp."""


def entry_over_http(client: Client, port: int = PORT) -> str:
    """What a client is told to reach a running server; empty where it starts all its servers itself.

    The token itself is not written out: what is printed lands in logs and histories.
    """
    url, token = f"http://127.0.0.1:{port}/mcp", location()
    if client.name == "claude-code":
        header = f'--header "Authorization: Bearer $(cat {token})"'
        return f"claude mcp add --transport http --scope user p2p {url} {header}"
    if not client.url_member:
        return ""
    kind = {"type": "http"} if client.name == "vscode" else {}
    entry = {**kind, client.url_member: url, "headers": {"Authorization": f"Bearer <the line in {token}>"}}
    return f'"p2p": {json.dumps(entry)} in "{client.section}"'


def check_token(port: int = PORT) -> SetupCheck:
    """Where the token is, whether it is a secret, and whether a running server takes it."""
    path = location()
    given = f"A client sends it so: {entry_over_http(CLIENTS['claude-code'], port)}"
    try:
        status = path.lstat()
    except OSError:
        found = f"no server has run over HTTP yet; `p2p-mcp --http` makes the token {path}"
        return SetupCheck(name="HTTP token", level=CheckLevel.OK, found=found)
    mode = stat.S_IMODE(status.st_mode)
    fault = ""  # why the token is no secret
    if not stat.S_ISREG(status.st_mode):
        fault = "is not a regular file"
    elif status.st_uid != os.geteuid():
        fault = f"belongs to user {status.st_uid}, not to you"
    elif mode & 0o077:
        fault = f"can be read by others (mode {mode:04o}, expected 0600)"
    if fault:
        remedy = f"Run: p2p-mcp --http; it makes a new one, and clients need that. Or: rm {path}"
        return SetupCheck(name="HTTP token", level=CheckLevel.PROBLEM, found=f"{path} {fault}", remedy=remedy)
    level, served = _served(path, port)
    return SetupCheck(name="HTTP token", level=level, found=f"{path}, readable by you alone; {served}", remedy=given)


def _served(path: Path, port: int) -> tuple[CheckLevel, str]:
    """Whether the server on a port takes the token, which is shown to nobody else's server."""
    owner = _listener(port)
    if owner is None:
        return CheckLevel.OK, f"nobody listens on port {port}"
    if owner != os.geteuid():
        found = f"a process of user {owner} listens on port {port}, and clients would tell it the token"
        return CheckLevel.WARNING, f"{found}; it was not asked. Choose another --port"
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        token = path.read_text(encoding="ascii").strip()
        connection.request("DELETE", "/mcp", headers={"Authorization": f"Bearer {token}"})
        status = connection.getresponse().status
    except (OSError, HTTPException, ValueError) as error:
        return CheckLevel.WARNING, f"what listens on port {port} does not answer ({type(error).__name__})"
    finally:
        connection.close()
    if status == 401:
        return CheckLevel.WARNING, f"the server on port {port} was started with another token"
    return CheckLevel.OK, f"the server on port {port} answers with it"


def _listener(port: int) -> int | None:
    """User whose process listens on a port of this machine, another one before us; None where nobody is known to."""
    owners = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for words in map(str.split, lines):
            if words[3] == LISTENING and int(words[1].rpartition(":")[2], 16) == port:
                owners.add(int(words[7]))
    return next(iter(owners - {os.geteuid()} or owners), None)
