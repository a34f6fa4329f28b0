"""One value out of two, where some rows went one way and the others another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.arithmetic import shared_kind
from p2p.worker.vectorise.batch import Batch
from p2p.worker.vectorise.lanes import LANES
from p2p.worker.vectorise.operators import kind_of, raw
from p2p.worker.vectorise.refusal import Split


class Unbound:
    """What a variable is before it is assigned."""

    def __bool__(self) -> bool:
        raise UnboundLocalError("a variable is used before it has a value")


UNBOUND = Unbound()


def merge(rows: NDArray[np.bool_], new: Any, old: Any) -> Any:
    """`new` in the rows `rows`, `old` in the others.

    Dicts and sequences are merged part by part.

    Raises:
        Split: the two are not of one kind, so that the rows must be computed apart.
    """
    if new is old or old is UNBOUND:
        return new
    if _numeric(new) and _numeric(old):
        one, other = (np.atleast_1d(raw(value)) for value in (new, old))
        if (
            one.ndim == other.ndim
            and _shape(new) == _shape(old)
            and (one.dtype.kind == "b") == (other.dtype.kind == "b")
        ):
            return Batch(np.where(rows, one, other), shared_kind(kind_of(new), kind_of(old)))
    elif type(new) is type(old):
        if isinstance(new, dict) and list(new) == list(old):
            return type(new)((key, merge(rows, value, old[key])) for key, value in new.items())
        if type(new) in (tuple, list) and len(new) == len(old):
            return type(new)(merge(rows, one, other) for one, other in zip(new, old, strict=True))
        if isinstance(new, str) and new == old:
            return new
    if rows.all() or not rows.any():
        return new if rows.any() else old
    raise Split(LANES.within(rows))


def snapshot(value: Any) -> Any:
    """The value as it is now, whatever is written into its containers later."""
    if type(value) is dict:
        return {key: snapshot(item) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)(snapshot(item) for item in value)
    return value.copy() if type(value) is Batch and value.ndim else value


def _numeric(value: Any) -> bool:
    return isinstance(value, Batch | float | int | np.ndarray | np.generic)


def _shape(value: Any) -> tuple[int, ...]:
    return getattr(value, "shape", ())
