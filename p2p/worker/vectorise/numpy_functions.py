"""numpy's functions for batches."""

import math
import warnings
from collections.abc import Callable, Iterator, KeysView, Sequence, ValuesView
from contextlib import nullcontext
from functools import partial, reduce
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.batch import FUNCTIONS, Batch, raw, stacked
from p2p.worker.vectorise.lanes import Untraceable

# ---------------------------------------------------------------------------------------------------------- reductions
# numpy functions that turn an array into fewer numbers, for batches.


LOUD = (np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanstd)
"""Reductions that warn about values that are all NaN."""
REDUCTIONS = (
    *(np.sum, np.mean, np.max, np.min, np.prod, np.any, np.all, np.std, np.var, np.median, np.ptp, np.count_nonzero),
    *LOUD,
)
"""What reduces over the axes it is told, or over all."""
FAST: dict[Any, Any] = {np.sum: np.add, np.max: np.maximum, np.min: np.minimum}
"""Reductions that are one numpy operator."""


def axes(value: Batch, axis: Any) -> tuple[int, ...]:
    """Selected axes of one row's value; None means all.

    Raises:
        ValueError: there is no such axis.
    """
    if axis is None:
        return tuple(range(value.ndim))
    wanted = axis if isinstance(axis, tuple) else (axis,)
    if any(not -value.ndim <= one < value.ndim for one in wanted):
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {value.ndim}")
    return tuple(one % value.ndim for one in wanted)


def _reduction(function: Any) -> Callable[..., Any]:
    ufunc = FAST.get(function)

    def reduce(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **keywords: Any) -> Batch:
        value = _batch(a)
        options = _known(keywords, ("keepdims", "ddof"))
        if out is not None:
            raise Untraceable(f"writes the result of np.{function.__name__} into an array")
        if ufunc is not None and not options and dtype is None and value.ndim == 1 and value.data.dtype.kind == "f":
            axes(value, axis)
            return Batch(ufunc.reduce(value.data, axis=0))
        if dtype is not None:
            options["dtype"] = dtype
        with warnings.catch_warnings() if function in LOUD else nullcontext():
            if function in LOUD:
                warnings.simplefilter("ignore")  # rows that are not active may be all NaN
            return Batch(np.asarray(function(value.data, axis=axes(value, axis), **options)))

    return reduce


