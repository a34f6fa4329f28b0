"""Transitions made from real ones, so that more of a reward's branches are seen than a short recording shows."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.rows import Rows

Array = NDArray[Any]
Change = Callable[[Array, np.random.Generator], Array]
GROUP = 64
"""Rows of each kind."""


def perturbed(rows: Rows, finite: bool) -> Iterator[Rows]:
    """Groups of rows: shuffled, scaled, at zero, at the ends of their ranges, and, unless `finite`, not finite."""
    rng = np.random.default_rng(0)
    chosen = rows.taken(np.sort(rng.choice(len(rows), min(GROUP, len(rows)), replace=False)))
    for change in (_shuffled, _scaled, _zero, _extreme, _rounded):
        yield _changed(chosen, change, rng)
    for odd in () if finite else (np.nan, np.inf):
        yield _with_one_odd_number(chosen, odd, rng)


def _changed(rows: Rows, change: Change, rng: np.random.Generator) -> Rows:
    arrays = [change(array, rng) for array in (rows.obs, rows.action, rows.next_obs)]
    info = {name: _column(np.asarray(column), change, rng) for name, column in rows.info.items()}
    return Rows(arrays[0], arrays[1], arrays[2], info)


def _column(column: Array, change: Change, rng: np.random.Generator) -> Array:
    if column.dtype.kind == "b":
        return rng.random(column.shape) < 0.5
    if column.dtype.kind not in "iuf":
        return column
    return change(column, rng).astype(column.dtype)


def _shuffled(array: Array, rng: np.random.Generator) -> Array:
    return rng.permutation(array)


def _scaled(array: Array, rng: np.random.Generator) -> Array:
    factors: Array = rng.choice([-3.0, -1.0, 0.1, 3.0, 30.0], len(array))
    return np.asarray(array * factors.reshape(-1, *(1,) * (array.ndim - 1)))


def _zero(array: Array, rng: np.random.Generator) -> Array:
    return np.where(rng.random(array.shape) < 0.8, 0.0, array)


def _extreme(array: Array, rng: np.random.Generator) -> Array:
    low, high = array.min(axis=0), array.max(axis=0)
    beyond = (1.0 + high - low) * 10.0 ** rng.uniform(-2.0, 2.0, array.shape)
    return np.asarray(np.where(rng.random(array.shape) < 0.5, low - beyond, high + beyond))


def _rounded(array: Array, rng: np.random.Generator) -> Array:
    """Numbers that meet thresholds exactly."""
    return np.asarray(np.round(array * rng.choice([1.0, 2.0, 5.0])) / rng.choice([1.0, 2.0, 10.0]))


def _with_one_odd_number(rows: Rows, odd: float, rng: np.random.Generator) -> Rows:
    """The rows, each with one number replaced in its observation, and in one of the columns."""
    every = np.arange(len(rows))
    arrays = [array.astype(np.float64) for array in (rows.obs, rows.action, rows.next_obs)]
    for array in arrays:
        hit = every[rng.random(len(rows)) < 0.3]
        array[hit, rng.integers(0, array.shape[1], len(hit))] = odd
    info: Mapping[str, Array] = {name: np.array(column) for name, column in rows.info.items()}
    numbers = [name for name, column in info.items() if column.dtype.kind == "f" and column.ndim == 1]
    for i, name in enumerate(numbers):
        info[name][i :: max(len(numbers), 1)] = odd
    return Rows(arrays[0], arrays[1], arrays[2], info)
