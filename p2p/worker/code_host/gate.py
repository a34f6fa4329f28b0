"""Static check of generated code: everything that cannot work in the host, with line and smallest fix.

It is there for its messages. What keeps the code in is the process it runs in.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from p2p.worker.code_host import forbidden
from p2p.worker.code_host.modules import Modules

MAX_CHARACTERS = 60_000
MAX_NODES = 20_000
MAX_EXPONENT = 1_000
"""Of a whole number, written out."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One necessary change."""

    line: int | None
    """None for the source as a whole."""
    reason: str
    """As the beginning of a sentence: "imports 'os'"."""
    fix: str
    """A sentence."""

    @property
    def message(self) -> str:
        """Reason and fix."""
        return f"{self.reason}. {self.fix}"

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class Gate:
    """Rules for one kind of generated code.

    Args:
        imports: Modules it may import; their submodules too.
        hint: A sentence on what there is instead of other modules.
    """

    def __init__(self, imports: Sequence[str], hint: str) -> None:
        self._imports = tuple(imports)
        self._hint = hint
        self._modules = Modules(imports)

    def violations(self, tree: ast.Module) -> tuple[Violation, ...]:
        """All violations, in the order of their lines."""
        found: list[Violation] = []
        bases = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called += [argument for node in ast.walk(tree) if _is_by_name(node) for argument in node.args[:1]]
        names = self._modules.named_in(tree)
        scope = Scope(self._modules, names, frozenset(map(id, bases)), frozenset(map(id, called)))
        for count, node in enumerate(ast.walk(tree)):
            if count >= MAX_NODES:
                found.append(Violation(None, f"has more than {MAX_NODES:,} parts", "Write it shorter."))
                break
            if isinstance(node, ast.Import | ast.ImportFrom):
                found += self._imported(node)
            elif (rule := RULES.get(type(node))) is not None:
                found += rule(node, scope)
        return tuple(sorted(set(found), key=lambda violation: violation.line or 0))

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[Violation]:
        if isinstance(node, ast.ImportFrom):
            names = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names]
        for name in names:
            if not self._modules.importable(name):
                fix = f"It may import {', '.join(self._imports)}; {self._hint}."
                yield Violation(node.lineno, f"imports {name!r}", fix)
            elif (what := _of_path(name, self._modules)) is not None:
                yield Violation(node.lineno, f"imports {name!r}, which {what}", "Compute with arrays alone.")
            elif isinstance(node, ast.Import) and not self._modules.usable(name, last=True):
                yield Violation(
                    node.lineno, f"imports {name!r}, which is not for computation", "Compute with arrays alone."
                )


@dataclass(frozen=True, slots=True)
class Scope:
    """Facts about a whole source, for the rules."""

    modules: Modules
    names: Mapping[str, str]
    """Name -> the module it stands for."""
    bases: frozenset[int]
    """Ids of the nodes whose attribute is taken."""
    called: frozenset[int]
    """Ids of the nodes that are called, or handed to a function of `forbidden.BY_NAME`."""

    def is_handed_on(self, node: ast.expr) -> bool:
        """Whether the object itself is passed on: neither called nor followed by an attribute."""
        return id(node) not in self.bases and id(node) not in self.called


Rule = Callable[[ast.AST, Scope], Iterator[Violation]]


def too_long(source: str) -> tuple[Violation, ...]:
    """Problem of text that is not worth parsing."""
    if len(source) <= MAX_CHARACTERS:
        return ()
    reason = f"has {len(source):,} characters, of {MAX_CHARACTERS:,} at most"
    return (Violation(None, reason, "Write it shorter."),)


