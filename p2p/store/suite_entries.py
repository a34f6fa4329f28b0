"""Entries on disk: `results.json`, and `sessions/<session>/` with a policy and its reward."""

import hashlib
from pathlib import Path

from p2p.contracts.errors import InvalidInput, StorageProblem
from p2p.contracts.suite_entry import Entry
from p2p.store import files, layout
from p2p.store.records import in_directory, json_file
from p2p.store.untrusted_files import enclose, read_bytes

LONGEST_POLICY = 64 << 20
"""[bytes]; a network of 256 x 256 units has 0.6 MB."""


class EntryRecord:
    """Directory of an entry. It may be somebody else's: no link in it is followed, and nothing in it is run.

    Args:
        path: The directory.
    """

    read_entry, save_entry = json_file("results.json", Entry)
    """Written last."""
    results_path = in_directory("results.json")

    def __init__(self, path: Path) -> None:
        self.path = path
        enclose(path)

    def policy(self, session_id: str) -> Path:
        """Policy of a session, as plain arrays."""
        return self._session(session_id) / layout.POLICY

    def reward(self, session_id: str) -> Path:
        """Reward that the policy was trained with, to be read."""
        return self._session(session_id) / layout.REWARD_FN

    def sha256(self, name: str) -> str | None:
        """SHA-256 of a file of the entry; None if it is absent, no regular file, or reached by a link."""
        try:
            return hashlib.sha256(read_bytes(self.path / name, LONGEST_POLICY)).hexdigest()
        except OSError:
            return None

    def name_of(self, path: Path) -> str:
        """Path of a file below the entry."""
        return path.relative_to(self.path).as_posix()

    def _session(self, session_id: str) -> Path:
        if not layout.IDENTIFIER.fullmatch(session_id):
            raise InvalidInput(f"{session_id[:80]!r} cannot name a session.")
        return self.path / "sessions" / session_id


def copy_file(source: Path, target: Path) -> None:
    """Copy a file that somebody else may have written.

    Raises:
        StorageProblem: it is absent, no regular file, reached by a link, too long, or cannot be written.
    """
    try:
        data = read_bytes(source, LONGEST_POLICY)
    except OSError as error:
        raise StorageProblem(f"Cannot read {source}: {error.strerror or error}.") from error
    files.make_directory(target.parent)
    with files.replacing(target) as temporary:
        temporary.write_bytes(data)
