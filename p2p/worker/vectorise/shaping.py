"""numpy functions that choose, arrange and make arrays, for batches."""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.batch import FUNCTIONS, Batch, stacked
from p2p.worker.vectorise.operators import raw
from p2p.worker.vectorise.products import written
from p2p.worker.vectorise.reductions import axes
from p2p.worker.vectorise.refusal import Refusal

Array = NDArray[Any]


def where(condition: Any, x: Any = None, y: Any = None) -> Batch:
    """`np.where` with three arguments."""
    if x is None or y is None:
        raise Refusal("picks elements of an array by a measured value")
    return Batch(np.where(*(np.atleast_1d(raw(stacked(value))) for value in (condition, x, y))))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **keywords: Any) -> Batch:
    """`np.clip`, limits as `a_min` and `a_max`, or as `min` and `max`."""
    low, high = keywords.pop("min", a_min), keywords.pop("max", a_max)
    low, high = (None if limit is np._NoValue else limit for limit in (low, high))
    if keywords:
        raise Refusal("uses np.clip with unusual arguments")
    value, low, high = (raw(stacked(one)) for one in (a, low, high))
    if low is not None:
        value = np.maximum(value, low)
    if high is not None:
        value = np.minimum(value, high)
    found = Batch(np.asarray(value))
    return found if out is None else written(found, out, True)


def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    """`np.select`."""
    pairs = list(zip(conditions, choices, strict=True))
    return reduce(lambda rest, pair: np.where(pair[0], pair[1], rest), reversed(pairs), stacked([default])[0])


def _pieces(values: Any) -> tuple[list[Array], int]:
    """The data of several values, all with the same rows, and how many dimensions one row's value has."""
    arrays = [raw(one) if isinstance(one, np.ndarray | Batch) else np.asarray([one]) for one in map(stacked, values)]
    arrays = [array if array.ndim else array[None] for array in arrays]
    rows = max(array.shape[-1] for array in arrays)
    return [np.broadcast_to(array, (*array.shape[:-1], rows)) for array in arrays], arrays[0].ndim - 1


def concatenate(values: Any, axis: int | None = 0, **keywords: Any) -> Batch:
    """`np.concatenate`."""
    if keywords or axis is None:
        raise Refusal("uses np.concatenate with other arguments than an axis")
    pieces, dimensions = _pieces(values)
    if any(piece.ndim == 1 for piece in pieces):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return Batch(np.concatenate(pieces, axis=axis % dimensions))


def stack(values: Any, axis: int = 0, **keywords: Any) -> Batch:
    """`np.stack`."""
    if keywords:
        raise Refusal("uses np.stack with other arguments than an axis")
    pieces, dimensions = _pieces(values)
    return Batch(np.stack(pieces, axis=axis % (dimensions + 1)))


def hstack(values: Any) -> Batch:
    """`np.hstack`."""
    pieces, _ = _pieces(values)
    pieces = [piece[None] if piece.ndim == 1 else piece for piece in pieces]
    return Batch(np.concatenate(pieces, axis=0 if pieces[0].ndim == 2 else 1))


def vstack(values: Any) -> Batch:
    """`np.vstack`."""
    pieces, _ = _pieces(values)
    pieces = [piece[None, None] if piece.ndim == 1 else piece for piece in pieces]
    return Batch(np.concatenate([piece[None] if piece.ndim == 2 else piece for piece in pieces], axis=0))


def append(arr: Any, values: Any, axis: int | None = None) -> Batch:
    """`np.append`."""
    if axis is not None:
        return concatenate((arr, values), axis)
    return concatenate([reshape(Batch(piece), (-1,)) for piece in _pieces([arr, values])[0]])


