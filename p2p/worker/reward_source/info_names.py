"""Names that a reward's source reads from `info`."""

import ast

INFO = "info"


def names_read(source: str) -> frozenset[str] | None:
    """Names that a reward reads from `info`; None if its source does not show them.

    It tells when `info` occurs only as `info["name"]`, `info.get("name", …)` and `"name" in info` in the whole file.
    """
    tree = ast.parse(source)
    names: set[str] = set()
    known: set[ast.AST] = set()
    for node in ast.walk(tree):
        container, key = _lookup(node)
        if isinstance(container, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str):
            known.add(container)
            names.add(key.value)
    mentions = {node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == INFO}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.args]
    rewards = [function for function in functions if function.name in ("compute", "compute_batch", "reward_fn")]
    parameters = {function.args.args[-1].arg for function in rewards}
    return frozenset(names) if mentions <= known and parameters <= {INFO} else None


def texts_in(source: str) -> frozenset[str]:
    """All texts in a source: whatever names of features it has, they are among them, unless it puts them together."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()  # refused where it is loaded
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))


def _lookup(node: ast.AST) -> tuple[ast.AST | None, ast.AST | None]:
    """Container and key of a look-up; None for any other node."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        return node.func.value, node.args[0]
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        return node.comparators[0], node.left
    return None, None
