"""The operators of a value that differs from row to row."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.arithmetic import COMPARISONS, OPERATORS, Kind, Operation, counted
from p2p.worker.vectorise.lanes import LANES
from p2p.worker.vectorise.refusal import Refusal

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
    """What `Batch` inherits."""

    __slots__ = ("data", "exposed", "python")
    data: NDArray[Any]
    python: Kind
    exposed: bool

    __add__, __radd__, __iadd__ = _forward("add"), _reflected("add"), _augmented("add")
    __sub__, __rsub__, __isub__ = _forward("sub"), _reflected("sub"), _augmented("sub")
    __mul__, __rmul__, __imul__ = _forward("mul"), _reflected("mul"), _augmented("mul")
    __truediv__, __rtruediv__, __itruediv__ = _forward("truediv"), _reflected("truediv"), _augmented("truediv")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _forward("floordiv"), _reflected("floordiv"), _augmented("floordiv")
    __mod__, __rmod__, __imod__ = _forward("mod"), _reflected("mod"), _augmented("mod")
    __pow__, __rpow__, __ipow__ = _forward("pow"), _reflected("pow"), _augmented("pow")
    __and__, __rand__, __iand__ = _forward("and"), _reflected("and"), _augmented("and")
    __or__, __ror__, __ior__ = _forward("or"), _reflected("or"), _augmented("or")
    __xor__, __rxor__, __ixor__ = _forward("xor"), _reflected("xor"), _augmented("xor")
    __lt__, __le__, __gt__, __ge__ = _forward("lt"), _forward("le"), _forward("gt"), _forward("ge")
    __eq__, __ne__ = _forward("eq"), _forward("ne")

    def __init__(self, data: NDArray[Any], python: Kind = False) -> None:
        self.data, self.python, self.exposed = data, python, False

    def __hash__(self) -> int:
        raise Refusal("uses a measured value as a key")

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
        """This array after `data` took the place of its numbers, in the active rows.

        Raises:
            Refusal: other names show parts of it.
        """
        if self.exposed:
            raise Refusal("changes an array that other names show parts of")
        shape = (*self.data.shape[:-1], LANES.count)
        new = np.broadcast_to(data.astype(self.data.dtype, casting="same_kind"), shape)
        self.data = new if LANES.active is None else np.where(LANES.active, new, self.data)
        return self

    def _counted(self) -> NDArray[Any]:
        data: NDArray[Any] = counted(self.data, self.python)
        return data


def raw(value: Any) -> Any:
    """What numpy computes with: batches as their data, arrays that all rows share with an axis for the rows."""
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
    """A list as the array numpy makes of it; one with measured values in it is refused there."""
    return np.asarray(value) if isinstance(value, list | tuple) else value
