"""Named arrays in .npz files, exact and never pickled."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.store.files import replacing

Floats = NDArray[np.float64]


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays atomically, with their exact types."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays of `path`, or None when it is absent or broken."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None


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
    ends = np.cumsum(arrays["lengths"])
    rows = np.split(arrays["values"], ends[:-1])
    return [{str(name): part[:, column] for column, name in enumerate(arrays["names"])} for part in rows]


def features_of(trajectory: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """Features of a trajectory file by name, each of shape (T,)."""
    return {str(name): trajectory["features"][:, column] for column, name in enumerate(trajectory["_feature_names"])}
