"""Writes into dicts, lists and arrays, for active rows only."""

import operator
from collections import deque
from typing import Any

import numpy as np

from p2p.worker.vectorise.batch import Batch, position
from p2p.worker.vectorise.control_flow import CallFrame, merge
from p2p.worker.vectorise.lanes import LANES, NewKey, Untraceable

MUTATORS = frozenset(
    {"append", "appendleft", "extend", "insert", "pop", "popleft", "popitem", "remove", "clear", "reverse", "sort"}
    | {"update", "setdefault", "add", "discard", "rotate"}
)
"""Methods that change a list, dict, set or deque."""
IN_PLACE = (list, dict, set, deque, np.ndarray)
"""What an augmented assignment changes rather than replaces."""


def store(frame: CallFrame | None, container: Any, key: Any, value: Any, local: bool) -> None:
    """`container[key] = value`; `local` if no other call of a function has the container."""
    if type(container) is Batch or _whole(frame, local):
        container[key] = value
        return
    active = LANES.active
    assert active is not None
    if isinstance(container, dict) and key not in container:
        container[key] = value
        LANES.new_keys.append(NewKey(container, key, active, frame if local else None))
    elif isinstance(container, dict | list):
        container[key] = merge(active, value, container[key])
    else:
        raise LANES.split()


def augmented(frame: CallFrame, name: str, value: Any, other: Any, local: bool) -> Any:
    """Result of `value += other` and similar; `name` is the operator's."""
    if isinstance(value, IN_PLACE) and not _whole(frame, local):
        raise LANES.split()
    return getattr(operator, name)(value, other)


def augmented_item(frame: CallFrame, name: str, container: Any, key: Any, other: Any, local: bool) -> None:
    """`container[key] += other` and similar."""
    if type(container) is Batch:
        # not container[key], after which the array would count as seen by another name
        old = Batch(container.data[position(container, key)])
        container[key] = getattr(operator, name)(old, other)
    else:
        store(frame, container, key, augmented(frame, name, container[key], other, local=False), local)


def mutate(frame: CallFrame | None, receiver: Any, name: str, local: bool, *arguments: Any, **keywords: Any) -> Any:
    """Call of a method that may change its receiver."""
    if not isinstance(receiver, IN_PLACE) or _whole(frame, local):
        return getattr(receiver, name)(*arguments, **keywords)
    if isinstance(receiver, dict) and name == "update":
        for key, value in dict(*arguments, **keywords).items():
            store(frame, receiver, key, value, local)
        return None
    raise LANES.split()


def own(value: Any) -> Any:
    """New array to be written into, possibly with different rows."""
    if LANES.running and isinstance(value, np.ndarray) and value.ndim and value.flags.writeable:
        return Batch(value[..., None].copy())
    return value


def set_attribute(receiver: Any, name: str, value: Any, text: str) -> None:
    """`receiver.name = value`, allowed only in `__init__`.

    Raises:
        Untraceable: a reward is being computed.
    """
    if LANES.running:
        raise Untraceable(f"keeps state in {text}")
    setattr(receiver, name, value)


def _whole(frame: CallFrame | None, local: bool) -> bool:
    """Whether a write reaches all rows that will ever read it."""
    return LANES.active is None or (local and frame is not None and LANES.active is frame.base)