def reshape(a: Batch, shape: Any, **_: Any) -> Batch:
    """`np.reshape`."""
    wanted = shape if isinstance(shape, tuple | list) else (shape,)
    known = math.prod(one for one in wanted if one != -1)
    filled = tuple(a.size // known if one == -1 and known else one for one in wanted)
    if math.prod(filled) != a.size:
        raise ValueError(f"cannot reshape array of size {a.size} into shape {tuple(wanted)}")
    shown = Batch(a.data.reshape((*filled, a.data.shape[-1])))
    shown.exposed = a.exposed = True
    return shown


def transpose(a: Batch, axes: Sequence[int] | None = None) -> Batch:
    """`np.transpose`."""
    order = tuple(range(a.ndim))[::-1] if axes is None else tuple(axes)
    shown = Batch(np.transpose(a.data, (*(one % a.ndim for one in order), a.ndim)))
    shown.exposed = a.exposed = True
    return shown


def squeeze(a: Batch, axis: Any = None) -> Batch:
    """`np.squeeze`."""
    gone = [i for i in range(a.ndim) if a.shape[i] == 1] if axis is None else axes(a, axis)
    return reshape(a, tuple(size for i, size in enumerate(a.shape) if i not in gone))


def expand_dims(a: Batch, axis: int) -> Batch:
    """`np.expand_dims`."""
    at = axis % (a.ndim + 1)
    return reshape(a, (*a.shape[:at], 1, *a.shape[at:]))


def _along(function: Any, default: int | None) -> Callable[..., Any]:
    """A function that works along one axis; `default` is the axis where none is given, None flattens the value."""

    def apply(a: Any, *arguments: Any, axis: Any = default, **keywords: Any) -> Batch:
        value = stacked(a)
        if any(given is not None and given is not np._NoValue for given in keywords.values()):
            raise Refusal(f"uses np.{function.__name__} with unusual arguments")
        if axis is None and value.ndim > 1 and function in (np.roll, np.flip):
            raise Refusal(f"uses np.{function.__name__} of a matrix without an axis")
        if axis is None:
            value, axis = reshape(value, (value.size,)), 0
        return Batch(function(value.data, *arguments, axis=axes(value, axis)[0]))

    return apply


def diff(a: Any, n: int = 1, axis: int = -1) -> Batch:
    """`np.diff`."""
    value = stacked(a)
    return Batch(np.diff(value.data, n, axis=axes(value, axis)[0]))


def _like(function: Any) -> Callable[..., Any]:
    """Arrays as large as another, the same for all rows."""

    def make(a: Batch, *arguments: Any, dtype: Any = None, **_: Any) -> Batch:
        shape = (*a.shape, a.data.shape[-1])
        filled = [raw(one) for one in arguments[:1]]
        return Batch(np.array(np.broadcast_to(function(shape, *filled, dtype=dtype or a.dtype), shape)))

    return make


def _elementwise(function: Any) -> Callable[..., Any]:
    """A function that treats every number alike."""

    def apply(a: Any, *arguments: Any, **keywords: Any) -> Batch:
        return Batch(np.asarray(function(raw(stacked(a)), *map(raw, arguments), **keywords)))

    return apply


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Batch:
    """`np.isclose`."""
    return Batch(np.isclose(raw(stacked(a)), raw(stacked(b)), rtol, atol, equal_nan))


def allclose(*arguments: Any, **keywords: Any) -> Any:
    """`np.allclose`."""
    return np.all(isclose(*arguments, **keywords))


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Batch:
    """`np.interp` on points that all rows share."""
    return Batch(np.interp(raw(stacked(x)), xp, fp, left, right, period))


def take(a: Any, indices: Any, axis: int | None = None, **keywords: Any) -> Batch:
    """`np.take` from a vector."""
    value = stacked(a)
    if keywords or value.ndim != 1 or axis not in (None, 0, -1):
        raise Refusal("uses np.take of a matrix, or with unusual arguments")
    return Batch(np.atleast_1d(value[indices].data))


def tile(a: Any, reps: Any) -> Batch:
    """`np.tile` of a vector."""
    value = stacked(a)
    if value.ndim != 1 or not isinstance(reps, int):
        raise Refusal("uses np.tile of a matrix, or in several directions")
    return concatenate([value] * reps)


def trace(a: Any) -> Batch:
    """`np.trace` of a matrix."""
    return Batch(np.trace(stacked(a).data))


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`."""
    return reduce(lambda value, coefficient: value * x + coefficient, p, np.zeros_like(x))


def _copy(a: Batch, **_: Any) -> Batch:
    return a.copy()


FORMS: tuple[tuple[Any, Any], ...] = (
    *((np.where, where), (np.clip, clip), (np.select, select), (np.interp, interp), (np.diff, diff)),
    *((np.concatenate, concatenate), (np.stack, stack), (np.hstack, hstack), (np.vstack, vstack)),
    *((np.append, append), (np.reshape, reshape), (np.transpose, transpose), (np.squeeze, squeeze)),
    *((np.take, take), (np.tile, tile), (np.trace, trace), (np.polyval, polyval)),
    *((np.expand_dims, expand_dims), (np.isclose, isclose), (np.allclose, allclose), (np.copy, _copy)),
    (np.ravel, lambda a, **_: reshape(a, (a.size,))),
    (np.atleast_1d, lambda a: a if a.ndim else reshape(a, (1,))),
    *((function, _along(function, None)) for function in (np.cumsum, np.cumprod, np.roll, np.flip, np.repeat)),
    *((function, _along(function, -1)) for function in (np.sort, np.argsort)),
    *((np.zeros_like, _like(np.zeros)), (np.ones_like, _like(np.ones)), (np.full_like, _like(np.full))),
    (np.empty_like, _like(np.zeros)),
    *((function, _elementwise(function)) for function in (np.nan_to_num, np.round, np.around, np.real, np.sinc)),
    *((np.shape, lambda a: a.shape), (np.ndim, lambda a: a.ndim), (np.size, lambda a: a.size)),
    (np.isscalar, lambda a: a.ndim == 0),
)
FUNCTIONS.update(FORMS)
