"""Find a reward's state between calls, and freeze its constants."""

import ast
import dis
from collections import deque
from collections.abc import Mapping
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from p2p.worker.reward_source.loader import MODULE
from p2p.worker.vectorise.containers import MUTATORS
from p2p.worker.vectorise.lanes import NotVectorised, Untraceable
from p2p.worker.vectorise.namespace import RUNTIME
from p2p.worker.vectorise.numpy_functions import NumPy
from p2p.worker.vectorise.python_functions import Mathematics
from p2p.worker.vectorise.rewrite import MAKING, assigned, own_nodes

# ------------------------------------------------------------------------------------------------------------ freezing
# Making what a loaded reward holds unchangeable, so that nothing of one row can reach another.


UNCHANGING = (int, float, complex, str, bytes, type(None), range, slice, Enum, np.generic, np.dtype)
CODE = (ModuleType, NumPy, Mathematics)
LANGUAGE = frozenset({"_abc", "typing", "__future__", "types", "abc", "dataclasses"})
"""Modules whose objects are part of the language."""


def _frozen_class(kind: type) -> type:
    """Subclass that refuses every change, with the name of the object."""

    def refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise Untraceable(f"keeps state in {self.place}")

    operators = {f"__{name}__" for name in ("setitem", "delitem", "iadd", "ior", "imul", "iand", "isub", "ixor")}
    members: dict[str, Any] = {name: refuse for name in MUTATORS | operators if hasattr(kind, name)}
    return type(f"Frozen{kind.__name__}", (kind,), members)


FROZEN: dict[type, Any] = {kind: _frozen_class(kind) for kind in (list, dict, set, deque)}
"""Container -> its unchangeable form."""


class Freezer:
    """Freezes everything reachable from a reward, each object once."""

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}
        self._originals: list[Any] = []

    def freeze_globals(self, names: dict[str, Any]) -> None:
        """Freeze a module's globals.

        Raises:
            NotVectorised: something in it may change in ways that cannot be seen.
        """
        for name, value in names.items():
            if name != RUNTIME and not (name.startswith("__") and name.endswith("__")):
                names[name] = self.frozen(value, name)

    def frozen(self, value: Any, place: str) -> Any:
        """The value, or its replacement.

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
        return value

    def _check(self, value: Any, place: str) -> None:
        """Accept code.

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
    """Check that a function assigns no variable of a finished one.

    Raises:
        NotVectorised: it does.
    """
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in outer:
            raise NotVectorised(f"keeps state in {instruction.argval}", code.co_firstlineno)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            _refuse_outer_writes(inner, tuple(name for name in inner.co_freevars if name in outer))


# --------------------------------------------------------------------------------------------------------------- state
# Finding, by reading, what a reward keeps from one call to the next, and what cannot be followed at all.


FORBIDDEN = frozenset({"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__dict__", "__setattr__"})
"""Names with which code changes what reading it does not show."""
Function = ast.FunctionDef


class StateSearch:
    """Search in one module.

    Args:
        tree: The module.
        entries: Names and lines of the functions that are called for every step.
    """

    def __init__(self, tree: ast.Module, entries: set[tuple[str, int]]) -> None:
        self._tree = tree
        self._around: dict[Function, Function | None] = {}
        self._note_functions(tree, None)
        self._globals = assigned(tree.body)
        # Functions that a call of the entries may run: those named in a reached one, and those inside it.
        waiting = []
        for one in self._around:
            # A code object starts at its first decorator, a node of the tree at its `def`.
            starts = [one.lineno, *(decorator.lineno for decorator in one.decorator_list)]
            if any((one.name, line) in entries for line in starts):
                waiting.append(one)
        waiting = waiting or list(self._around)
        found: list[Function] = []
        while waiting:
            function = waiting.pop()
            if function in found or function.name in MAKING:
                continue
            found.append(function)
            names = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(function)}
            waiting += [one for one, around in self._around.items() if one.name in names or around is function]
        self._reached = sorted(found, key=lambda one: one.lineno)

    def refuse(self) -> None:
        """Refuse a reward that keeps state, draws random numbers, or hides its effects.

        Raises:
            NotVectorised: with the line, and the name of what it keeps.
        """
        for node in ast.walk(self._tree):
            reason = _hidden(node)
            if reason:
                raise NotVectorised(reason, getattr(node, "lineno", None))
        for function in self._reached:
            for node in own_nodes(function.body):
                kept = self._kept(node, function)
                if kept:
                    raise NotVectorised(f"keeps state in {kept}", getattr(node, "lineno", None))

    def _note_functions(self, node: ast.AST, around: Function | None) -> None:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.FunctionDef):
                self._around[inner] = around
            self._note_functions(inner, inner if isinstance(inner, ast.FunctionDef) else around)

    def _kept(self, node: ast.AST, function: Function) -> str:
        """Longer-lived object that the node changes; empty if none."""
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            return ast.unparse(node)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return self._outliving(node.value, function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            return self._outliving(node.func.value, function)
        if isinstance(node, ast.Nonlocal):
            return next((name for name in node.names if self._outlives(name, self._around[function])), "")
        return ""

    def _outliving(self, container: ast.expr, function: Function) -> str:
        """Source of a container that outlives the call."""
        root = container
        path = False
        while isinstance(root, ast.Attribute | ast.Subscript):
            path = path or isinstance(root, ast.Attribute)
            root = root.value
        if not isinstance(root, ast.Name):
            return ""
        method = self._around[function] is None and function.args.args[:1]
        on_self = path and bool(method) and root.id == "self"
        return ast.unparse(container) if on_self or self._outlives(root.id, function) else ""

    def _outlives(self, name: str, function: Function | None) -> bool:
        """Whether a variable, seen from a function, outlives one call of the reward."""
        if function is None:
            return name in self._globals
        if function not in self._reached:
            return name in _parameters(function) or name in assigned(function.body) or self._further(name, function)
        if name in _parameters(function):
            return name in _with_mutable_default(function)
        nodes = list(own_nodes(function.body))
        declared = {name for node in nodes if isinstance(node, ast.Nonlocal) for name in node.names}
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return name not in stored - declared and self._further(name, function)

    def _further(self, name: str, function: Function) -> bool:
        return self._outlives(name, self._around[function])


def _hidden(node: ast.AST) -> str:
    """Reason why the node prevents analysis of the reward; empty if it does not."""
    if isinstance(node, ast.Global):
        return f"keeps state in {node.names[0]}"
    if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
        return "has a generator function"
    if isinstance(node, ast.Delete):
        return "deletes something"
    if isinstance(node, ast.MatchAs) and node.name:
        return f"binds {node.name} in a match statement"
    if isinstance(node, ast.Attribute) and node.attr == "random":
        return "draws random numbers"
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return f"uses {name}, which can have hidden side effects" if name in FORBIDDEN else ""


def _parameters(function: Function) -> set[str]:
    return {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}


def _with_mutable_default(function: Function) -> set[str]:
    """Parameters with a shared mutable default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {name.arg for name, value in pairs if not isinstance(value, ast.Constant | ast.Name | ast.UnaryOp)}
