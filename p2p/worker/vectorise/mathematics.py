"""The module `math` for batches: it fails where Python's does, for the rows for which it does."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.arithmetic import fail_where
from p2p.worker.vectorise.batch import Batch, integer
from p2p.worker.vectorise.lanes import LANES

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
    """Stands for `math` in a reward."""

    __all__ = tuple(name for name in dir(math) if not name.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        """The function or constant of that name; kept, so that it is made once."""
        original = getattr(math, name)
        found = _form(name, original) if callable(original) else original
        setattr(self, name, found)
        return found


def _form(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """What does the same as `original`, and takes batches."""
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
    """numpy's result; where it is not finite, what Python makes of it: most often an error."""
    if len(values) > 2:
        return _row_by_row(original, [Batch(value) for value in values], {})
    result = ufunc(*values)
    if not np.isfinite(result).all():
        _fail_as_python(original, result, values)
    return Batch(result, True)


def _fail_as_python(original: Callable[..., Any], result: Floats, values: tuple[Floats, ...]) -> None:
    """Raise what `math` raises, for the active rows in which the result is not finite."""
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
    """A function numpy has not: Python's, once per active row."""
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
    """`math.dist`, `math.fsum` and their like."""
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