def _known(keywords: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Keywords with an effect.

    Raises:
        Untraceable: one of them is not in `names`.
    """
    given = {name: value for name, value in keywords.items() if value is not np._NoValue and value is not None}
    for name, value in given.items():
        if name not in names:
            raise Untraceable(f"uses the argument {name}={value!r} of a numpy function")
    return given


def _batch(value: Any) -> Batch:
    found = stacked(value)
    return found if type(found) is Batch else Batch(np.asarray(found)[..., None])


def _argument(function: Any) -> Callable[..., Any]:
    """`argmax` and similar, over one axis or the flattened value."""

    def reduce(a: Any, axis: Any = None, **keywords: Any) -> Batch:
        _known(keywords, ())
        value = _batch(a)
        if axis is None:
            return Batch(function(value.data.reshape(-1, value.data.shape[-1]), axis=0))
        return Batch(function(value.data, axis=axes(value, axis)[0]))

    return reduce


def norm(
    x: Any,
    ord: Any = None,  # noqa: A002  # numpy's name
    axis: Any = None,
    keepdims: bool = False,
) -> Batch:
    """`np.linalg.norm`, of vectors, and of matrices by Frobenius."""
    value = _batch(x)
    found = axes(value, axis)
    data = np.abs(value.data)
    if ord is None or (ord == 2 and len(found) == 1) or (ord == "fro" and len(found) == 2):
        return Batch(np.sqrt(np.sum(np.square(data), axis=found, keepdims=keepdims)))
    simple: dict[Any, Any] = {1: np.sum, np.inf: np.max, -np.inf: np.min}
    if len(found) == 1 and ord in simple:
        return Batch(simple[ord](data, axis=found, keepdims=keepdims))
    raise Untraceable(f"uses np.linalg.norm with ord={ord!r}")


def _quantile(function: Any) -> Callable[..., Any]:
    def reduce(a: Any, q: Any, axis: Any = None, **keywords: Any) -> Batch:
        _known(keywords, ())
        value = _batch(a)
        if not isinstance(q, int | float):
            raise Untraceable(f"uses np.{function.__name__} for several shares at once")
        return Batch(function(value.data, q, axis=axes(value, axis)))

    return reduce


def average(a: Any, axis: Any = None, weights: Any = None, **keywords: Any) -> Batch:
    """`np.average`; weights are of the value's shape, or of one axis."""
    _known(keywords, ())
    value = _batch(a)
    if weights is None:
        return Batch(np.mean(value.data, axis=axes(value, axis)))
    weight = raw(stacked(weights) if isinstance(weights, list | tuple) else weights)
    if weight.ndim != value.data.ndim:
        raise Untraceable("uses np.average with weights of another shape")
    found = axes(value, axis)
    shares = np.broadcast_to(weight, (*value.shape, weight.shape[-1]))
    return Batch(np.sum(value.data * shares, axis=found) / np.sum(shares, axis=found))


FUNCTIONS.update({function: _reduction(function) for function in REDUCTIONS})
FUNCTIONS.update({function: _argument(function) for function in (np.argmax, np.argmin)})
FUNCTIONS.update({function: _quantile(function) for function in (np.percentile, np.quantile)})
FUNCTIONS[np.linalg.norm] = norm
FUNCTIONS[np.average] = average


# ------------------------------------------------------------------------------------------------------------ products
# numpy's elementwise functions and its products of arrays, for batches.


CONTRACTIONS = {
    (1, 1): "i...,i...->...",
    (2, 1): "ij...,j...->i...",
    (1, 2): "i...,ij...->j...",
    (2, 2): "ij...,jk...->ik...",
}
"""Dimensions of the two values -> their product; the ellipsis is the axis of the rows."""


def call(ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
    """A numpy operator with a batch among its arguments."""
    if ufunc is np.matmul and method == "__call__":
        return dot(*inputs)
    if method == "reduce":
        return _reduced(ufunc, *inputs, **keywords)
    if method != "__call__" or ufunc.signature:
        raise Untraceable(f"uses np.{ufunc.__name__}.{method}")
    out = keywords.pop("out", None)
    where = keywords.pop("where", True)
    result = ufunc(*(raw(stacked(value)) for value in inputs), **keywords)
    if isinstance(result, tuple):
        return tuple(Batch(np.atleast_1d(one)) for one in result)
    found = Batch(np.atleast_1d(result))
    return found if out is None and where is True else written(found, out, where)


def _reduced(ufunc: np.ufunc, value: Batch, axis: Any = 0, **keywords: Any) -> Batch:
    if any(given is not None and given is not False for given in keywords.values()):
        raise Untraceable(f"uses np.{ufunc.__name__}.reduce with other arguments than an axis")
    return Batch(np.asarray(ufunc.reduce(value.data, axis=axes(value, axis))))


def written(result: Batch, out: Any, where: Any) -> Batch:
    """What `out` becomes when the result is written into it where the condition holds."""
    target = out[0] if isinstance(out, tuple) else out
    if type(target) is not Batch:
        raise Untraceable("writes measured values into a plain array with out=, or leaves some undefined with where=")
    return target.replaced(np.where(raw(where), result.data, target.data))


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """`np.dot` of numbers, vectors and matrices."""
    if out is not None:
        raise Untraceable("writes a product into an array")
    left = stacked(a)
    right = stacked(b)
    dimensions = (np.ndim(left), np.ndim(right))
    if 0 in dimensions:
        return np.multiply(left, right)
    if dimensions not in CONTRACTIONS:
        raise Untraceable("multiplies arrays of more than two dimensions")
    arrays = [value.data if type(value) is Batch else np.asarray(value) for value in (left, right)]
    if np.shape(left)[-1] != np.shape(right)[0]:
        raise ValueError(f"shapes {np.shape(left)} and {np.shape(right)} not aligned")
    return Batch(np.einsum(CONTRACTIONS[dimensions], *arrays))


def inner(a: Any, b: Any) -> Any:
    """`np.inner` and `np.vdot` of vectors."""
    if np.ndim(stacked(a)) > 1 or np.ndim(stacked(b)) > 1:
        raise Untraceable("takes the inner product of matrices")
    return dot(a, b)


def outer(a: Any, b: Any, out: Any = None) -> Batch:
    """`np.outer` of vectors."""
    if out is not None or np.ndim(stacked(a)) != 1 or np.ndim(stacked(b)) != 1:
        raise Untraceable("uses np.outer with other things than two vectors")
    left = raw(stacked(a))
    right = raw(stacked(b))
    return Batch(left[:, None] * right[None])


def cross(a: Any, b: Any, **keywords: Any) -> Batch:
    """`np.cross` of vectors of three."""
    left = stacked(a)
    right = stacked(b)
    if keywords or np.shape(left) != (3,) or np.shape(right) != (3,):
        raise Untraceable("uses np.cross with other things than two vectors of three")
    return Batch(np.cross(raw(left), raw(right), axis=0))


FUNCTIONS[np.ufunc] = call
FUNCTIONS[np.dot] = dot
FUNCTIONS[np.inner] = FUNCTIONS[np.vdot] = inner
FUNCTIONS[np.outer] = outer
FUNCTIONS[np.cross] = cross


# ------------------------------------------------------------------------------------------------------------- shaping
# numpy functions that choose, arrange and make arrays, for batches.


Array = NDArray[Any]


def where(condition: Any, x: Any = None, y: Any = None) -> Batch:
    """`np.where` with three arguments."""
    if x is None or y is None:
        raise Untraceable("picks elements of an array by a measured value")
    return Batch(np.where(*(np.atleast_1d(raw(stacked(value))) for value in (condition, x, y))))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **keywords: Any) -> Batch:
    """`np.clip`, limits as `a_min` and `a_max`, or as `min` and `max`."""
    low = keywords.pop("min", a_min)
    high = keywords.pop("max", a_max)
    low, high = (None if limit is np._NoValue else limit for limit in (low, high))
    if keywords:
        raise Untraceable("uses np.clip with unusual arguments")
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
        raise Untraceable("uses np.concatenate with other arguments than an axis")
    pieces, dimensions = _pieces(values)
    if any(piece.ndim == 1 for piece in pieces):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return Batch(np.concatenate(pieces, axis=axis % dimensions))


def stack(values: Any, axis: int = 0, **keywords: Any) -> Batch:
    """`np.stack`."""
    if keywords:
        raise Untraceable("uses np.stack with other arguments than an axis")
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
    """Function along one axis; `default` is the axis if none is given, None flattens the value."""

    def apply(a: Any, *arguments: Any, axis: Any = default, **keywords: Any) -> Batch:
        value = stacked(a)
        if any(given is not None and given is not np._NoValue for given in keywords.values()):
            raise Untraceable(f"uses np.{function.__name__} with unusual arguments")
        if axis is None and value.ndim > 1 and function in (np.roll, np.flip):
            raise Untraceable(f"uses np.{function.__name__} of a matrix without an axis")
        if axis is None:
            value = reshape(value, (value.size,))
            axis = 0
        return Batch(function(value.data, *arguments, axis=axes(value, axis)[0]))

    return apply


def diff(a: Any, n: int = 1, axis: int = -1) -> Batch:
    """`np.diff`."""
    value = stacked(a)
    return Batch(np.diff(value.data, n, axis=axes(value, axis)[0]))


def _like(function: Any) -> Callable[..., Any]:
    """Arrays of another's size, equal for all rows."""

    def make(a: Batch, *arguments: Any, dtype: Any = None, **_: Any) -> Batch:
        shape = (*a.shape, a.data.shape[-1])
        filled = [raw(one) for one in arguments[:1]]
        return Batch(np.array(np.broadcast_to(function(shape, *filled, dtype=dtype or a.dtype), shape)))

    return make


def _elementwise(function: Any) -> Callable[..., Any]:
    """Elementwise function."""

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
        raise Untraceable("uses np.take of a matrix, or with unusual arguments")
    return Batch(np.atleast_1d(value[indices].data))


def tile(a: Any, reps: Any) -> Batch:
    """`np.tile` of a vector."""
    value = stacked(a)
    if value.ndim != 1 or not isinstance(reps, int):
        raise Untraceable("uses np.tile of a matrix, or in several directions")
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


# -------------------------------------------------------------------------------------------------------- numpy module
# The module `numpy` for batches: lists with measured values in them count as arrays, randomness is refused.


SEQUENCES = {"concatenate", "stack", "hstack", "vstack", "select", "append"}
"""Functions of several arrays, which need not be equally long."""
ARRAYS = {"array", "asarray", "asanyarray", "ascontiguousarray"}
"""Functions that make one array of a list."""
FUNCTIONS_OF_NUMPY = (np.ufunc, FunctionType, BuiltinFunctionType, type(np.sum))
"""Types of what is called with arrays."""


class NumPy:
    """Stand-in for `numpy`, or one of its submodules, in a reward."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        """The member of that name; kept, so that it is made once."""
        if name == "random":
            raise Untraceable("draws random numbers")
        original = getattr(self._module, name)
        found = original
        if isinstance(original, ModuleType):
            found = NumPy(original)
        elif isinstance(original, FUNCTIONS_OF_NUMPY):
            found = _BatchedFunction(name, original)
        setattr(self, name, found)
        return found


class _BatchedFunction:
    """A numpy function that also takes lists with batches in them."""

    def __init__(self, name: str, original: Callable[..., Any]) -> None:
        self._original = original
        if name in ARRAYS:
            self._call: Callable[..., Any] = partial(_array, original)
        elif name in SEQUENCES:
            self._call = self._of_sequence
        else:
            self._call = self._of_arrays

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._call(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        """Methods of numpy's operators, as `np.maximum.reduce`."""
        method = getattr(self._original, name)
        return _BatchedFunction(name, method) if callable(method) else method

    def _of_arrays(self, *arguments: Any, **keywords: Any) -> Any:
        for value in arguments:
            if type(value) is list or type(value) is tuple:
                arguments = tuple(map(_joined, arguments))
                break
        return self._original(*arguments, **keywords)

    def _of_sequence(self, *arguments: Any, **keywords: Any) -> Any:
        if any(map(_holds_batch, arguments)):
            return FUNCTIONS[self._original](*arguments, **keywords)
        return self._original(*arguments, **keywords)


def _array(original: Callable[..., Any], value: Any, dtype: Any = None, **keywords: Any) -> Any:
    joined = _joined(list(value) if isinstance(value, Iterator | KeysView | ValuesView) else value)
    if type(joined) is not Batch:
        return original(joined, dtype, **keywords)
    if original is not np.array and joined is value and dtype in (None, float, joined.dtype):
        return joined
    return joined.copy() if dtype is None else joined.astype(dtype)


def _joined(value: Any) -> Any:
    """List with batches as one batch; anything else unchanged."""
    return stacked(value) if isinstance(value, list | tuple) and _holds_batch(value) else value


def _holds_batch(value: Any) -> bool:
    if type(value) is Batch:
        return True
    return isinstance(value, list | tuple) and any(map(_holds_batch, value))


NUMPY = NumPy(np)
