"""Making what a loaded reward holds unchangeable, so that nothing of one row can reach another."""

import dis
from collections import deque
from collections.abc import Mapping
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from p2p.worker.reward.loader import MODULE
from p2p.worker.vectorise.containers import MUTATORS
from p2p.worker.vectorise.mathematics import Mathematics
from p2p.worker.vectorise.namespace import RUNTIME
from p2p.worker.vectorise.numpy_module import NumPy
from p2p.worker.vectorise.refusal import NotVectorised, Refusal

UNCHANGING = (int, float, complex, str, bytes, type(None), range, slice, Enum, np.generic, np.dtype)
CODE = (ModuleType, NumPy, Mathematics)
LANGUAGE = frozenset({"_abc", "typing", "__future__", "types", "abc", "dataclasses"})
"""Modules whose objects are part of the language."""


def _frozen_class(kind: type) -> type:
    """A subclass that refuses every change, and says of what."""

    def refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise Refusal(f"keeps state in {self.place}")

    operators = {f"__{name}__" for name in ("setitem", "delitem", "iadd", "ior", "imul", "iand", "isub", "ixor")}
    members: dict[str, Any] = {name: refuse for name in MUTATORS | operators if hasattr(kind, name)}
    return type(f"Frozen{kind.__name__}", (kind,), members)


FROZEN: dict[type, Any] = {kind: _frozen_class(kind) for kind in (list, dict, set, deque)}
"""Container -> its unchangeable form."""


class Freezer:
    """Freezes everything that can be reached from a reward, each thing once."""

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}
        self._originals: list[Any] = []

    def freeze_globals(self, names: dict[str, Any]) -> None:
        """Freeze what a module holds.

        Raises:
            NotVectorised: something in it may change in ways that cannot be seen.
        """
        for name, value in names.items():
            if name != RUNTIME and not (name.startswith("__") and name.endswith("__")):
                names[name] = self.frozen(value, name)

    def frozen(self, value: Any, place: str) -> Any:
        """The value, or what takes its place.

        Raises:
            NotVectorised: it may change in ways that cannot be seen.
        """
        if isinstance(value, (*UNCHANGING, *CODE)):
            return value
        if id(value) not in self._found:
            self._originals.append(value)  # or its id might come to mean another object
            self._found[id(value)] = value
            self._found[id(value)] = self._replaced(value, place)
        return self._found[id(value)]

    def _replaced(self, value: Any, place: str) -> Any:
        if type(value) in FROZEN:
            return self._container(value, place)
        if isinstance(value, tuple | frozenset):
            items = [self.frozen(item, place) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        self._freeze(value, place)
        return value

    def _freeze(self, value: Any, place: str) -> None:
        """Freeze something that stays the same object."""
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        elif isinstance(value, type):
            self._freeze_class(value, place)
        elif isinstance(value, FunctionType):
            self._freeze_function(value)
        elif isinstance(value, MethodType | staticmethod | classmethod):
            self.frozen(getattr(value, "__self__", None), place)
            self.frozen(value.__func__, place)
        elif type(value).__module__ == MODULE and hasattr(value, "__dict__"):
            self.frozen(type(value), place)
            for name, held in list(vars(value).items()):
                object.__setattr__(value, name, self.frozen(held, f"{place}.{name}"))
        else:
            self._check(value, place)

    def _check(self, value: Any, place: str) -> None:
        """Let pass what is code.

        Raises:
            NotVectorised: it is, or holds, something that may change.
        """
        if isinstance(value, partial):
            held = [value.func, *value.args, *value.keywords.values()]
            safe = all(self.frozen(item, place) is item for item in held)
        elif isinstance(value, BuiltinFunctionType):
            safe = isinstance(value.__self__, ModuleType | type | type(None))
        else:
            self.frozen(getattr(value, "__wrapped__", None), place)
            safe = type(value).__module__ in LANGUAGE or callable(value) or hasattr(type(value), "__get__")
        if not safe:
            raise NotVectorised(f"keeps {place}, of type {type(value).__name__}, which may change")

    def _container(self, value: Any, place: str) -> Any:
        if isinstance(value, Mapping):
            found = FROZEN[dict]({key: self.frozen(item, f"{place}[{key!r}]") for key, item in value.items()})
        elif isinstance(value, deque):
            found = FROZEN[deque]([self.frozen(item, place) for item in value], value.maxlen)
        else:
            found = FROZEN[type(value)]([self.frozen(item, place) for item in value])
        found.place = place
        return found

    def _freeze_class(self, kind: type, place: str) -> None:
        if kind.__module__ != MODULE or issubclass(kind, Enum):
            return
        for base in kind.__bases__:
            self.frozen(base, place)
        for name, value in list(vars(kind).items()):
            special = name.startswith("__") and name.endswith("__")
            if special and not isinstance(value, FunctionType):
                continue
            changed = self.frozen(value, f"{place}.{name}")
            if changed is not value:
                setattr(kind, name, changed)

    def _freeze_function(self, function: FunctionType) -> None:
        if function.__globals__.get("__name__") != MODULE:
            return
        code = function.__code__
        _refuse_outer_writes(code, code.co_freevars)
        if function.__defaults__:
            arguments = code.co_varnames[: code.co_argcount][-len(function.__defaults__) :]
            pairs = zip(arguments, function.__defaults__, strict=True)
            function.__defaults__ = tuple(self.frozen(value, name) for name, value in pairs)
        if function.__kwdefaults__:
            function.__kwdefaults__ = {n: self.frozen(value, n) for n, value in function.__kwdefaults__.items()}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.frozen(cell.cell_contents, name)
            except ValueError:
                continue  # the variable has no value yet


def _refuse_outer_writes(code: CodeType, outer: tuple[str, ...]) -> None:
    """Check that a function assigns no variable of one that has already returned.

    Raises:
        NotVectorised: it does.
    """
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in outer:
            raise NotVectorised(f"keeps state in {instruction.argval}", code.co_firstlineno)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            _refuse_outer_writes(inner, tuple(name for name in inner.co_freevars if name in outer))
