"""Named arrays in .npz files, exact and never pickled."""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.store.files import replacing
from p2p.store.untrusted_files import open_to_read

Floats = NDArray[np.float64]
LONGEST = 1 << 30
"""Most bytes of arrays that are loaded from a file, also unpacked: a small file can hold arrays of any size."""
_ABSENT_OR_CUT = (OSError, EOFError)
_NOT_AN_ARCHIVE = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError)
"""RuntimeError: zipfile's for encryption, and as NotImplementedError for compression that it does not know."""
_NOT_AN_ARRAY = (SyntaxError, TokenError, ValueError, TypeError, LookupError, AttributeError, MemoryError)
"""numpy evaluates the header of each array as a Python literal, and then uses it as shape and type."""
_BROKEN = (*_ABSENT_OR_CUT, *_NOT_AN_ARCHIVE, *_NOT_AN_ARRAY)


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays atomically, with their exact types."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    """Load the arrays of `path`; None if absent, broken, or larger than `LONGEST` bytes."""
    try:
        with open_to_read(path, LONGEST) as file, np.load(file, allow_pickle=False) as archive:
            if sum(member.file_size for member in archive.zip.infolist()) > LONGEST:
                return None
            loaded = {name: archive[name] for name in archive.files}
    except _BROKEN:
        return None
    # numpy gives the bytes of a member that is no array
    return loaded if all(isinstance(value, np.ndarray) for value in loaded.values()) else None


def save_features(path: Path, rollouts: Sequence[Mapping[str, Floats]]) -> None:
    """Write the features of several rollouts, each a mapping from name to an array of shape (T,)."""
    names = list(rollouts[0])
    table = [np.stack([rollout[name] for name in names], axis=1) for rollout in rollouts]
    arrays = {
        "names": np.array(names),
        "lengths": np.array([len(rows) for rows in table]),
        "values": np.concatenate(table),
    }
    save_arrays(path, arrays)


def load_features(path: Path) -> list[dict[str, Floats]] | None:
    """The rollouts written by `save_features`, or None when the file is absent or broken."""
    arrays = load_arrays(path)
    if arrays is None or not {"names", "lengths", "values"} <= arrays.keys():
        return None
    names = arrays["names"]
    lengths = arrays["lengths"]
    values = arrays["values"]
    # the features of rollouts: names, lengths, and a row for each step
    kinds = names.dtype.kind == "U" and lengths.dtype.kind in "iu" and values.dtype.kind == "f"
    shapes = names.ndim == lengths.ndim == 1 and values.ndim == 2 and values.shape[1] == len(names)
    # summed as Python's integers, which do not overflow
    is_table = kinds and shapes and bool((lengths >= 0).all()) and sum(lengths.tolist()) == len(values)
    if not is_table:
        return None
    rows = np.split(values, np.cumsum(lengths)[:-1])
    return [{str(name): part[:, column] for column, name in enumerate(names)} for part in rows]


def features_digest(path: Path) -> str | None:
    """SHA-256 over the features of a file that `save_features` wrote: equal for rollouts that are equal to the bit.

    Of the values alone, since how they are packed depends on the versions of numpy and zlib. None where the file is
    absent or broken.
    """
    if (rollouts := load_features(path)) is None:
        return None
    digest = hashlib.sha256()
    for rollout in rollouts:
        for name in sorted(rollout):
            digest.update(f"{name} {len(rollout[name])} ".encode())
            digest.update(np.ascontiguousarray(rollout[name], dtype="<f8").tobytes())
    return digest.hexdigest()


def features_of(trajectory: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """Features of a trajectory file by name, each of shape (T,)."""
    return {str(name): trajectory["features"][:, column] for column, name in enumerate(trajectory["_feature_names"])}
