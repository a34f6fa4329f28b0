"""Records by name in one JSON file that several processes change."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from p2p.contracts.base import Contract
from p2p.contracts.errors import StorageProblem
from p2p.store import files

T = TypeVar("T", bound=Contract)


class NamedRecords(Generic[T]):
    """One JSON file such as `{"nodes": {"attic": {…}}}`.

    Args:
        path: The file; it need not exist.
        lock: File that is locked while the records change.
        whole: Contract of the file; its one field is a dict from names to records.
    """

    def __init__(self, path: Path, lock: Path, whole: type[Contract]) -> None:
        self._path = path
        self._lock = lock
        self._whole = whole
        (self._field,) = whole.model_fields

    def all(self) -> dict[str, T]:
        """All records by name.

        Raises:
            StorageProblem: the file is there and cannot be understood.
        """
        if not self._path.exists():
            return {}
        if (found := files.read_model(self._path, self._whole)) is None:
            raise StorageProblem(
                f"{self._path} is broken. Correct it, or move it away and add the {self._field} again."
            )
        return dict(getattr(found, self._field))

    @contextmanager
    def changing(self) -> Iterator[dict[str, T]]:
        """Hold the lock for a read-change-write: what the block leaves in the dict is saved."""
        with files.exclusive(self._lock):
            records = self.all()
            yield records
            files.write_model(self._path, self._whole.model_validate({self._field: records}))

    def remove(self, name: str) -> None:
        """Delete a record, if there is one."""
        with self.changing() as records:
            records.pop(name, None)
