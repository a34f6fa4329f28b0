"""Attributes that a reward reads and never updates, found in its source."""

import ast
from collections.abc import Iterator

from p2p.contracts.reward import RewardIssue

SETTERS = ("__init__", "reset")
"""Methods in which an attribute is given its first value."""
EMPTY = (None, False, 0)
"""First values of what is still to be filled; a constant, such as a target, has a value of its own."""


def audit_state(source: str) -> list[RewardIssue]:
    """Attributes that begin empty, are read, and are never assigned again.

    Args:
        source: Of the reward; nothing is found in what is not valid Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return [issue for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for issue in _stale(node)]


def remembers(source: str) -> bool:
    """Whether a reward assigns to an attribute of `self` outside its initialisation."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name not in SETTERS]
    return any(_own(part) and not _loads(part) for method in methods for part in ast.walk(method))


def _loads(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _stale(node: ast.ClassDef) -> Iterator[RewardIssue]:
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    empty = {name: value for method in methods if method.name in SETTERS for name, value in _emptied(method)}
    uses = [part for method in methods if method.name not in SETTERS for part in ast.walk(method) if _own(part)]
    changed = {_own(part) for part in uses if not _loads(part)}
    for name in sorted({name for part in uses if (name := _own(part)) in empty} - changed):
        value = ast.unparse(empty[name])
        yield RewardIssue(
            severity="warning",
            message=f"self.{name} is set to {value} and never changed: whatever reads it sees {value} at every step. "
            f"Assign to self.{name} at the end of compute, or leave it out. Each episode begins with a new instance, "
            "so nothing has to be reset.",
            line=empty[name].lineno,
        )


def _emptied(method: ast.FunctionDef) -> Iterator[tuple[str, ast.Constant]]:
    for part in ast.walk(method):
        if isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            names = [name for target in targets if (name := _own(target))]
            if isinstance(part.value, ast.Constant) and part.value.value in EMPTY:
                yield from ((name, part.value) for name in names)


def _own(node: ast.AST) -> str:
    """Name of the attribute of `self` that a node is; empty for any other node."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own and isinstance(node, ast.Attribute) else ""
