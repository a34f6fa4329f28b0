"""numpy's elementwise functions and its products of arrays, for batches."""

from typing import Any

import numpy as np

from p2p.worker.vectorise.batch import FUNCTIONS, Batch, stacked
from p2p.worker.vectorise.operators import raw
from p2p.worker.vectorise.reductions import axes
from p2p.worker.vectorise.refusal import Refusal

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
        raise Refusal(f"uses np.{ufunc.__name__}.{method}")
    out, where = keywords.pop("out", None), keywords.pop("where", True)
    result = ufunc(*(raw(stacked(value)) for value in inputs), **keywords)
    if isinstance(result, tuple):
        return tuple(Batch(np.atleast_1d(one)) for one in result)
    found = Batch(np.atleast_1d(result))
    return found if out is None and where is True else written(found, out, where)


def _reduced(ufunc: np.ufunc, value: Batch, axis: Any = 0, **keywords: Any) -> Batch:
    if any(given is not None and given is not False for given in keywords.values()):
        raise Refusal(f"uses np.{ufunc.__name__}.reduce with other arguments than an axis")
    return Batch(np.asarray(ufunc.reduce(value.data, axis=axes(value, axis))))


def written(result: Batch, out: Any, where: Any) -> Batch:
    """What `out` becomes when the result is written into it where the condition holds."""
    target = out[0] if isinstance(out, tuple) else out
    if type(target) is not Batch:
        raise Refusal("writes measured values into a plain array with out=, or leaves some undefined with where=")
    return target.replaced(np.where(raw(where), result.data, target.data))


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """`np.dot` of numbers, vectors and matrices."""
    if out is not None:
        raise Refusal("writes a product into an array")
    left, right = stacked(a), stacked(b)
    dimensions = (np.ndim(left), np.ndim(right))
    if 0 in dimensions:
        return np.multiply(left, right)
    if dimensions not in CONTRACTIONS:
        raise Refusal("multiplies arrays of more than two dimensions")
    arrays = [value.data if type(value) is Batch else np.asarray(value) for value in (left, right)]
    if np.shape(left)[-1] != np.shape(right)[0]:
        raise ValueError(f"shapes {np.shape(left)} and {np.shape(right)} not aligned")
    return Batch(np.einsum(CONTRACTIONS[dimensions], *arrays))


def inner(a: Any, b: Any) -> Any:
    """`np.inner` and `np.vdot` of vectors."""
    if np.ndim(stacked(a)) > 1 or np.ndim(stacked(b)) > 1:
        raise Refusal("takes the inner product of matrices")
    return dot(a, b)


def outer(a: Any, b: Any, out: Any = None) -> Batch:
    """`np.outer` of vectors."""
    if out is not None or np.ndim(stacked(a)) != 1 or np.ndim(stacked(b)) != 1:
        raise Refusal("uses np.outer with other things than two vectors")
    left, right = raw(stacked(a)), raw(stacked(b))
    return Batch(left[:, None] * right[None])


def cross(a: Any, b: Any, **keywords: Any) -> Batch:
    """`np.cross` of vectors of three."""
    left, right = stacked(a), stacked(b)
    if keywords or np.shape(left) != (3,) or np.shape(right) != (3,):
        raise Refusal("uses np.cross with other things than two vectors of three")
    return Batch(np.cross(raw(left), raw(right), axis=0))


FUNCTIONS[np.ufunc] = call
FUNCTIONS[np.dot] = dot
FUNCTIONS[np.inner] = FUNCTIONS[np.vdot] = inner
FUNCTIONS[np.outer] = outer
FUNCTIONS[np.cross] = cross
