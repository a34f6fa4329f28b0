"""numpy functions that turn an array into fewer numbers, for batches."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from p2p.worker.vectorise.batch import FUNCTIONS, Batch, stacked
from p2p.worker.vectorise.operators import raw
from p2p.worker.vectorise.refusal import Refusal

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
    """The axes of one row's value that are meant; None means all.

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
            raise Refusal(f"writes the result of np.{function.__name__} into an array")
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
    """The keywords that say something.

    Raises:
        Refusal: one of them is not in `names`.
    """
    given = {name: value for name, value in keywords.items() if value is not np._NoValue and value is not None}
    for name, value in given.items():
        if name not in names:
            raise Refusal(f"uses the argument {name}={value!r} of a numpy function")
    return given


def _batch(value: Any) -> Batch:
    found = stacked(value)
    return found if type(found) is Batch else Batch(np.asarray(found)[..., None])


def _argument(function: Any) -> Callable[..., Any]:
    """`argmax` and its like, which take one axis or the flattened value."""

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
    raise Refusal(f"uses np.linalg.norm with ord={ord!r}")


def _quantile(function: Any) -> Callable[..., Any]:
    def reduce(a: Any, q: Any, axis: Any = None, **keywords: Any) -> Batch:
        _known(keywords, ())
        value = _batch(a)
        if not isinstance(q, int | float):
            raise Refusal(f"uses np.{function.__name__} for several shares at once")
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
        raise Refusal("uses np.average with weights of another shape")
    found = axes(value, axis)
    shares = np.broadcast_to(weight, (*value.shape, weight.shape[-1]))
    return Batch(np.sum(value.data * shares, axis=found) / np.sum(shares, axis=found))


FUNCTIONS.update({function: _reduction(function) for function in REDUCTIONS})
FUNCTIONS.update({function: _argument(function) for function in (np.argmax, np.argmin)})
FUNCTIONS.update({function: _quantile(function) for function in (np.percentile, np.quantile)})
FUNCTIONS[np.linalg.norm] = norm
FUNCTIONS[np.average] = average
