"""The module `numpy` for batches: lists with measured values in them count as arrays, randomness is refused."""

from collections.abc import Callable, Iterator, KeysView, ValuesView
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from p2p.worker.vectorise import products, reductions, shaping  # noqa: F401  # they fill FUNCTIONS
from p2p.worker.vectorise.batch import FUNCTIONS, Batch, stacked
from p2p.worker.vectorise.refusal import Refusal

SEQUENCES = {"concatenate", "stack", "hstack", "vstack", "select", "append"}
"""Functions of several arrays, which need not be equally long."""
ARRAYS = {"array", "asarray", "asanyarray", "ascontiguousarray"}
"""Functions that make one array of a list."""
FUNCTIONS_OF_NUMPY = (np.ufunc, FunctionType, BuiltinFunctionType, type(np.sum))
"""Types of what is called with arrays."""


class NumPy:
    """Stands for `numpy`, or one of its submodules, in a reward."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        """The member of that name; kept, so that it is made once."""
        if name == "random":
            raise Refusal("draws random numbers")
        original = getattr(self._module, name)
        found = original
        if isinstance(original, ModuleType):
            found = NumPy(original)
        elif isinstance(original, FUNCTIONS_OF_NUMPY):
            found = _Function(name, original)
        setattr(self, name, found)
        return found


class _Function:
    """A numpy function that also takes lists with batches in them."""

    def __init__(self, name: str, original: Callable[..., Any]) -> None:
        self._original = original
        if name in ARRAYS:
            self._call: Callable[..., Any] = partial(_array, original)
        elif name in SEQUENCES:
            self._call = self._of_sequence
        else:
            self._call = self._of_arrays

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._call(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        """Methods of numpy's operators, as `np.maximum.reduce`."""
        method = getattr(self._original, name)
        return _Function(name, method) if callable(method) else method

    def _of_arrays(self, *arguments: Any, **keywords: Any) -> Any:
        for value in arguments:
            if type(value) is list or type(value) is tuple:
                arguments = tuple(map(_joined, arguments))
                break
        return self._original(*arguments, **keywords)

    def _of_sequence(self, *arguments: Any, **keywords: Any) -> Any:
        if any(map(_holds_batch, arguments)):
            return FUNCTIONS[self._original](*arguments, **keywords)
        return self._original(*arguments, **keywords)


def _array(original: Callable[..., Any], value: Any, dtype: Any = None, **keywords: Any) -> Any:
    joined = _joined(list(value) if isinstance(value, Iterator | KeysView | ValuesView) else value)
    if type(joined) is not Batch:
        return original(joined, dtype, **keywords)
    if original is not np.array and joined is value and dtype in (None, float, joined.dtype):
        return joined
    return joined.copy() if dtype is None else joined.astype(dtype)


def _joined(value: Any) -> Any:
    """A list with batches in it as one batch; anything else as it is."""
    return stacked(value) if isinstance(value, list | tuple) and _holds_batch(value) else value


def _holds_batch(value: Any) -> bool:
    if type(value) is Batch:
        return True
    return isinstance(value, list | tuple) and any(map(_holds_batch, value))


NUMPY = NumPy(np)
