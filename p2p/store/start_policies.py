"""The policy that a training goes on from, as files of the run, the iteration or the session that it was copied to."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.start_policy import StartPolicy
from p2p.store import files, layout
from p2p.store.records import in_directory, json_file
from p2p.store.untrusted_files import open_to_read


class StartRecord:
    """Files of a start policy in a directory.

    Args:
        path: The directory, of a run, an iteration or a session.
    """

    read, _save = json_file(layout.START_POLICY, StartPolicy)
    """None where nothing is gone on from."""
    policy_path = in_directory(layout.START_POLICY_ARRAYS)
    optimizer_path = in_directory(layout.START_OPTIMIZER)

    def __init__(self, path: Path) -> None:
        self.path = path

    def copy_in(self, start: StartPolicy, policy: Path, optimizer: Path | None) -> None:
        """Copy the files of a policy, and then write `start`, which marks them as complete.

        Raises:
            InvalidInput: a file is not the one that `start` names.
            StorageProblem: they cannot be written.
        """
        files.remove(self.path / layout.START_POLICY)
        _copy(policy, self.policy_path, start.sha256)
        if start.optimizer_sha256 and optimizer is not None:
            _copy(optimizer, self.optimizer_path, start.optimizer_sha256)
        self._save(start)

    def copy_from(self, other: "StartRecord") -> None:
        """Copy a whole start policy; nothing where the other directory has none.

        Raises:
            InvalidInput: its files are damaged.
        """
        start = other.read()
        if start is not None:
            self.copy_in(start, other.policy_path, other.optimizer_path)

    def check(self, start: StartPolicy) -> None:
        """Refuse files that have changed since they were copied.

        Raises:
            InvalidInput: one has.
        """
        told = [(self.policy_path, start.sha256)]
        told += [(self.optimizer_path, start.optimizer_sha256)] if start.optimizer_sha256 else []
        for path, digest in told:
            if files.sha256(path) != digest:
                raise InvalidInput(
                    f"{path} is missing, or not the file that was copied: expected SHA-256 {digest[:12]}… of "
                    f"{start.words}. Begin this training again."
                )

    def discard(self) -> None:
        """Delete it."""
        for path in (self.path / layout.START_POLICY, self.policy_path, self.optimizer_path):
            files.remove(path)


def _copy(source: Path, target: Path, digest: str) -> None:
    try:
        with open_to_read(source) as file:
            data = file.read()
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror or error}") from error
    with files.replacing(target) as temporary:
        temporary.write_bytes(data)
    if files.sha256(target) != digest:
        raise InvalidInput(f"{source} has changed while it was copied: expected SHA-256 {digest[:12]}….")
