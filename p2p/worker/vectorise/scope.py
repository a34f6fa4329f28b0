"""What a function's variables are: which it assigns, and which hold containers of its own."""

import ast
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MAKERS = frozenset(
    {"dict", "list", "set", "array", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "full_like"}
    | {"empty_like", "copy", "deque", "defaultdict", "OrderedDict", "arange", "linspace", "eye"}
)
"""Functions and methods that return a container nobody else has."""
LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def own_nodes(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes below in the order of the source, but for the insides of functions and classes."""
    waiting: list[ast.AST] = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def loaded(node: ast.AST) -> list[str]:
    """Names that are read anywhere below, functions included; as often as they are read."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)]
    changed = [inner.target for inner in ast.walk(node) if isinstance(inner, ast.AugAssign)]
    names += [target for target in changed if isinstance(target, ast.Name)]
    return [name.id for name in names]


def assigned(nodes: list[ast.stmt]) -> set[str]:
    """Variables that get a value below by assignments, augmented or not, and by loops."""
    found = set()
    for node in own_nodes(nodes):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            leaves = [leaf for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)]
            found |= {leaf.id for leaf in leaves if isinstance(leaf.ctx, ast.Store)}
    return found


def surely_assigned(nodes: list[ast.stmt]) -> set[str] | None:
    """Variables that have a value after the statements; None where what follows is never reached."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, LEAVING):
            return None
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found |= assigned([node])
        if isinstance(node, ast.If):
            both = surely_in_both(node)
            if both is None:
                return None
            found |= both
    return found


def surely_in_both(node: ast.If) -> set[str] | None:
    """Variables that have a value after an `if`, whichever way it went."""
    first, second = surely_assigned(node.body), surely_assigned(node.orelse)
    if first is None or second is None:
        return second if first is None else first
    return first & second


def fresh_containers(function: ast.FunctionDef) -> frozenset[str]:
    """Variables that only ever hold containers made in the function itself."""
    made: set[str] = set()
    other = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    for node in own_nodes(function.body):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            alone = len(targets) == 1 and isinstance(targets[0], ast.Name) and is_made(node.value)
            (made if alone else other).update(assigned([node]))
        elif isinstance(node, ast.For | ast.NamedExpr):
            other |= {leaf.id for leaf in ast.walk(node.target) if isinstance(leaf, ast.Name)}
        elif isinstance(node, ast.Global | ast.Nonlocal):
            other |= set(node.names)
    return frozenset(made - other)


def is_made(value: ast.expr) -> bool:
    """Whether the expression makes a new container."""
    if isinstance(value, ast.Call):
        function = value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name in MAKERS
    if isinstance(value, ast.BinOp):
        return is_made(value.left) or is_made(value.right)
    return isinstance(value, (ast.Dict, ast.List, ast.Set, *COMPREHENSIONS))


def jumps(nodes: list[ast.stmt]) -> bool:
    """Whether a `break` or `continue` of the loop the statements are in is among them."""
    for node in nodes:
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if isinstance(node, ast.For | ast.While | ast.FunctionDef | ast.ClassDef):
            continue
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        if any(jumps(block) for block in blocks):
            return True
    return False
