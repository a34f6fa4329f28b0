"""`Batch`: one value per row, with the operators of a single value."""

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.lanes import LANES, Split, Untraceable

# ---------------------------------------------------------------------------------------------------------- arithmetic
# Operators on raw arrays of rows, with the rules of Python's own numbers where the values are Python's.
#
# numpy and Python disagree on division by zero, on sums of truth values and on powers that overflow; rewards mix both
# kinds of numbers, so each batch knows which kind it stands for.


LARGEST = 2**31
"""Whole numbers up to this one can be multiplied without exceeding 64 bits."""
Kind = bool | None
"""Whether numbers are Python's own, True, or numpy's, False; None where that differs from row to row."""
Operation = Callable[[Any, Any, Kind], Any]
"""Two raw operands, and their kind -> the raw result."""


def fail_where(condition: Any, error: Exception) -> None:
    """Raise `error` as the rows in `condition` would.

    Raises:
        Split: only some of the active rows would.
    """
    if LANES.decide(condition):
        raise error


def plain(operation: Callable[[Any, Any], Any]) -> Operation:
    """Operator on which Python and numpy agree, except that booleans are numbers in Python."""

    def apply(left: Any, right: Any, python: Kind) -> Any:
        if python is False:
            return operation(left, right)
        left, right = numbers(left, right, python)
        result = operation(left, right)  # numpy's integers have a limit, Python's have none
        if result.dtype.kind == "i" and LANES.some(np.abs(result) > LARGEST):
            raise Untraceable("counts further than numpy can")
        return result

    return apply


def compare(operation: Callable[[Any, Any], Any]) -> Operation:
    """Comparison, or another operator on which Python and numpy agree."""

    def apply(left: Any, right: Any, _python: Kind) -> Any:
        return operation(left, right)

    return apply


def dividing(operation: Callable[[Any, Any], Any]) -> Operation:
    """Division; in Python it fails on zero."""

    def apply(left: Any, right: Any, python: Kind) -> Any:
        if python is not False:
            left, right = numbers(left, right, python)
            zero = np.atleast_1d(np.equal(right, 0))
            if python is None and LANES.some(zero):
                raise Untraceable("divides by zero")
            if zero.any():
                fail_where(zero, ZeroDivisionError("division by zero"))
        return operation(left, right)

    return apply


def power(left: Any, right: Any, python: Kind) -> Any:
    """`left ** right`."""
    if python is False:
        return left**right
    left, right = numbers(left, right, python)
    if np.result_type(left, right).kind == "i":
        if LANES.some(np.abs(np.power(np.asarray(left, dtype=np.float64), right)) > LARGEST):
            raise Untraceable("counts further than numpy can")
        if np.any(np.less(right, 0)):
            left = np.asarray(left, dtype=np.float64)
    result = left**right
    finite = np.isfinite(result)
    if not finite.all():
        odd = ~finite & np.isfinite(left) & np.isfinite(right)
        if python is None and LANES.some(odd):
            raise Untraceable("takes a power that is not finite")
        # Where numpy's power of two finite numbers is not finite, Python raises.
        zero = odd & np.equal(left, 0)
        fail_where(zero, ZeroDivisionError("0.0 cannot be raised to a negative power"))
        negative = odd & np.less(left, 0) & np.not_equal(right, np.trunc(right))
        if LANES.some(negative):
            raise Untraceable("takes a fractional power of a negative number")
        fail_where(odd & ~zero & ~negative, OverflowError("numerical result out of range"))
    return result


def numbers(left: Any, right: Any, python: Kind) -> tuple[Any, Any]:
    """Two operands, booleans as Python's numbers.

    Raises:
        Untraceable: they are truth values that are Python's in some rows and numpy's in others.
    """
    if python is None and _is_truth(left) and _is_truth(right):
        raise Untraceable("counts truth values that are Python's in some rows and numpy's in others")
    return counted(left, True), counted(right, True)


def counted(value: Any, python: Kind) -> Any:
    """Booleans as Python's numbers.

    Raises:
        Untraceable: they are Python's in some rows and numpy's in others.
    """
    if python is False or not isinstance(value, np.ndarray) or value.dtype.kind != "b":
        return value
    if python is None:
        raise Untraceable("counts truth values that are Python's in some rows and numpy's in others")
    return value.astype(np.int64)


