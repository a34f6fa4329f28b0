"""Rewriting of expressions: what Python decides by the truth of a value becomes a call that decides row by row."""

import ast
from typing import Any

from p2p.worker.vectorise.containers import MUTATORS
from p2p.worker.vectorise.namespace import RUNTIME

CONVERSIONS = frozenset({"float", "int", "bool"})
"""Builtins that are types too, so that only their calls are replaced."""
NUMPY_TYPES = frozenset({"float64", "float32", "int64", "int32", "bool_"})
NOT_MOVABLE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What means something else inside a lambda."""


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of a tree.

    Attributes:
        frame: Name of the variable that holds the frame of the enclosing function; None outside functions.
        fresh: Variables whose containers were made in the same call of the function.
    """

    frame: str | None = None
    fresh: frozenset[str] = frozenset()

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """`a if test else b`."""
        self.generic_visit(node)
        if _fixed(node.body, node.orelse):
            return node
        return runtime_call("if_else", node.test, deferred(node.body), deferred(node.orelse), like=node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`a and b`, `a or b`."""
        self.generic_visit(node)
        if _fixed(*node.values):
            return node
        name = "both" if isinstance(node.op, ast.And) else "either"
        return runtime_call(name, *map(deferred, node.values), like=node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not a`."""
        self.generic_visit(node)
        return runtime_call("negation", node.operand, like=node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`a < b < c`."""
        self.generic_visit(node)
        operands = [node.left, *node.comparators]
        if len(node.ops) == 1 or _fixed(*operands):
            return node
        pairs = [ast.Compare(operands[i], [op], [operands[i + 1]]) for i, op in enumerate(node.ops)]
        return runtime_call("both", *map(deferred, pairs), like=node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """A function that may be called for fewer rows than the one around it."""
        fresh, self.fresh = self.fresh, frozenset()
        self.generic_visit(node)
        self.fresh = fresh
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Conversions, sums of what passes a test, and methods that change their receiver."""
        node = _with_tests_inside(node)
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in CONVERSIONS or (function.id == "type" and len(node.args) == 1):
                node.func = runtime_member(function.id, function)
            elif function.id == "map" and node.args and getattr(node.args[0], "id", "") in CONVERSIONS:
                node.args[0] = runtime_member(node.args[0].id, function)  # type: ignore[attr-defined]  # a Name
        elif isinstance(function, ast.Attribute) and function.attr in NUMPY_TYPES:
            node.func, node.args = runtime_member("to_type", function), [function, *node.args]
        elif isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            return self._mutation(node, function)
        return node

    def _mutation(self, node: ast.Call, function: ast.Attribute) -> ast.expr:
        known = [self.frame_or_none(), function.value, ast.Constant(function.attr), self.is_local(function.value)]
        call = runtime_call("mutate", *known, *node.args, like=node)
        call.keywords = node.keywords
        return call

    def frame_or_none(self) -> ast.expr:
        """The frame of the enclosing function."""
        return ast.Name(self.frame, ast.Load()) if self.frame else ast.Constant(None)

    def is_local(self, container: ast.expr) -> ast.expr:
        """Whether no other call of a function knows the container."""
        return ast.Constant(isinstance(container, ast.Name) and container.id in self.fresh)


def runtime_member(name: str, like: ast.AST) -> ast.expr:
    """Something of the runtime, at the place of `like`."""
    return ast.copy_location(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), like)


def runtime_call(name: str, *arguments: ast.expr, like: ast.AST) -> ast.Call:
    """A call of something of the runtime, at the place of `like`."""
    return ast.copy_location(ast.Call(runtime_member(name, like), list(arguments), []), like)


def deferred(expression: ast.expr) -> ast.expr:
    """The expression as a function without arguments."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(nothing, expression), expression)


def _fixed(*expressions: ast.expr) -> bool:
    """Whether one of them cannot be moved into a lambda."""
    return any(isinstance(inner, NOT_MOVABLE) for one in expressions for inner in ast.walk(one))


def _with_tests_inside(node: ast.Call) -> ast.Call:
    """`sum(x for … if test)` as `sum(x if test else 0 for …)`, and the length of such a list as a sum."""
    if not isinstance(node.func, ast.Name) or node.func.id not in ("sum", "len") or len(node.args) != 1:
        return node
    loop = node.args[0]
    if not isinstance(loop, ast.GeneratorExp | ast.ListComp) or len(loop.generators) != 1:
        return node
    (generator,) = loop.generators
    if not generator.ifs or node.keywords:
        return node
    element: Any = loop.elt if node.func.id == "sum" else ast.Constant(1)
    test = generator.ifs[0] if len(generator.ifs) == 1 else ast.BoolOp(ast.And(), generator.ifs)
    chosen = ast.copy_location(ast.IfExp(test, element, ast.Constant(0)), loop)
    generator.ifs = []
    inside = ast.copy_location(ast.GeneratorExp(chosen, loop.generators), loop)
    function = ast.copy_location(ast.Name("sum", ast.Load()), node)
    return ast.copy_location(ast.Call(function, [inside], []), node)
