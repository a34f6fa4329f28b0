"""Names available to a rewritten reward."""

import builtins
from types import SimpleNamespace
from typing import Any

from p2p.rewards.tolerance import tolerance
from p2p.training.reward_function import RewardFunction
from p2p.worker.reward_source.loader import MODULE
from p2p.worker.vectorise import containers
from p2p.worker.vectorise import python_functions as functions
from p2p.worker.vectorise.batch import Batch
from p2p.worker.vectorise.control_flow import UNBOUND, CallFrame
from p2p.worker.vectorise.lanes import Untraceable
from p2p.worker.vectorise.numpy_functions import NUMPY
from p2p.worker.vectorise.python_functions import MATHEMATICS

RUNTIME = "_runtime_"
"""Name under which rewritten code finds what it calls."""
CALLED = SimpleNamespace(
    CallFrame=CallFrame,
    UNBOUND=UNBOUND,
    store=containers.store,
    augmented=containers.augmented,
    augmented_item=containers.augmented_item,
    mutate=containers.mutate,
    own=containers.own,
    set_attribute=containers.set_attribute,
    if_else=functions.if_else,
    both=functions.both,
    either=functions.either,
    negation=functions.negation,
    float=functions.to_float,
    int=functions.to_int,
    bool=functions.to_bool,
    type=functions.type_of,
    to_type=functions.to_type,
)
"""What rewritten code calls."""


def namespace() -> dict[str, Any]:
    """Globals of a rewritten reward."""
    return {
        "__name__": MODULE,
        "__builtins__": {**vars(builtins), **functions.BUILTINS, "__import__": _import},
        "np": NUMPY,
        "numpy": NUMPY,
        "math": MATHEMATICS,
        "RewardFunction": RewardFunction,
        "tolerance": _tolerance,
        RUNTIME: CALLED,
    }


def _import(name: str, scope: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """`import`, with `math` and `numpy` replaced."""
    first, *rest = name.split(".")
    if first == "math":
        return MATHEMATICS
    if name == tolerance.__module__ and fromlist:
        return SimpleNamespace(tolerance=_tolerance)
    if first != "numpy":
        return builtins.__import__(name, scope, local, fromlist, level)
    if "random" in rest or "random" in (fromlist or ()):
        raise Untraceable("draws random numbers")
    module = NUMPY
    if fromlist:
        for part in rest:
            module = getattr(module, part)
    return module


def _tolerance(x: Any, *limits: Any, **named_limits: Any) -> Any:
    """`tolerance`, with Python's float as credit for a number."""
    credit: Any = tolerance(x, *limits, **named_limits)
    return credit if type(credit) is not Batch or credit.ndim else Batch(credit.data, True)
