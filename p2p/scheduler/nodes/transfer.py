"""Copy files between local and remote job directories: completely or not at all, verified by hash."""

import os
import posixpath
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem
from p2p.scheduler.nodes.environments import make_directories
from p2p.scheduler.nodes.ssh_connection import Connection
from p2p.store import files
from p2p.store.remote import OWN, PART, RemoteJobRecord

TAIL_CHUNK = 1 << 18
TAIL_MOST = 1 << 23
"""Most bytes at a time, and that one look takes, of a file that grows."""
MAX_NAME = 1000


class SentFile(Contract):
    """A file sent by a node."""

    name: str
    begin: int
    """Bytes already present."""
    size: int


def upload(link: Connection, inputs: Mapping[str, Path], target: str) -> None:
    """Upload files into a directory on the node.

    Raises:
        NodeUnreachable: the link went down; nothing there is half written.
        OSError: the node refuses.
    """
    folders = {posixpath.dirname(posixpath.join(target, name)) for name in inputs} | {target}
    for folder in sorted(folders):
        make_directories(link, folder)
    for name, path in inputs.items():
        remote = posixpath.join(target, name)
        part = f"{remote}.{secrets.token_hex(4)}{PART}"
        with link.files() as sftp:
            sftp.put(str(path), part)  # compares the sizes
            sftp.posix_rename(part, remote)


def tail(link: Connection, remote: str, local: Path) -> None:
    """Append the bytes a remote file has gained; start over if it became shorter."""
    have = local.stat().st_size if local.exists() else 0
    with link.files() as sftp, suppress(FileNotFoundError), sftp.open(remote, "rb") as file:
        size = file.stat().st_size or 0
        if size < have:
            have = 0
            files.remove(local)
        size = min(size, have + TAIL_MOST)
        while have < size:
            file.seek(have)
            data = file.read(min(size - have, TAIL_CHUNK))
            if not data:
                return
            files.make_directory(local.parent)
            with local.open("ab") as ours:
                ours.write(data)
            have += len(data)


class Arrivals:
    """Write received bytes into partial files.

    Args:
        directory: the job's.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._expected = list[SentFile]()
        self._left = 0

    def begin(self, answer: Any) -> None:
        """Prepare for the files listed in an answer.

        Raises:
            EnvironmentProblem: one has a name that could lead out of the directory.
        """
        self._expected = [SentFile.model_validate(entry) for entry in answer.get("sent", ())]
        for entry in self._expected:
            checked_path(self._directory, entry.name)
        self._next()

    def take(self, data: bytes) -> None:
        """Write the next bytes."""
        while data and self._expected:
            piece = data[: self._left]
            data = data[self._left :]
            with _part(self._directory, self._expected[0].name).open("ab") as file:
                file.write(piece)
            self._left -= len(piece)
            if not self._left:
                self._expected.pop(0)
                self._next()

    def _next(self) -> None:
        """Begin the next file; an empty one is complete at once."""
        while self._expected:
            entry = self._expected[0]
            part = _part(self._directory, entry.name)
            files.make_directory(part.parent)
            with part.open("ab") as file:
                file.truncate(entry.begin)
            self._left = entry.size - entry.begin
            if self._left:
                return
            self._expected.pop(0)


def begun(record: RemoteJobRecord) -> dict[str, int]:
    """Partially received files, with the bytes present."""
    return {
        path.relative_to(record.path).as_posix().removesuffix(PART): path.stat().st_size
        for path in record.path.rglob(f"*{PART}")
        if path.is_file() and not path.is_symlink()
    }


def known(record: RemoteJobRecord) -> dict[str, str]:
    """Hash of every complete file."""
    paths = {**record.inputs(), record.log_path.name: record.log_path}
    return {name: digest for name, path in paths.items() if (digest := files.sha256(path)) is not None}


def settle(directory: Path, sent: Sequence[Mapping[str, Any]], offered: Mapping[str, Mapping[str, Any]]) -> bool:
    """Move every verified file into place; False if one has to be sent again."""
    whole = True
    for entry in sent:
        name = str(entry["name"])
        part = _part(directory, name)
        if files.sha256(part) != offered[name]["sha256"]:
            part.unlink(missing_ok=True)
            whole = False
            continue
        with part.open("rb") as file:
            os.fsync(file.fileno())
        place = checked_path(directory, name)
        part.replace(place)
        files.sync(place.parent)
    return whole


def checked_path(directory: Path, name: str) -> Path:
    """Local path for a file named by a node.

    Raises:
        EnvironmentProblem: the name could lead out of the directory, or to a file that is p2p's own.
    """
    parts = name.split("/")
    plain = name.isprintable() and "\\" not in name and len(name) <= MAX_NAME
    own = name in OWN - {"output.log"} or name.endswith(PART)
    if not plain or own or any(part in ("", ".", "..") for part in parts):
        raise EnvironmentProblem(f"Refused a file from the node, named {name[:200]!r}, which is not taken.")
    path = directory
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise EnvironmentProblem(f"{path} is a link; nothing is written through it.")
    return path


def _part(directory: Path, name: str) -> Path:
    return directory / f"{name}{PART}"