def _is_truth(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "b"


def shared_kind(*kinds: Kind) -> Kind:
    """Common kind of several operands' numbers; None if they differ."""
    return kinds[0] if all(kind is kinds[0] for kind in kinds) else None


OPERATORS: dict[str, Operation] = {
    "add": plain(operator.add),
    "sub": plain(operator.sub),
    "mul": plain(operator.mul),
    "truediv": dividing(operator.truediv),
    "floordiv": dividing(operator.floordiv),
    "mod": dividing(operator.mod),
    "pow": power,
    "and": compare(operator.and_),
    "or": compare(operator.or_),
    "xor": compare(operator.xor),
}
COMPARISONS: dict[str, Operation] = {
    name: compare(getattr(operator, name)) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}


# ----------------------------------------------------------------------------------------------------------- operators
# The operators of a value that differs from row to row.


NUMBERS = (float, int, bool)
"""Types of Python's own numbers."""


def _forward(name: str) -> Callable[["Operators", Any], Any]:
    operation = OPERATORS.get(name) or COMPARISONS[name]
    return lambda self, other: _binary(operation, self, other, self)


def _reflected(name: str) -> Callable[["Operators", Any], Any]:
    operation = OPERATORS[name]
    return lambda self, other: _binary(operation, other, self, self)


def _augmented(name: str) -> Callable[["Operators", Any], Any]:
    operation = OPERATORS[name]

    def apply(self: "Operators", other: Any) -> Any:
        result = _binary(operation, self, other, self)
        return self.replaced(result.data) if self.data.ndim > 1 and isinstance(result, Operators) else result

    return apply


class Operators:
    """Operators of `Batch`."""

    __slots__ = ("data", "exposed", "python")
    data: NDArray[Any]
    python: Kind
    exposed: bool

    __add__ = _forward("add")
    __radd__ = _reflected("add")
    __iadd__ = _augmented("add")
    __sub__ = _forward("sub")
    __rsub__ = _reflected("sub")
    __isub__ = _augmented("sub")
    __mul__ = _forward("mul")
    __rmul__ = _reflected("mul")
    __imul__ = _augmented("mul")
    __truediv__ = _forward("truediv")
    __rtruediv__ = _reflected("truediv")
    __itruediv__ = _augmented("truediv")
    __floordiv__ = _forward("floordiv")
    __rfloordiv__ = _reflected("floordiv")
    __ifloordiv__ = _augmented("floordiv")
    __mod__ = _forward("mod")
    __rmod__ = _reflected("mod")
    __imod__ = _augmented("mod")
    __pow__ = _forward("pow")
    __rpow__ = _reflected("pow")
    __ipow__ = _augmented("pow")
    __and__ = _forward("and")
    __rand__ = _reflected("and")
    __iand__ = _augmented("and")
    __or__ = _forward("or")
    __ror__ = _reflected("or")
    __ior__ = _augmented("or")
    __xor__ = _forward("xor")
    __rxor__ = _reflected("xor")
    __ixor__ = _augmented("xor")
    __lt__ = _forward("lt")
    __le__ = _forward("le")
    __gt__ = _forward("gt")
    __ge__ = _forward("ge")
    __eq__ = _forward("eq")
    __ne__ = _forward("ne")

    def __init__(self, data: NDArray[Any], python: Kind = False) -> None:
        self.data = data
        self.python = python
        self.exposed = False

    def __hash__(self) -> int:
        raise Untraceable("uses a measured value as a key")

    def __neg__(self) -> Self:
        return type(self)(-self._counted(), self.python)

    def __pos__(self) -> Self:
        return type(self)(+self._counted(), self.python)

    def __abs__(self) -> Self:
        return type(self)(abs(self._counted()), self.python)

    def __invert__(self) -> Self:
        return type(self)(~self._counted(), self.python)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def replaced(self, data: NDArray[Any]) -> Self:
        """This array with the numbers of `data` in the active rows.

        Raises:
            Untraceable: other names show parts of it.
        """
        if self.exposed:
            raise Untraceable("changes an array that other names show parts of")
        shape = (*self.data.shape[:-1], LANES.count)
        new = np.broadcast_to(data.astype(self.data.dtype, casting="same_kind"), shape)
        self.data = new if LANES.active is None else np.where(LANES.active, new, self.data)
        return self

    def _counted(self) -> NDArray[Any]:
        data: NDArray[Any] = counted(self.data, self.python)
        return data


def raw(value: Any) -> Any:
    """Operands for numpy: batches as their data, shared arrays with an axis for the rows."""
    if isinstance(value, Operators):
        return value.data
    if isinstance(value, np.ndarray):
        return value[..., None] if value.ndim else value
    return value


def _binary(operation: Operation, left: Any, right: Any, batch: Operators) -> Any:
    """An operator on two values, one of which is `batch`."""
    kinds = []
    operands = []
    for value in (left, right):
        kinds.append(kind_of(value))
        if isinstance(value, Operators):
            operands.append(value.data)
        elif isinstance(value, float | int | np.ndarray | np.generic):
            operands.append(raw(value))
        elif isinstance(value, list | tuple) and batch.data.ndim > 1:
            return _binary(operation, _array(left), _array(right), batch)
        else:
            return NotImplemented
    one, other = kinds
    unknown = one is None or other is None
    result = operation(operands[0], operands[1], None if unknown else one and other)
    # with a numpy number on one side, the result is numpy's
    return type(batch)(result, False if one is False or other is False else None if unknown else True)


def kind_of(value: Any) -> Kind:
    """Whether a number, or each row's number, is Python's."""
    return value.python if isinstance(value, Operators) else type(value) in NUMBERS


def _array(value: Any) -> Any:
    """A list as numpy's array; refused if it contains measured values."""
    return np.asarray(value) if isinstance(value, list | tuple) else value


# --------------------------------------------------------------------------------------------------------------- batch
# A value that differs from row to row, and behaves as one row's value does.


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
            raise Untraceable("writes into an array that other names show parts of")
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
        raise Untraceable("needs a plain number where a measured value is")

    __int__ = __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise Untraceable("uses a numpy function that has no form for many rows")

    def __str__(self) -> str:
        raise Untraceable("turns a measured value into text")

    def __format__(self, _spec: str) -> str:
        return str(self)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return partial(FUNCTIONS[METHODS[name]], self)
        if name.startswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"uses .{name} of a measured value")

    def __round__(self, digits: int | None = None) -> "Batch":
        if digits is None:
            return integer(Batch(np.rint(self.data), self.python))
        if self.python is None:
            raise Untraceable("rounds numbers that are Python's in some rows and numpy's in others")
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
            raise Untraceable(f"uses np.{function.__name__}, which has no form for many rows")
        return FUNCTIONS[function](*args, **keywords)

    def copy(self) -> "Batch":
        """Batch that shares nothing with this one."""
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
        """Numbers of another type."""
        return Batch(self.data.astype(dtype))

    def reshape(self, *shape: Any, **_: Any) -> "Batch":
        """Each row's value in another shape."""
        result: Batch = FUNCTIONS[np.reshape](self, shape[0] if len(shape) == 1 else shape)
        return result

    def _seen(self, part: Array) -> "Batch":
        """Batch over memory that this one shows too."""
        seen = Batch(part)
        seen.exposed = self.exposed = True
        return seen