def _is_by_name(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in forbidden.BY_NAME


def _of_path(path: str, modules: Modules, *, last: bool = True) -> str | None:
    """Reason why a module's member is forbidden; None if it is allowed.

    Args:
        path: Begins with a module.
        modules: Those that may be used.
        last: Whether the path ends there, and is no part of a longer one that is looked at as well.
    """
    if (what := forbidden.of_numpy(path) or forbidden.of_numpy(modules.canonical(path))) is not None:
        return what
    if path.rpartition(".")[2] in forbidden.ATTRIBUTES:
        return "is not for computation"
    foreign = modules.foreign(path) if last else None
    return f"is the module {foreign}" if foreign is not None else None


def _name(node: ast.AST, scope: Scope) -> Iterator[Violation]:
    assert isinstance(node, ast.Name)
    if node.id in forbidden.BUILTINS:
        yield Violation(node.lineno, f"uses {node.id}", forbidden.BUILTINS[node.id])
    elif forbidden.is_hidden(node.id):
        yield Violation(node.lineno, f"uses {node.id}", "Do not use names that Python reserves.")
    elif isinstance(node.ctx, ast.Load) and scope.is_handed_on(node):
        if node.id in scope.names:
            yield Violation(node.lineno, f"uses the module {node.id} as a value", f"Use its members: {node.id}.…")
        elif node.id in forbidden.BY_NAME:
            yield Violation(
                node.lineno, f"uses {node.id} as a value", "Call it, with the name of the attribute as text."
            )


def _attribute(node: ast.AST, scope: Scope) -> Iterator[Violation]:
    assert isinstance(node, ast.Attribute)
    path = _path(node, scope)
    if forbidden.is_hidden(node.attr) or node.attr in forbidden.ATTRIBUTES:
        yield Violation(node.lineno, f"uses .{node.attr}", "Compute with numbers and arrays alone.")
    elif path is None:
        return
    elif (what := _of_path(path, scope.modules, last=id(node) not in scope.bases)) is not None:
        yield Violation(node.lineno, f"uses {ast.unparse(node)}, which {what}", "Compute with arrays alone.")
    elif not isinstance(node.ctx, ast.Load):
        yield Violation(
            node.lineno, f"assigns {ast.unparse(node)}", "Assign to a variable, or to an attribute of self."
        )
    elif scope.is_handed_on(node) and scope.modules.is_module(path):
        yield Violation(node.lineno, f"uses the module {path} as a value", f"Use its members: {ast.unparse(node)}.…")


def _call(node: ast.AST, scope: Scope) -> Iterator[Violation]:
    if not _is_by_name(node) or len(node.args) < 2:
        return
    assert isinstance(node.func, ast.Name)
    owner, name = node.args[:2]
    if not isinstance(name, ast.Constant):
        reason = f"calls {node.func.id} with a name that is computed"
        yield Violation(node.lineno, reason, "Write the name as text, or keep the values in a dict.")
    elif isinstance(name.value, str):
        taken = ast.Attribute(owner, name.value, ast.Load(), lineno=node.lineno)
        yield from _attribute(taken, scope)


def _definition(node: ast.AST, _scope: Scope) -> Iterator[Violation]:
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    if node.name in forbidden.METHODS:
        yield Violation(node.lineno, f"defines {node.name}", "Use an ordinary method.")


def _pattern(node: ast.AST, _scope: Scope) -> Iterator[Violation]:
    assert isinstance(node, ast.MatchClass)
    for name in node.kwd_attrs:
        if forbidden.is_hidden(name) or name in forbidden.ATTRIBUTES:
            yield Violation(node.lineno, f"uses .{name}", "Compute with numbers and arrays alone.")


def _power(node: ast.AST, _scope: Scope) -> Iterator[Violation]:
    assert isinstance(node, ast.BinOp)
    if not isinstance(node.op, ast.Pow) or not _is_whole(node.left):
        return
    tower = isinstance(node.right, ast.BinOp) and _is_whole(node.right.left) and _is_whole(node.right.right)
    if tower or (_is_whole(node.right) and getattr(node.right, "value", 0) > MAX_EXPONENT):
        yield Violation(node.lineno, "has a power that is too large", "Use a float, or a smaller exponent.")


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _asynchronous(node: ast.AST, _scope: Scope) -> Iterator[Violation]:
    yield Violation(getattr(node, "lineno", None), "is asynchronous", "Write it as ordinary functions.")


def _path(node: ast.Attribute, scope: Scope) -> str | None:
    """Attribute with its module, "numpy.linalg.norm"; None if it belongs to none."""
    parts: list[str] = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    if not isinstance(value, ast.Name) or value.id not in scope.names:
        return None
    return ".".join([scope.names[value.id], *reversed(parts)])


RULES: dict[type[ast.AST], Rule] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.FunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.BinOp: _power,
    ast.MatchClass: _pattern,
    **dict.fromkeys((ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await), _asynchronous),
}
"""Kind of node -> what may be wrong with it, imports apart."""
