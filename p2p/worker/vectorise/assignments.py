"""Rewriting of assignments: a variable keeps its value in the rows that do not take part."""

import ast

from p2p.worker.vectorise.expressions import Expressions, runtime_call
from p2p.worker.vectorise.scope import assigned, fresh_containers, is_made, own_nodes


class Assignments(Expressions):
    """Rewrites the assignments of one function.

    Args:
        node: The function.
        frame: Name of the variable that holds its frame.
        makes_object: Whether it may set attributes.
    """

    def __init__(self, node: ast.FunctionDef, frame: str, makes_object: bool) -> None:
        self.frame: str = frame
        self.fresh = fresh_containers(node)
        self.depth = 0
        """How many blocks deep the current statement is, of those that some rows may not execute."""
        self.conditional: set[str] = set()
        """Variables assigned where some rows may not take part."""
        self.parameters = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        declared = [inner for inner in own_nodes(node.body) if isinstance(inner, ast.Nonlocal | ast.Global)]
        self.outer = {name for inner in declared for name in inner.names}
        """Variables of enclosing functions."""
        self._written = _written_arrays(node)
        self._makes_object = makes_object
        self._count = 0

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:  # noqa: N802
        """`a = value`, `a = b = value`."""
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assign_to(node.targets[0], value, node)
        name = self.new_name("value")
        found = [self.set_name(name, value, node)]
        for target in node.targets:
            found += self.assign_to(target, ast.copy_location(ast.Name(name, ast.Load()), node), node)
        return found

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:  # noqa: N802
        """`a: kind = value`."""
        if node.value is None:
            return [ast.copy_location(ast.Pass(), node)]
        return self.assign_to(node.target, self.visit(node.value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:  # noqa: N802
        """`a += value` and its like."""
        value, target = self.visit(node.value), node.target
        operator = ast.Constant(OPERATORS[type(node.op)])
        if isinstance(target, ast.Subscript):
            where = [self.visit(target.value), _key(self.visit(target.slice))]
            known = [self.frame_or_none(), operator, *where, value, self.is_local(target.value)]
            return [ast.copy_location(ast.Expr(runtime_call("augmented_item", *known, like=node)), node)]
        if isinstance(target, ast.Name):
            old: ast.expr = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        else:
            old = ast.copy_location(ast.Attribute(self.visit(target.value), target.attr, ast.Load()), target)
        known = [self.frame_or_none(), operator, old, value, self.is_local(old)]
        return self.assign_to(target, runtime_call("augmented", *known, like=node), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:  # noqa: N802
        """`(a := value)`."""
        node.value = self._kept(node.target.id, self.visit(node.value), node)
        return node

    def assign_to(self, target: ast.expr, value: ast.expr, like: ast.stmt) -> list[ast.stmt]:
        """Statements that give `target`, of any form, its value."""
        if isinstance(target, ast.Name):
            if target.id in self._written and is_made(value):
                value = runtime_call("own", value, like=like)
            return [self.set_name(target.id, self._kept(target.id, value, like), like)]
        if isinstance(target, ast.Subscript):
            where = [self.visit(target.value), _key(self.visit(target.slice))]
            call = runtime_call("store", self.frame_or_none(), *where, value, self.is_local(target.value), like=like)
            return [ast.copy_location(ast.Expr(call), like)]
        if isinstance(target, ast.Attribute):
            return [self._attribute(target, value, like)]
        return self._unpacked(target, value, like)

    def _unpacked(self, target: ast.expr, value: ast.expr, like: ast.stmt) -> list[ast.stmt]:
        """A tuple of targets: first into new names, then each to its own."""
        assert isinstance(target, ast.Tuple | ast.List)
        names, found = [], []
        for part in target.elts:
            name = self.new_name("part")
            starred = isinstance(part, ast.Starred)
            inner = part.value if isinstance(part, ast.Starred) else part
            stored: ast.expr = ast.Name(name, ast.Store())
            names.append(ast.Starred(stored, ast.Store()) if starred else stored)
            found += self.assign_to(inner, ast.copy_location(ast.Name(name, ast.Load()), like), like)
        all_names = ast.copy_location(ast.Tuple(names, ast.Store()), target)
        return [ast.copy_location(ast.Assign([all_names], value), like), *found]

    def _attribute(self, target: ast.Attribute, value: ast.expr, like: ast.stmt) -> ast.stmt:
        receiver = self.visit(target.value)
        if self._makes_object:
            stored = ast.copy_location(ast.Attribute(receiver, target.attr, ast.Store()), target)
            return ast.copy_location(ast.Assign([stored], value), like)
        text = ast.Constant(ast.unparse(target))
        call = runtime_call("set_attribute", receiver, ast.Constant(target.attr), value, text, like=like)
        return ast.copy_location(ast.Expr(call), like)

    def _kept(self, name: str, value: ast.expr, like: ast.AST) -> ast.expr:
        """The value of a variable after an assignment that perhaps not all rows take part in."""
        old = ast.copy_location(ast.Name(name, ast.Load()), like)
        if name in self.outer:
            return self.call(self.frame, "assign_outside", value, old, like=like)
        if self.depth == 0:
            return value
        self.conditional.add(name)
        return self.call(self.frame, "assign", value, old, like=like)

    def new_name(self, noun: str) -> str:
        """A variable that the source does not have."""
        self._count += 1
        return f"_{noun}_{self._count}_"

    def set_name(self, name: str, value: ast.expr, like: ast.AST) -> ast.stmt:
        """The statement `name = value` at the place of `like`."""
        target = ast.copy_location(ast.Name(name, ast.Store()), like)
        return ast.copy_location(ast.Assign([target], value), like)

    def call(self, variable: str, method: str, *arguments: ast.expr, like: ast.AST) -> ast.expr:
        """The call of a method of a variable at the place of `like`."""
        member = ast.Attribute(ast.Name(variable, ast.Load()), method, ast.Load())
        return ast.copy_location(ast.Call(member, list(arguments), []), like)


OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.MatMult: "imatmul",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
}


def _written_arrays(node: ast.FunctionDef) -> set[str]:
    """Variables that are written into, or changed in place."""
    found = set()
    for inner in own_nodes(node.body):
        if isinstance(inner, ast.AugAssign):
            found |= assigned([inner])
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store) and isinstance(inner.value, ast.Name):
            found.add(inner.value.id)
    return found


def _key(index: ast.expr) -> ast.expr:
    """An index as a value, slices included."""
    if isinstance(index, ast.Slice):
        ends = [end or ast.Constant(None) for end in (index.lower, index.upper, index.step)]
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), ends, []), index)
    if isinstance(index, ast.Tuple):
        index.elts = [_key(part) for part in index.elts]
    return index
