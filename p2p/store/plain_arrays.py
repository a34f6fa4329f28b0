"""Arrays of .npz files without numpy, for processes that start without it: `store.arrays` reads and writes the same."""

import ast
import math
import struct
import sys
import zipfile
import zlib
from array import array
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from p2p.store.untrusted_files import open_to_read

LONGEST = 256 << 20
"""Most bytes of the arrays that are read from a file, also unpacked: a small file can hold arrays of any size."""
CODES = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "|b1": "b"}
"""Types of numbers that are read, as `array` calls them."""
MAGIC = b"\x93NUMPY"
MAX_HEADER = 10_000
_NOT_AN_ARCHIVE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, RuntimeError)
"""RuntimeError: zipfile's for encryption, and as NotImplementedError for compression that it does not know."""
_NOT_AN_ARRAY = (SyntaxError, ValueError, TypeError, LookupError, MemoryError)


class PlainArray(NamedTuple):
    """An array in C order."""

    shape: tuple[int, ...]
    values: Sequence[Any]
    """Numbers, or texts."""

    def columns(self) -> list[Sequence[Any]]:
        """Of an array of shape (T, …): one sequence of T values for each of its other places, in C order."""
        width = math.prod(self.shape[1:])
        return [self.values[place::width] for place in range(width)]


def read_arrays(path: Path, names: Collection[str]) -> dict[str, PlainArray] | None:
    """Some arrays of a file; None if it is absent, broken, too large, or lacks one of them."""
    try:
        with open_to_read(path, LONGEST) as file, zipfile.ZipFile(file) as archive:
            members = {name: archive.getinfo(f"{name}.npy") for name in names}
            if sum(member.file_size for member in members.values()) > LONGEST:
                return None
            return {name: _array(archive.read(member)) for name, member in members.items()}
    except (*_NOT_AN_ARCHIVE, *_NOT_AN_ARRAY):
        return None


def _array(data: bytes) -> PlainArray:
    """The array of an .npy file, see https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

    Raises:
        SyntaxError, ValueError, TypeError, LookupError: it is none, or of a type or order that p2p does not write.
    """
    if data[:6] != MAGIC:
        raise ValueError("no array")
    width = 2 if data[6] == 1 else 4
    begin = 8 + width
    length = int.from_bytes(data[8:begin], "little")
    if length > MAX_HEADER:
        raise ValueError("its header is too long")
    header = ast.literal_eval(data[begin : begin + length].decode("latin-1"))
    kind, shape = header["descr"], header["shape"]
    sizes = all(isinstance(size, int) and size >= 0 for size in shape)
    if header["fortran_order"] or not sizes or not isinstance(kind, str):
        raise ValueError("another order, shape or type than p2p writes")
    body = data[begin + length :]
    values = _texts(body, kind) if kind.startswith("<U") else _numbers(body, kind)
    if len(values) != math.prod(shape):
        raise ValueError("another number of values than its shape says")
    return PlainArray(tuple(shape), values)


def _numbers(body: bytes, kind: str) -> Sequence[Any]:
    values = array(CODES[kind], body)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _texts(body: bytes, kind: str) -> Sequence[str]:
    size = 4 * int(kind[2:])
    if not size:
        return []
    return [body[begin : begin + size].decode("utf-32-le").rstrip("\0") for begin in range(0, len(body), size)]
