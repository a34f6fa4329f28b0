"""The token of this person's servers over HTTP, kept where nobody else can read it."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from p2p import config_file
from p2p.contracts.errors import StorageProblem

PLACE = "P2P_MCP_TOKEN_FILE"
"""Variable: another place for it."""
NAME = "mcp_token"
_BYTES = 32


def location() -> Path:
    """Where the token is kept: in the folder of the configuration file."""
    chosen = os.environ.get(PLACE)
    return Path(chosen).expanduser() if chosen else config_file.location().with_name(NAME)


def kept_token(path: Path) -> str:
    """The token in `path`, the same for every server and every start; made where there is none.

    One that others could read, or that is somebody else's, is no secret and is replaced.

    Raises:
        StorageProblem: it can neither be read nor written.
    """
    try:
        return _read(path) or _made(path)
    except OSError as error:
        raise StorageProblem(
            f"The token of the server cannot be kept in {path}: {error.strerror or error}. "
            f"Choose another place with {PLACE}, or give one with P2P_MCP_TOKEN (or --token)."
        ) from error


def _read(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
        status = os.fstat(descriptor)
        private = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
        token = file.read(1000).strip() if private else ""
    if len(token) >= _BYTES and token.isascii() and token.isprintable() and " " not in token:
        return token
    path.unlink()
    return None


def _made(path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    token = secrets.token_urlsafe(_BYTES)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{token}\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)  # fails where another server was faster, and never shows half a file
    except FileExistsError:
        return _read(path) or token
    finally:
        with suppress(OSError):
            temporary.unlink()
    return token
