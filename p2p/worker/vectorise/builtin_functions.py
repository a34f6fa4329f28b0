"""Python's builtins for batches."""

import builtins
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from p2p.worker.vectorise.arithmetic import shared_kind
from p2p.worker.vectorise.batch import Batch, integer, stacked, truth
from p2p.worker.vectorise.lanes import LANES
from p2p.worker.vectorise.merging import merge
from p2p.worker.vectorise.operators import kind_of
from p2p.worker.vectorise.refusal import Refusal


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
    """A value as one row has it, for questions about its type."""
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
    """`max` and `min`, which return the first of their arguments that no later one beats, also when one is NaN."""

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
    """`any`: later values are computed only for the rows in which no earlier one was true."""
    return _folded(values, until=True)


def all_of(values: Iterable[Any]) -> Any:
    """`all`: later values are computed only for the rows in which every earlier one was true."""
    return _folded(values, until=False)


def _folded(values: Iterable[Any], until: bool) -> Any:
    before, found = LANES.active, None
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
        raise Refusal("sorts values that have no order")
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
    before, rows = LANES.active, LANES.within(condition)
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
    """`print`, which a reward may call, and nobody reads."""


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
