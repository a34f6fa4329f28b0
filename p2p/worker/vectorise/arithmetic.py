"""Operators on raw arrays of rows, with the rules of Python's own numbers where the values are Python's.

numpy and Python disagree on division by zero, on sums of truth values and on powers that overflow; rewards mix both
kinds of numbers, so each batch knows which kind it stands for.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from p2p.worker.vectorise.lanes import LANES
from p2p.worker.vectorise.refusal import Refusal

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
    """An operator on which Python and numpy agree, but for truth values, which count as numbers in Python."""

    def apply(left: Any, right: Any, python: Kind) -> Any:
        if python is False:
            return operation(left, right)
        left, right = numbers(left, right, python)
        return _small(operation(left, right))

    return apply


def compare(operation: Callable[[Any, Any], Any]) -> Operation:
    """A comparison, or another operator on which Python and numpy agree."""

    def apply(left: Any, right: Any, _python: Kind) -> Any:
        return operation(left, right)

    return apply


def dividing(operation: Callable[[Any, Any], Any]) -> Operation:
    """A division; in Python it fails on zero."""

    def apply(left: Any, right: Any, python: Kind) -> Any:
        if python is not False:
            left, right = numbers(left, right, python)
            zero = np.atleast_1d(np.equal(right, 0))
            if python is None and LANES.some(zero):
                raise Refusal("divides by zero")
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
            raise Refusal("counts further than numpy can")
        if np.any(np.less(right, 0)):
            left = np.asarray(left, dtype=np.float64)
    result = left**right
    finite = np.isfinite(result)
    if not finite.all():
        odd = ~finite & np.isfinite(left) & np.isfinite(right)
        if python is None and LANES.some(odd):
            raise Refusal("takes a power that is not finite")
        _fail_as_python(left, right, odd)
    return result


def _fail_as_python(left: Any, right: Any, odd: Any) -> None:
    """What Python does where numpy's power of two finite numbers is not finite."""
    zero = odd & (np.equal(left, 0))
    fail_where(zero, ZeroDivisionError("0.0 cannot be raised to a negative power"))
    negative = odd & np.less(left, 0) & np.not_equal(right, np.trunc(right))
    if LANES.some(negative):
        raise Refusal("takes a fractional power of a negative number")
    fail_where(odd & ~zero & ~negative, OverflowError("numerical result out of range"))


def numbers(left: Any, right: Any, python: Kind) -> tuple[Any, Any]:
    """Two operands, of which truth values are the numbers they are in Python.

    Raises:
        Refusal: they are truth values that are Python's in some rows and numpy's in others.
    """
    if python is None and _is_truth(left) and _is_truth(right):
        raise Refusal("counts truth values that are Python's in some rows and numpy's in others")
    return counted(left, True), counted(right, True)


def counted(value: Any, python: Kind) -> Any:
    """Truth values as the numbers they are in Python.

    Raises:
        Refusal: they are Python's in some rows and numpy's in others.
    """
    if python is False or not isinstance(value, np.ndarray) or value.dtype.kind != "b":
        return value
    if python is None:
        raise Refusal("counts truth values that are Python's in some rows and numpy's in others")
    return value.astype(np.int64)


def _small(result: Any) -> Any:
    """A result, if it is not a whole number too large for numpy: Python's have no limit.

    Raises:
        Refusal: it is.
    """
    if result.dtype.kind == "i" and LANES.some(np.abs(result) > LARGEST):
        raise Refusal("counts further than numpy can")
    return result


def _is_truth(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "b"


def shared_kind(*kinds: Kind) -> Kind:
    """The kind of numbers of which each row has one of these."""
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
