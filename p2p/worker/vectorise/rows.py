"""Arguments of a reward for many rows, and for one of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.batch import Batch
from p2p.worker.vectorise.lanes import Untraceable

Floats = NDArray[np.float64]
Array = NDArray[Any]
COPIED = 64
"""Longest rows that are laid out anew, so that each of their numbers lies side by side with those of other rows."""


@dataclass(frozen=True, slots=True)
class TransitionRows:
    """Transitions, with a leading axis B everywhere."""

    obs: Floats
    action: Floats
    next_obs: Floats
    info: Mapping[str, Array]
    """Name -> column: shape (B,) where one row's value is a number, (B, …) where it is an array."""

    def __len__(self) -> int:
        return len(self.obs)

    def taken(self, index: NDArray[np.intp]) -> "TransitionRows":
        """Some of the rows."""
        return TransitionRows(self.obs[index], self.action[index], self.next_obs[index], _Taken(self.info, index))

    def row(self, i: int) -> tuple[Floats, Floats, Floats, dict[str, Any]]:
        """Arguments of the reward for row `i`, as copies."""
        return self.obs[i].copy(), self.action[i].copy(), self.next_obs[i].copy(), row_info(self.info, i)

    def batches(self) -> tuple[Batch, Batch, Batch, "BatchInfo"]:
        """Arguments of the reward for all rows."""
        return array_batch(self.obs), array_batch(self.action), array_batch(self.next_obs), BatchInfo(self.info)


def row_info(columns: Mapping[str, Array], i: int) -> dict[str, Any]:
    """`info` of row `i`: Python's numbers, and copies of arrays."""
    return {name: column[i].item() if column.ndim == 1 else column[i].copy() for name, column in columns.items()}


def array_batch(rows: Array) -> Batch:
    """Arrays of shape (B, …) as one value per row."""
    data = np.moveaxis(np.asarray(rows), 0, -1)
    return Batch(np.ascontiguousarray(data) if len(data) <= COPIED else data)


class BatchInfo(dict[str, Any]):
    """A step's `info` for many rows; a column becomes a batch when it is read."""

    def __init__(self, columns: Mapping[str, Array]) -> None:
        super().__init__()
        self._columns = columns

    def __missing__(self, key: str) -> Batch:
        column = np.asarray(self._columns[key])
        if column.dtype.kind not in "biuf":
            raise Untraceable(f"reads info[{key!r}], which holds no numbers")
        if column.ndim > 1:
            found = array_batch(column)
        else:
            kind = {"f": np.float64, "b": np.bool_}.get(column.dtype.kind, np.int64)
            found = Batch(column.astype(kind, copy=False), python=True)
        super().__setitem__(key, found)
        return found

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._columns

    def __iter__(self) -> Iterator[str]:
        yield from self._columns
        yield from (key for key in super().__iter__() if key not in self._columns)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def get(self, key: str, default: Any = None) -> Any:
        """Value of `key`, if present."""
        return self[key] if key in self else default  # noqa: SIM401  # this is that method

    def keys(self) -> Any:
        """All names."""
        return list(self)

    def values(self) -> Any:
        """All values."""
        return [self[key] for key in self]

    def items(self) -> Any:
        """All names with their values."""
        return [(key, self[key]) for key in self]

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Value of `key`; `default` if absent."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, *_: Any) -> Any:
        """Refused, like all removals.

        Raises:
            Untraceable: always.
        """
        raise Untraceable("takes something out of info")

    popitem = clear = pop

    def copy(self) -> dict[str, Any]:
        """Plain dict of all entries."""
        return dict(self.items())


class _Taken(Mapping[str, Array]):
    """Some rows of columns."""

    def __init__(self, columns: Mapping[str, Array], index: NDArray[np.intp]) -> None:
        self._columns = columns
        self._index = index

    def __getitem__(self, key: str) -> Array:
        found: Array = np.asarray(self._columns[key])[self._index]
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
