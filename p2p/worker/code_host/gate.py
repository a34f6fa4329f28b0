"""Reading generated code before it runs: all that cannot work where it will run, with its line and the smallest fix.

It is there for its messages. What keeps the code in is the process it runs in.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from p2p.worker.code_host import forbidden

MAX_CHARACTERS = 60_000
MAX_NODES = 20_000
MAX_EXPONENT = 1_000
"""Of a whole number, written out."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that has to be changed."""

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
    """What one kind of generated code may contain.

    Args:
        imports: Modules it may import; their submodules too.
        hint: A sentence on what there is instead of other modules.
    """

    def __init__(self, imports: Sequence[str], hint: str) -> None:
        self._imports, self._hint = tuple(imports), hint

    def violations(self, tree: ast.Module) -> tuple[Violation, ...]:
        """All of them, in the order of their lines."""
        found: list[Violation] = []
        modules = _module_names(tree)
        for count, node in enumerate(ast.walk(tree)):
            if count >= MAX_NODES:
                found.append(Violation(None, f"has more than {MAX_NODES:,} parts", "Write it shorter."))
                break
            if isinstance(node, ast.Import | ast.ImportFrom):
                found += self._imported(node)
            elif (rule := RULES.get(type(node))) is not None:
                found += rule(node, modules)
        return tuple(sorted(set(found), key=lambda violation: violation.line or 0))

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[Violation]:
        if isinstance(node, ast.ImportFrom):
            names = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names]
        for name in names:
            if not any(f"{name}.".startswith(f"{allowed}.") for allowed in self._imports):
                fix = f"It may import {', '.join(self._imports)}; {self._hint}."
                yield Violation(node.lineno, f"imports {name!r}", fix)
            elif (what := forbidden.of_numpy(name)) is not None:
                yield Violation(node.lineno, f"imports {name!r}, which {what}", "Compute with arrays alone.")


Rule = Callable[[ast.AST, frozenset[str]], Iterator[Violation]]


def too_long(source: str) -> tuple[Violation, ...]:
    """What is wrong with text that is not worth parsing."""
    if len(source) <= MAX_CHARACTERS:
        return ()
    reason = f"has {len(source):,} characters, of {MAX_CHARACTERS:,} at most"
    return (Violation(None, reason, "Write it shorter."),)


def _module_names(tree: ast.Module) -> frozenset[str]:
    """Names that stand for numpy, or another module."""
    imported = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    names = {alias.asname or alias.name.partition(".")[0] for node in imported for alias in node.names}
    return frozenset(names | {"np", "numpy", "math"})


def _name(node: ast.AST, _modules: frozenset[str]) -> Iterator[Violation]:
    assert isinstance(node, ast.Name)
    if node.id in forbidden.BUILTINS:
        yield Violation(node.lineno, f"uses {node.id}", forbidden.BUILTINS[node.id])
    elif forbidden.is_hidden(node.id):
        yield Violation(node.lineno, f"uses {node.id}", "Leave out names that Python keeps for itself.")


def _attribute(node: ast.AST, modules: frozenset[str]) -> Iterator[Violation]:
    assert isinstance(node, ast.Attribute)
    path = _path(node)
    of_module = path is not None and path.partition(".")[0] in modules
    if forbidden.is_hidden(node.attr) or node.attr in forbidden.ATTRIBUTES:
        yield Violation(node.lineno, f"uses .{node.attr}", "Compute with numbers and arrays alone.")
    elif of_module and path is not None and (what := forbidden.of_numpy(f"numpy.{path.partition('.')[2]}")):
        yield Violation(node.lineno, f"uses {path}, which {what}", "Compute with arrays alone.")
    elif of_module and not isinstance(node.ctx, ast.Load):
        yield Violation(node.lineno, f"assigns {path}", "Assign to a variable, or to an attribute of self.")


def _call(node: ast.AST, _modules: frozenset[str]) -> Iterator[Violation]:
    assert isinstance(node, ast.Call)
    if not isinstance(node.func, ast.Name) or node.func.id not in forbidden.BY_NAME or len(node.args) < 2:
        return
    name = node.args[1]
    if not isinstance(name, ast.Constant):
        reason = f"calls {node.func.id} with a name that is computed"
        yield Violation(node.lineno, reason, "Write the name as text, or keep the values in a dict.")
    elif isinstance(name.value, str) and (forbidden.is_hidden(name.value) or name.value in forbidden.ATTRIBUTES):
        yield Violation(node.lineno, f"uses .{name.value}", "Compute with numbers and arrays alone.")


def _definition(node: ast.AST, _modules: frozenset[str]) -> Iterator[Violation]:
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    if node.name in forbidden.METHODS:
        yield Violation(node.lineno, f"defines {node.name}", "Do what it does in an ordinary method.")


def _power(node: ast.AST, _modules: frozenset[str]) -> Iterator[Violation]:
    assert isinstance(node, ast.BinOp)
    if not isinstance(node.op, ast.Pow) or not _is_whole(node.left):
        return
    tower = isinstance(node.right, ast.BinOp) and _is_whole(node.right.left) and _is_whole(node.right.right)
    if tower or (_is_whole(node.right) and getattr(node.right, "value", 0) > MAX_EXPONENT):
        yield Violation(node.lineno, "has a power that is too large", "Use a float, or a smaller exponent.")


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _asynchronous(node: ast.AST, _modules: frozenset[str]) -> Iterator[Violation]:
    yield Violation(getattr(node, "lineno", None), "is asynchronous", "Write it as ordinary functions.")


def _path(node: ast.Attribute) -> str | None:
    """The attribute with what is before it, "np.linalg.norm"; None when that is no plain name."""
    parts, value = [node.attr], node.value
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    return ".".join([value.id, *reversed(parts)]) if isinstance(value, ast.Name) else None


RULES: dict[type[ast.AST], Rule] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.FunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.BinOp: _power,
    **dict.fromkeys((ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await), _asynchronous),
}
"""Kind of node -> what may be wrong with it, imports apart."""
