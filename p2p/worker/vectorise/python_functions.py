"""Python's builtins and the module `math` for batches."""

import builtins
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.batch import Batch, fail_where, integer, kind_of, shared_kind, stacked, truth
from p2p.worker.vectorise.control_flow import merge
from p2p.worker.vectorise.lanes import LANES, Untraceable

# --------------------------------------------------------------------------------------------------- builtin functions
# Python's builtins for batches.


def to_float(*value: Any) -> Any:
    """`float(value)`."""
    if not value or type(value[0]) is not Batch:
        return float(*value)
    return Batch(value[0].item().data.astype(np.float64), True)


def to_int(*value: Any, **keywords: Any) -> Any:
    """`int(value)`."""
    if not value or type(value[0]) is not Batch:
        return int(*value, **keywords)
    return integer(value[0].item())


def to_bool(*value: Any) -> Any:
    """`bool(value)`."""
    if not value or type(value[0]) is not Batch:
        return bool(*value)
    return Batch(truth(value[0].item()), True)


def to_type(kind: Callable[..., Any], *value: Any) -> Any:
    """A number as one of numpy's types."""
    return value[0].astype(kind) if value and type(value[0]) is Batch else kind(*value)


def type_of(*value: Any) -> Any:
    """`type(value)`."""
    return type(example(value[0])) if len(value) == 1 else type(*value)


def example(value: Any) -> Any:
    """A value of one row, for questions about its type."""
    if type(value) is not Batch:
        return value
    if value.ndim:
        return np.zeros(value.shape, dtype=value.dtype)
    number = value.dtype.type(0)
    return number.item() if value.python else number


def is_instance(value: Any, kinds: Any) -> bool:
    """`isinstance`."""
    return isinstance(example(value), kinds)


def has_attribute(value: Any, name: str) -> bool:
    """`hasattr`."""
    return hasattr(example(value), name)


