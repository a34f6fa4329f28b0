"""Memory shared between the worker and a host of generated code, and its layout."""

import fcntl
import json
import mmap
import os
import resource
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

INBOX_BYTES = 1 << 32
"""Most that can be sent at once; only what is used takes memory."""
OUTBOX_BYTES = 1 << 28
PROGRESS = 2
"""Numbers at the start of the outbox: the row being computed, and the line at which the code was interrupted."""
TEXT_AT = 8 * PROGRESS
"""Where the text of an answer begins."""
MAX_TEXT_BYTES = 1 << 20
NUMBERS = "biuf"
"""Kinds of numpy arrays that are sent."""
_ALIGNED = 64
_F_SEAL_FUTURE_WRITE = 0x10

Arrays = Mapping[str, NDArray[Any]]


class Box:
    """Memory shared by two processes through an anonymous file.

    Args:
        size: At most so many bytes, less where this process may not make files so large.
        writable_by_others: Whether the other process may write into it too.
    """

    def __init__(self, size: int, writable_by_others: bool) -> None:
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        self.size = size if limit == resource.RLIM_INFINITY else min(size, limit)
        if sys.platform == "linux":
            self.fd = os.memfd_create("p2p", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        else:
            with tempfile.TemporaryFile() as file:
                self.fd = os.dup(file.fileno())
        os.ftruncate(self.fd, self.size)
        self.memory = mmap.mmap(self.fd, self.size)
        if sys.platform == "linux":
            seals = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | (0 if writable_by_others else _F_SEAL_FUTURE_WRITE)
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)

    def close_file(self) -> None:
        """Close the descriptor; the memory stays mapped."""
        os.close(self.fd)


def open_box(fd: int, writable: bool) -> mmap.mmap:
    """Map the memory behind a received descriptor, and close the descriptor."""
    access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
    memory = mmap.mmap(fd, os.fstat(fd).st_size, access=access)
    os.close(fd)
    return memory


def write_question(memory: mmap.mmap, operation: str, fields: Mapping[str, Any], arrays: Arrays) -> int:
    """Write a question into the inbox; return the length of its text [bytes].

    Raises:
        ValueError: it does not fit.
    """
    layout = {}
    place = MAX_TEXT_BYTES
    for name, array in arrays.items():
        layout[name] = (array.dtype.str, array.shape, place)
        place += -(-array.nbytes // _ALIGNED) * _ALIGNED
    text = json.dumps({"operation": operation, "fields": fields, "arrays": layout}).encode()
    if len(text) > MAX_TEXT_BYTES or place > len(memory):
        raise ValueError(f"{max(place, len(text)):,} bytes do not fit into {len(memory):,}")
    memory[: len(text)] = text
    for name, array in arrays.items():
        _view(memory, *layout[name])[...] = array
    return len(text)


def read_question(memory: mmap.mmap, text_bytes: int) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    """Operation, fields, and read-only arrays."""
    question = json.loads(memory[:text_bytes])
    arrays = {name: _view(memory, kind, tuple(shape), at) for name, (kind, shape, at) in question["arrays"].items()}
    return question["operation"], question["fields"], arrays


def write_answer(memory: mmap.mmap, text: bytes, table: NDArray[np.float64] | None) -> tuple[int, int]:
    """Write an answer into the outbox; return the shape of its table.

    Raises:
        ValueError: it does not fit.
    """
    at = _table_at(len(text))
    shape = (0, 0) if table is None else table.shape
    if len(text) > MAX_TEXT_BYTES or at + 8 * shape[0] * shape[1] > len(memory):
        raise ValueError("the answer is too large")
    memory[TEXT_AT : TEXT_AT + len(text)] = text
    if table is not None:
        _view(memory, "<f8", table.shape, at)[...] = table
    return shape[0], shape[1]


def read_text(memory: mmap.mmap, text_bytes: int) -> Any:
    """JSON value of an answer.

    Raises:
        ValueError: it is none, or too long, or holds a number that is not finite.
    """
    if text_bytes > MAX_TEXT_BYTES:
        raise ValueError("a text that is too long")
    try:
        return json.loads(memory[TEXT_AT : TEXT_AT + text_bytes].decode(), parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("a text that is nested too deeply") from error


def read_table(memory: mmap.mmap, text_bytes: int, rows: int, columns: int) -> NDArray[np.float64]:
    """Copy of an answer's table, out of the host's reach.

    Raises:
        ValueError: it does not fit into the outbox.
    """
    at = _table_at(text_bytes)
    if at + 8 * rows * columns > len(memory):
        raise ValueError("a table that is too large")
    return _view(memory, "<f8", (rows, columns), at).copy()


def progress(memory: mmap.mmap) -> NDArray[np.int64]:
    """Current numbers at the start of the outbox."""
    return _view(memory, "<i8", (PROGRESS,), 0)


def _table_at(text_bytes: int) -> int:
    return -(-(TEXT_AT + text_bytes) // _ALIGNED) * _ALIGNED


def _view(memory: mmap.mmap, kind: str, shape: tuple[int, ...], at: int) -> NDArray[Any]:
    return np.ndarray(shape, np.dtype(kind), memory, at)


def _no_constant(name: str) -> None:
    raise ValueError(f"the number {name}")
