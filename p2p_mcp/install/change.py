"""Change a client's configuration: worked out first, then written whole; the old one is kept in the same folder."""

import json
import os
import shutil
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput, StorageProblem
from p2p_mcp.install.clients import Client, configuration
from p2p_mcp.install.entry import ServerEntry
from p2p_mcp.install.json_text import parse, with_section
from p2p_mcp.install.machine import Machine


class ConfigChange(Contract):
    """A change of a client's configuration."""

    client: Client
    path: Path
    """The file itself, at the end of any links."""
    before: str | None
    """Its text; None when there is no file."""
    name: str
    """Of the server."""
    entry: ServerEntry | None
    """What the client shall start; None when the server is taken out."""
    others: dict[str, object]
    """Servers of other names."""
    present: object
    """What stands under the name; None when there is nothing."""

    @property
    def wanted(self) -> dict[str, object] | None:
        """Entry to be written; None to remove it."""
        return None if self.entry is None else self.entry.written_for(self.client)

    @property
    def needed(self) -> bool:
        """False when the file already says this."""
        return self.present != self.wanted

    def after(self) -> str:
        """The text afterwards.

        Raises:
            InvalidInput: rewriting would lose a part of the file; says what to paste.
        """
        mine = {} if self.wanted is None else {self.name: self.wanted}
        names = [*parse(self.before or "").get(self.client.section, {})]
        servers = {**self.others, **mine}
        order = [name for name in (*names, self.name) if name in servers]
        try:
            return with_section(self.before or "", self.client.section, {name: servers[name] for name in order})
        except InvalidInput as error:
            by_hand = f'Remove "{self.name}" from its "{self.client.section}" yourself.'
            if self.entry is not None:
                snippet = json.dumps(self.entry.shown_for(self.client), indent=2, ensure_ascii=False)
                by_hand = f'Add this to its "{self.client.section}" yourself:\n"{self.name}": {snippet}'
            raise InvalidInput(f"{self.path} was not touched: {error}. {by_hand}") from error


def change_of(client: Client, machine: Machine, name: str, entry: ServerEntry | None) -> ConfigChange:
    """Work out what adds the server to a client, or takes it out.

    Raises:
        InvalidInput: its configuration is broken; nothing is touched.
    """
    path, before = _read(client, machine)
    listed = servers(client, machine)
    others = {other: written for other, written in listed.items() if other != name}
    return ConfigChange(
        client=client, path=path, before=before, name=name, entry=entry, others=others, present=listed.get(name)
    )


def servers(client: Client, machine: Machine) -> dict[str, object]:
    """The servers in a client's configuration, by name.

    Raises:
        InvalidInput: its configuration is broken.
    """
    path, text = _read(client, machine)
    found = parse(text or "", client.dialect).get(client.section, {})
    if not isinstance(found, dict):
        raise InvalidInput(f"{path} was not touched: its {client.section!r} is not an object.")
    return found


def apply(change: ConfigChange) -> Path | None:
    """Write the file; a reader sees the old one or the new one, never half of one.

    Returns:
        The copy of the old file, or None when there was none.

    Raises:
        InvalidInput: another program changed the file since it was read, or rewriting would lose a part of it.
        StorageProblem: it cannot be written; the old one stays whole.
    """
    if not change.needed:
        return None
    after = change.after()
    try:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        if _text(change.path) != change.before:
            raise InvalidInput(f"{change.path} was changed by another program just now. Run the command again.")
        backup = keep_copy(change)
        _replace(change.path, after.encode())
    except OSError as error:
        raise StorageProblem(f"Cannot write {change.path}: {error.strerror or error}. It is as it was.") from error
    return backup


def keep_copy(change: ConfigChange) -> Path | None:
    """Copy the file within its folder, under a name that is free; None when there is no file."""
    if change.before is None:
        return None
    stamp = f"{change.path.name}.{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    number = 1
    while (copy := change.path.with_name(f"{stamp}{f'-{number}' if number > 1 else ''}.bak")).exists():
        number += 1
    shutil.copy2(change.path, copy)
    return copy


def _read(client: Client, machine: Machine) -> tuple[Path, str | None]:
    path = configuration(client, machine).resolve()
    try:
        text = _text(path)
        parse(text or "", client.dialect)
    except (InvalidInput, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} was not touched: {error} {client.title} would not read it either. "
            "Correct it, or move it away, and run the command again."
        ) from error
    except OSError as error:
        raise StorageProblem(f"{path} cannot be read: {error.strerror or error}.") from error
    return path, text


def _text(path: Path) -> str | None:
    """The file with its own ends of lines; None when it is not there. A byte order mark is no part of it."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes) -> None:
    """Put a file in the place of another, with its permissions; a new one is its owner's, as it may hold keys."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