def _extreme(original: Callable[..., Any], better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """`max` and `min`, which return the first argument not beaten by a later one, NaN included."""

    def extreme(*values: Any, **keywords: Any) -> Any:
        if len(values) == 1:
            values = tuple(values[0])
        if keywords or not any(type(value) is Batch for value in values):
            return original(values, **keywords)
        best, *others = values
        for value in others:
            beats = better(value, best)
            if type(beats) is not Batch:
                best = value if beats else best
                continue
            if beats.ndim:
                raise ValueError("The truth value of an array with more than one element is ambiguous.")
            if LANES.some(beats.data):
                best = value if LANES.every(beats.data) else merge(LANES.within(beats.data), value, best)
        return best

    return extreme


def total(values: Any, /, start: Any = 0) -> Any:
    """`sum`."""
    if type(values) is Batch and values.ndim == 1:
        return start + Batch(np.add.reduce(values.data, axis=0))
    return builtins.sum(values, start)


def any_of(values: Iterable[Any]) -> Any:
    """`any`: later values are computed only for rows without an earlier true one."""
    return _folded(values, until=True)


def all_of(values: Iterable[Any]) -> Any:
    """`all`: later values are computed only for rows with all earlier ones true."""
    return _folded(values, until=False)


def _folded(values: Iterable[Any], until: bool) -> Any:
    before = LANES.active
    found = None
    for value in values:
        if type(value) is Batch:
            if value.size != 1:
                raise ValueError("The truth value of an array with more than one element is ambiguous.")
            hits = truth(value) if until else ~truth(value)
        elif bool(value) is until:
            hits = np.ones(1, dtype=np.bool_)
        else:
            continue
        hits = LANES.within(hits)
        found = hits if found is None else found | hits
        LANES.active = ~found if before is None else before & ~found
        if not LANES.active.any():
            break
    LANES.active = before
    if found is None:
        return not until
    return Batch(found if until else ~found, True)


def in_order(values: Iterable[Any], /, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted`."""
    items = list(values)
    if key is not None or not any(type(item) is Batch for item in items):
        return builtins.sorted(items, key=key, reverse=reverse)
    array: Batch = stacked(items)
    if array.ndim != 1 or LANES.some(np.isnan(array.data).any(axis=0)):
        raise Untraceable("sorts values that have no order")
    data = np.sort(array.data, axis=0)
    python = shared_kind(*map(kind_of, items))
    return [Batch(row, python) for row in (data[::-1] if reverse else data)]


def if_else(test: Any, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """`first() if test else second()`."""
    if type(test) is not Batch:
        return first() if test else second()
    if test.size != 1:
        return bool(test)
    condition = truth(test)
    if not LANES.some(condition):
        return second()
    if LANES.every(condition):
        return first()
    before = LANES.active
    rows = LANES.within(condition)
    LANES.active = rows
    one = first()
    LANES.active = ~rows if before is None else before & ~rows
    other = second()
    LANES.active = before
    return merge(rows, one, other)


def both(*operands: Callable[[], Any]) -> Any:
    """`first() and second() and …`."""
    first, *others = operands
    value = first()
    if not others:
        return value
    return if_else(value, lambda: both(*others), lambda: value)


def either(*operands: Callable[[], Any]) -> Any:
    """`first() or second() or …`."""
    first, *others = operands
    value = first()
    if not others:
        return value
    return if_else(value, lambda: value, lambda: either(*others))


def negation(value: Any) -> Any:
    """`not value`."""
    if type(value) is not Batch:
        return not value
    if value.size != 1:
        return bool(value)
    return Batch(~truth(value), True)


def silent(*_: Any, **__: Any) -> None:
    """`print`: allowed in a reward, without effect."""


BUILTINS: dict[str, Any] = {
    "max": _extreme(builtins.max, lambda value, best: value > best),
    "min": _extreme(builtins.min, lambda value, best: value < best),
    "sum": total,
    "any": any_of,
    "all": all_of,
    "sorted": in_order,
    "isinstance": is_instance,
    "hasattr": has_attribute,
    "print": silent,
    "BaseException": Exception,
}
"""What replaces Python's builtins in a reward, by name."""


# --------------------------------------------------------------------------------------------------------- mathematics
# The module `math` for batches: it fails where Python's does, for the rows for which it does.


Floats = NDArray[np.float64]

UFUNCS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sqrt", "log", "log2", "log10", "log1p", "exp", "exp2", "expm1")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan")},
    **{name: getattr(np, name) for name in ("asinh", "acosh", "atanh", "degrees", "radians", "fabs")},
    **{name: getattr(np, name) for name in ("atan2", "copysign", "fmod", "hypot", "pow")},
}
"""Functions from floats to a float."""
TESTS: dict[str, Any] = {name: getattr(np, name) for name in ("isnan", "isinf", "isfinite")}
ROUNDING: dict[str, Any] = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


class Mathematics:
    """Stand-in for `math` in a reward."""

    __all__ = tuple(name for name in dir(math) if not name.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        """The function or constant of that name; kept, so that it is made once."""
        original = getattr(math, name)
        found = _form(name, original) if callable(original) else original
        setattr(self, name, found)
        return found


def _form(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Equivalent of `original` for batches."""
    form = _for_batches(name, original)

    def function(*arguments: Any, **keywords: Any) -> Any:
        if any(type(value) is Batch for value in arguments):
            return form(*arguments, **keywords)
        if any(isinstance(value, list | tuple) for value in arguments):
            return _of_sequences(name, original, *arguments, **keywords)
        return original(*arguments, **keywords)

    return function


def _for_batches(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    if name in UFUNCS:
        ufunc = UFUNCS[name]
        return lambda *values: _computed(ufunc, original, *map(_floats, values))
    if name in TESTS:
        return lambda value: Batch(TESTS[name](_floats(value)), True)
    if name in ROUNDING:
        return lambda value: integer(Batch(ROUNDING[name](_floats(value)), True))
    if name in ("fsum", "prod", "dist"):
        return lambda *values: _of_sequences(name, original, *map(list, values))
    return lambda *values, **keywords: _row_by_row(original, values, keywords)


def _floats(value: Any) -> Floats:
    """The numbers as `math` takes them, shape (B,) or (1,)."""
    if type(value) is not Batch:
        return np.array([float(value)])
    if value.size != 1:
        raise TypeError("only length-1 arrays can be converted to Python scalars")
    return np.asarray(value.data.reshape(-1), dtype=np.float64)


def _computed(ufunc: np.ufunc, original: Callable[..., Any], *values: Floats) -> Batch:
    """numpy's result; if not finite, Python's: most often an error."""
    if len(values) > 2:
        return _row_by_row(original, [Batch(value) for value in values], {})
    result = ufunc(*values)
    if not np.isfinite(result).all():
        _fail_as_python(original, result, values)
    return Batch(result, True)


def _fail_as_python(original: Callable[..., Any], result: Floats, values: tuple[Floats, ...]) -> None:
    """Raise `math`'s error for active rows with a non-finite result."""
    rows = LANES.within(~np.isfinite(result))
    if not rows.any():
        return
    errors: dict[int, Exception] = {}
    columns = [np.broadcast_to(value, rows.shape)[rows].tolist() for value in values]
    for row, arguments in zip(np.flatnonzero(rows), zip(*columns, strict=True), strict=True):
        try:
            original(*arguments)
        except (ValueError, OverflowError) as error:
            errors[int(row)] = error
    _raise_first(errors)


def _row_by_row(original: Callable[..., Any], values: Any, keywords: dict[str, Any]) -> Batch:
    """Function that numpy lacks: Python's, once per active row."""
    columns = [np.broadcast_to(_floats(value), (LANES.count,)).tolist() for value in values]
    active = LANES.within(np.ones(1, dtype=np.bool_))
    results = np.full(LANES.count, np.nan)
    errors: dict[int, Exception] = {}
    for row, arguments in enumerate(zip(*columns, strict=True)):
        if active[row]:
            try:
                results[row] = original(*arguments, **keywords)
            except (ValueError, OverflowError) as error:
                errors[row] = error
    _raise_first(errors)
    return Batch(results, True)


def _raise_first(errors: dict[int, Exception]) -> None:
    if errors:
        failing = np.zeros(LANES.count, dtype=np.bool_)
        failing[list(errors)] = True
        fail_where(failing, next(iter(errors.values())))


def _of_sequences(name: str, original: Callable[..., Any], *values: Any, **keywords: Any) -> Any:
    """`math.dist`, `math.fsum` and similar."""
    if not any(type(item) is Batch for value in values if isinstance(value, list | tuple) for item in value):
        return original(*values, **keywords)
    if name == "prod":
        return math.prod(*values, **keywords)
    if name == "fsum":
        return _row_by_row(lambda *row: math.fsum(row), list(values[0]), {})
    if name == "dist":
        ends = [*values[0], *values[1]]
        return _row_by_row(lambda *row: math.dist(row[: len(row) // 2], row[len(row) // 2 :]), ends, {})
    raise TypeError(f"must be real number, not {type(values[0]).__name__}")


MATHEMATICS = Mathematics()
