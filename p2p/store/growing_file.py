"""A file of lines that another process appends to, read on from where it was last read to."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from p2p.store import files
from p2p.store.untrusted_files import open_to_read

HEAD = 256
"""Of the first line, what is compared [bytes]."""
TAIL = 256
"""Of the last line that was read, what is compared [bytes]."""


class GrowingFile:
    """How far a growing file was read.

    Args:
        path: The file; it may be absent.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        """Byte at which the next line begins."""
        self._size = 0
        self._tail = b""
        self._known: tuple[int, bytes] | None = None
        """Inode and first line. The inode alone may be that of a file that was deleted."""

    def replaced(self) -> bool:
        """Look at the file: whether what was read of it is not what it holds now, so that it is read from its start.

        It is so where another file has taken its place, and where it was cut, also if it has grown since past the place
        that was reached, as the metrics of a training that went on from an earlier point have.
        """
        known, tail, self._size = self._look()
        if known == self._known and tail == self._tail and self._size >= self.offset:
            return False
        self._known = known
        self.offset = 0
        self._tail = b""
        return True

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The complete lines that were new at the last look, many at a time, each block with where it begins."""
        for start, block in files.read_blocks(self.path, self.offset, self._size):
            self.offset = start + len(block)
            self._tail = block[-TAIL:]
            yield start, block

    def values(self) -> Iterator[tuple[int, Any]]:
        """The same as JSON values, each with where its line begins; broken lines are skipped."""
        for start, block in self.blocks():
            yield from files.values_in(block, start)

    def _look(self) -> tuple[tuple[int, bytes] | None, bytes, int]:
        """What tells this file from another, the bytes before the offset, and its length."""
        try:
            with open_to_read(self.path, longest=None) as file:
                status = os.fstat(file.fileno())
                head = file.read(HEAD)
                file.seek(self.offset - len(self._tail))
                tail = file.read(len(self._tail))
        except OSError:
            return None, b"", 0
        return (status.st_ino, head.partition(b"\n")[0]), tail, status.st_size
