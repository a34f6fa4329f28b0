"""A value that differs from row to row, and behaves as one row's value does."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.arithmetic import fail_where
from p2p.worker.vectorise.lanes import LANES
from p2p.worker.vectorise.operators import Operators, raw
from p2p.worker.vectorise.refusal import Refusal, Split

Array = NDArray[Any]

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""numpy function -> what it does with batches among its arguments."""
METHODS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sum", "mean", "max", "min", "prod", "any", "all", "std", "var")},
    **{name: getattr(np, name) for name in ("argmax", "argmin", "clip", "dot", "ravel", "squeeze", "round", "cumsum")},
    "flatten": np.ravel,
    "transpose": np.transpose,
}
"""Method of an array -> the numpy function it stands for."""


class Batch(Operators):
    """One value per row.

    Args:
        data: Shape (*shape, B), where `shape` is that of one row's value, () for a number. B may be 1 for a value all
            rows share. Never written to: a write gives the batch new data.
        python: Whether each row's value is one of Python's own numbers, rather than numpy's; None where rows differ.

    Attributes:
        exposed: Whether another batch shows part of the same memory, as a slice of an array does.
    """

    __slots__ = ()
    __array_priority__ = 1000.0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one row's value."""
        return self.data.shape[:-1]

    @property
    def ndim(self) -> int:
        """Dimensions of one row's value."""
        return self.data.ndim - 1

    @property
    def size(self) -> int:
        """Numbers in one row's value."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return self.data.dtype

    @property
    def T(self) -> "Batch":  # noqa: N802  # numpy's name
        """Each row's value transposed."""
        return self._seen(np.moveaxis(self.data, range(self.ndim), range(self.ndim - 1, -1, -1)))

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("object of type 'float' has no len()")
        return int(self.data.shape[0])

    def __iter__(self) -> Iterator["Batch"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> "Batch":
        found = self.data[position(self, index)]
        return Batch(found) if found.ndim == 1 else self._seen(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.exposed:
            raise Refusal("writes into an array that other names show parts of")
        data = np.array(np.broadcast_to(self.data, (*self.shape, LANES.count)))
        where = position(self, index)
        new = raw(value)
        data[where] = new if LANES.active is None else np.where(LANES.active, new, data[where])
        self.data = data

    def __contains__(self, value: Any) -> bool:
        return bool(FUNCTIONS[np.any](self == value))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        return LANES.decide(truth(self))

    def __index__(self) -> int:
        if self.ndim or self.data.dtype.kind not in "iu":
            raise TypeError("only integers can be used as an index")
        first = self.data[0 if LANES.active is None or len(self.data) == 1 else int(np.argmax(LANES.active))]
        same = self.data == first
        if LANES.every(same):
            return int(first)
        raise Split(LANES.within(same))

    def __float__(self) -> float:
        raise Refusal("needs a plain number where a measured value is")

    __int__ = __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise Refusal("uses a numpy function that has no form for many rows")

    def __str__(self) -> str:
        raise Refusal("turns a measured value into text")

    def __format__(self, _spec: str) -> str:
        return str(self)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return partial(FUNCTIONS[METHODS[name]], self)
        if name.startswith("__"):
            raise AttributeError(name)
        raise Refusal(f"uses .{name} of a measured value")

    def __round__(self, digits: int | None = None) -> "Batch":
        if digits is None:
            return integer(Batch(np.rint(self.data), self.python))
        if self.python is None:
            raise Refusal("rounds numbers that are Python's in some rows and numpy's in others")
        if not self.python:
            return Batch(np.round(self.data, digits))
        # exactly rounded as Python does it, which numpy's scaling by a power of ten is not
        return Batch(np.array([round(value, digits) for value in self.data.tolist()]), True)

    def __matmul__(self, other: Any) -> "Batch":
        result: Batch = FUNCTIONS[np.dot](self, other)
        return result

    def __rmatmul__(self, other: Any) -> "Batch":
        result: Batch = FUNCTIONS[np.dot](other, self)
        return result

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        return FUNCTIONS[np.ufunc](ufunc, method, *inputs, **keywords)

    def __array_function__(self, function: Any, _types: Any, args: Any, keywords: Any) -> Any:
        if function not in FUNCTIONS:
            raise Refusal(f"uses np.{function.__name__}, which has no form for many rows")
        return FUNCTIONS[function](*args, **keywords)

    def copy(self) -> "Batch":
        """A batch that shares nothing with this one."""
        return Batch(self.data, self.python)

    def item(self) -> "Batch":
        """Each row's only number, as Python's."""
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return Batch(self.data.reshape(-1), True)

    def tolist(self) -> Any:
        """Each row's numbers as Python's, in lists."""
        return [row.tolist() for row in self] if self.ndim else Batch(self.data, True)

    def astype(self, dtype: Any, **_: Any) -> "Batch":
        """The numbers as another type."""
        return Batch(self.data.astype(dtype))

    def reshape(self, *shape: Any, **_: Any) -> "Batch":
        """Each row's value in another shape."""
        result: Batch = FUNCTIONS[np.reshape](self, shape[0] if len(shape) == 1 else shape)
        return result

    def _seen(self, part: Array) -> "Batch":
        """A batch of memory this one shows too."""
        seen = Batch(part)
        seen.exposed = self.exposed = True
        return seen


def stacked(value: Any) -> Any:
    """Lists and tuples, nested or not, as one batch where there are batches in them, and as an array otherwise."""
    if not isinstance(value, list | tuple):
        return value
    items = [stacked(item) for item in value]
    if not any(type(item) is Batch for item in items):
        return np.asarray(value)
    arrays = [raw(item) if isinstance(item, Batch | np.ndarray) else np.asarray([item]) for item in items]
    if len({array.shape[:-1] for array in arrays}) > 1:
        raise ValueError("setting an array element with a sequence: the pieces have different shapes")
    rows = max(array.shape[-1] for array in arrays)
    return Batch(np.stack([np.broadcast_to(array, (*array.shape[:-1], rows)) for array in arrays]))


def truth(value: Batch) -> NDArray[np.bool_]:
    """Where a value counts as true, shape (B,)."""
    data = value.data if value.ndim == 0 else value.data.reshape(-1)
    return data if data.dtype.kind == "b" else data.astype(np.bool_)


def integer(value: Batch) -> Batch:
    """The value cut off to a whole number, as `int` does."""
    data = value.data.reshape(-1)
    if data.dtype.kind == "f":
        fail_where(np.isnan(data), ValueError("cannot convert float NaN to integer"))
        fail_where(np.isinf(data), OverflowError("cannot convert float infinity to integer"))
        if LANES.some(np.abs(data) > 2.0**53):
            raise Refusal("turns a very large number into an integer")
    return Batch(data.astype(np.int64), True)


def position(value: Batch, index: Any) -> Any:
    """The index with which the data of `value` is read, which must not reach the axis of the rows."""
    parts = index if isinstance(index, tuple) else (index,)
    parts = tuple(_plain_index(part) for part in parts)
    used = sum(_axes_of(part) for part in parts)
    if used > value.ndim:
        raise IndexError(f"too many indices: array is {value.ndim}-dimensional, but {used} were indexed")
    return (*parts, slice(None)) if any(part is Ellipsis for part in parts) else parts


def _plain_index(part: Any) -> Any:
    if isinstance(part, list):
        part = stacked(part)
    if type(part) is not Batch:
        return part
    if part.ndim or part.data.dtype.kind == "b":
        raise Refusal("picks elements of an array by a measured value")
    return part.__index__()


def _axes_of(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
