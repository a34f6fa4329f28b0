"""Finding, by reading, what a reward keeps from one call to the next, and what cannot be followed at all."""

import ast

from p2p.worker.vectorise.containers import MUTATORS
from p2p.worker.vectorise.refusal import NotVectorised
from p2p.worker.vectorise.rewrite import MAKING
from p2p.worker.vectorise.scope import assigned, own_nodes

FORBIDDEN = frozenset({"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__dict__", "__setattr__"})
"""Names with which code changes what reading it does not show."""
Function = ast.FunctionDef


class StateSearch:
    """The search in one module.

    Args:
        tree: The module.
        entries: Names and lines of the functions that are called for every step.
    """

    def __init__(self, tree: ast.Module, entries: set[tuple[str, int]]) -> None:
        self._tree = tree
        self._around: dict[Function, Function | None] = {}
        self._note_functions(tree, None)
        self._globals = assigned(tree.body)
        self._reached = self._reach(entries)

    def refuse(self) -> None:
        """Refuse a reward that remembers something, draws random numbers, or hides what it does.

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

    def _reach(self, entries: set[tuple[str, int]]) -> list[Function]:
        """The functions that a call of the entries may run: those named in one that is reached, and those inside it."""
        waiting = [one for one in self._around if {(one.name, line) for line in _lines(one)} & entries]
        waiting = waiting or list(self._around)
        found: list[Function] = []
        while waiting:
            function = waiting.pop()
            if function in found or function.name in MAKING:
                continue
            found.append(function)
            names = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(function)}
            waiting += [one for one, around in self._around.items() if one.name in names or around is function]
        return sorted(found, key=lambda one: one.lineno)

    def _kept(self, node: ast.AST, function: Function) -> str:
        """What the node changes that lives longer than the call; empty when nothing."""
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
        """The container as written, when it lives longer than the call."""
        root, path = container, False
        while isinstance(root, ast.Attribute | ast.Subscript):
            path = path or isinstance(root, ast.Attribute)
            root = root.value
        if not isinstance(root, ast.Name):
            return ""
        method = self._around[function] is None and function.args.args[:1]
        on_self = path and bool(method) and root.id == "self"
        return ast.unparse(container) if on_self or self._outlives(root.id, function) else ""

    def _outlives(self, name: str, function: Function | None) -> bool:
        """Whether a variable, seen from a function, lives longer than one call of the reward."""
        if function is None:
            return name in self._globals
        if function not in self._reached:
            return name in _parameters(function) or name in assigned(function.body) or self._further(name, function)
        if name in _parameters(function):
            return name in _with_mutable_default(function)
        return name not in _own_variables(function) and self._further(name, function)

    def _further(self, name: str, function: Function) -> bool:
        return self._outlives(name, self._around[function])


def _hidden(node: ast.AST) -> str:
    """Why the node rules out following the reward, wherever it stands; empty when it does not."""
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
    return f"uses {name}, which can change things out of sight" if name in FORBIDDEN else ""


def _lines(function: Function) -> list[int]:
    """Lines on which Python may say that the function begins."""
    return [function.lineno, *(decorator.lineno for decorator in function.decorator_list)]


def _parameters(function: Function) -> set[str]:
    return {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}


def _own_variables(function: Function) -> set[str]:
    """Variables that begin and end with a call."""
    declared = {name for node in own_nodes(function.body) if isinstance(node, ast.Nonlocal) for name in node.names}
    targets = {node.id for node in own_nodes(function.body) if isinstance(node, ast.Name) and _is_stored(node)}
    return targets - declared


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _with_mutable_default(function: Function) -> set[str]:
    """Parameters whose default is made once and shared by all calls."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {name.arg for name, value in pairs if not isinstance(value, ast.Constant | ast.Name | ast.UnaryOp)}