def stacked(value: Any) -> Any:
    """Lists and tuples, nested or not, as one batch if they contain batches, otherwise as an array."""
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
    """Rows with a true value, shape (B,)."""
    data = value.data if value.ndim == 0 else value.data.reshape(-1)
    return data if data.dtype.kind == "b" else data.astype(np.bool_)


def integer(value: Batch) -> Batch:
    """Value truncated to an integer, as by `int`."""
    data = value.data.reshape(-1)
    if data.dtype.kind == "f":
        fail_where(np.isnan(data), ValueError("cannot convert float NaN to integer"))
        fail_where(np.isinf(data), OverflowError("cannot convert float infinity to integer"))
        if LANES.some(np.abs(data) > 2.0**53):
            raise Untraceable("turns a very large number into an integer")
    return Batch(data.astype(np.int64), True)


def position(value: Batch, index: Any) -> Any:
    """Index into the value's data; it must not reach the axis of the rows."""
    parts = []
    used = 0
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, list):
            part = stacked(part)
        if type(part) is Batch:
            if part.ndim or part.data.dtype.kind == "b":
                raise Untraceable("picks elements of an array by a measured value")
            part = part.__index__()
        parts.append(part)
        if part is not None and part is not Ellipsis:
            used += part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
    if used > value.ndim:
        raise IndexError(f"too many indices: array is {value.ndim}-dimensional, but {used} were indexed")
    return (*parts, slice(None)) if any(part is Ellipsis for part in parts) else tuple(parts)
