"""Rewriting of a reward's source: every branch, loop, return and write becomes one that knows which rows it is for.

An `if` in the source

    if height < 0.3:
        total -= 1.0

becomes

    branch = frame.branch(height < 0.3)
    if branch.first():
        total = frame.assign(augmented("isub", total, 1.0), total)
    if branch.second():
        pass
    branch.ends()

which does the same where the test is a plain truth value, and executes both ways, each for its own rows, where it is
a batch. Line numbers stay those of the source.
"""

import ast

from p2p.worker.vectorise.assignments import Assignments
from p2p.worker.vectorise.expressions import Expressions, runtime_member
from p2p.worker.vectorise.scope import assigned, jumps, loaded, own_nodes, surely_assigned

FRAME = "_frame_"
MAKING = frozenset({"__init__", "__post_init__", "__new__", "__init_subclass__"})
"""Methods that may set attributes: they make the object."""


def rewrite(tree: ast.Module) -> ast.Module:
    """The module with all its functions rewritten; `tree` is changed."""
    found: ast.Module = _Module().visit(tree)
    return ast.fix_missing_locations(found)


class _Module(Expressions):
    """Everything outside functions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # noqa: N802
        """A function, with its own variables."""
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.args = self.visit(node.args)
        return _Function(node).rewritten()


class _Function(Assignments):
    """One function.

    Args:
        node: The function; it is changed.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        super().__init__(node, FRAME, makes_object=node.name in MAKING)
        self._node = node
        self._reads = loaded(node)
        self._early = any(isinstance(inner, ast.Return) for inner in _nested(node.body))
        """Whether it may return from inside a branch or a loop."""
        self._loops: list[str | None] = []
        """The loops around the current statement: the variable of each, None for one that is left as it is."""

    def rewritten(self) -> ast.FunctionDef:
        """The function with a frame, and its variables defined from the start."""
        body = self._node.body
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        head = body[:1] if documented else []
        statements = self.block(body[len(head) :])
        start = [self.set_name(FRAME, ast.Call(runtime_member("Frame", self._node), [], []), self._node)]
        for name in sorted(self.conditional - self.parameters - self.outer):
            start.append(self.set_name(name, runtime_member("UNBOUND", self._node), self._node))
        if self._early and surely_assigned(body) is not None:
            statements += self._return(ast.copy_location(ast.Return(ast.Constant(None)), body[-1]))
        self._node.body = [*head, *start, *statements]
        return self._node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # noqa: N802
        """A function in the function."""
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.args = self.visit(node.args)
        return _Function(node).rewritten()

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements rewritten, up to the first after which nothing is reached.

        What follows a statement in which some rows may leave is executed only if there are others.
        """
        found: list[ast.stmt] = []
        for i, statement in enumerate(statements):
            found += self._statement(statement)
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                break
            rest = statements[i + 1 :]
            if rest and self._some_may_leave(statement):
                goes_on = self.call(FRAME, "goes_on", like=rest[0])
                return [*found, ast.copy_location(ast.If(goes_on, self.block(rest), []), rest[0])]
        return found

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        form = getattr(self, f"_{type(statement).__name__.lower()}", None)
        changed = form(statement) if form is not None else self.visit(statement)
        return changed if isinstance(changed, list) else [changed]

    def _some_may_leave(self, statement: ast.stmt) -> bool:
        """Whether a return, or a jump of the loop around it, is inside the statement."""
        returns = any(isinstance(inner, ast.Return) for inner in own_nodes([statement]))
        return returns or (bool(self._loops) and jumps([statement]))

    def _inner(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A block that some rows may not execute."""
        self.depth += 1
        found = self.block(statements)
        self.depth -= 1
        return found

    def _if(self, node: ast.If) -> list[ast.stmt]:
        test, jumping = self.visit(node.test), jumps([node])
        if jumping and self._loops and self._loops[-1] is None:
            plain = ast.If(test, self._inner(node.body), self._inner(node.orelse))
            return [ast.copy_location(plain, node)]
        name, candidates = self.new_name("branch"), self._variables_of(node)
        body, orelse = self._inner(node.body), self._inner(node.orelse) or [ast.Pass()]
        first = [one for one in candidates if one in self.conditional]  # others are in code that is never reached
        statements: list[ast.stmt] = [
            self.set_name(name, self.call(FRAME, "branch", test, _tuple(first), like=node), node),
            ast.If(self.call(name, "first", like=node), body, []),
            ast.If(self.call(name, "second", like=node), orelse, []),
            ast.Expr(self.call(name, "ends", _tuple(first), like=node)),
        ]
        return [ast.copy_location(statement, node) for statement in statements]

    def _variables_of(self, node: ast.If) -> list[str]:
        """Variables that may get their first value in an `if`, on one way only, and are read after it."""
        first, second = surely_assigned(node.body), surely_assigned(node.orelse)
        sure = (first or set()) & (second or set())
        inside = loaded(node)
        maybe = assigned([node]) - sure - self.parameters - self.outer
        return sorted(name for name in maybe if self._reads.count(name) > inside.count(name))

    def _for(self, node: ast.For) -> list[ast.stmt]:
        node.iter = self.visit(node.iter)
        managed = not node.orelse and _may_be_left(node.body)
        if not managed and self.depth == 0:
            return [self._plain_loop(node)]
        item = self.new_name("item")
        target, node.target = node.target, ast.Name(item, ast.Store())
        value = ast.copy_location(ast.Name(item, ast.Load()), node)
        self.depth += 1
        unpacked = self.assign_to(target, value, node)
        self.depth -= 1
        if not managed:
            self._plain_loop(node)
            node.body = [*unpacked, *node.body]
            return [node]
        return self._managed_loop(node, unpacked, node.body)

    def _while(self, node: ast.While) -> list[ast.stmt]:
        if node.orelse:
            node.test = self.visit(node.test)
            return [self._plain_loop(node)]
        stop = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        body = node.body if endless else [ast.copy_location(stop, node), *node.body]
        for inner in (stop.test, stop.body[0]):
            ast.copy_location(inner, node)
        node.test = ast.copy_location(ast.Constant(True), node)
        return self._managed_loop(node, [], body)

    def _plain_loop(self, node: ast.For | ast.While) -> ast.stmt:
        """A loop that all rows go through alike."""
        self._loops.append(None)
        node.body = self._inner(node.body) if isinstance(node, ast.While) or self.depth else self.block(node.body)
        self._loops.pop()
        node.orelse = self._inner(node.orelse)
        return node

    def _managed_loop(self, node: ast.For | ast.While, start: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
        """A loop that rows may leave one by one."""
        name = self.new_name("loop")
        self._loops.append(name)
        over = ast.If(ast.UnaryOp(ast.Not(), self.call(name, "begins", like=node)), [ast.Break()], [])
        node.body = [ast.copy_location(over, node), *start, *self._inner(body)]
        self._loops.pop()
        return [
            self.set_name(name, self.call(FRAME, "loop", like=node), node),
            node,
            ast.copy_location(ast.Expr(self.call(name, "ends", like=node)), node),
        ]

    def _break(self, node: ast.Break) -> list[ast.stmt]:
        return self._jump(node, "leaves")

    def _continue(self, node: ast.Continue) -> list[ast.stmt]:
        return self._jump(node, "skips")

    def _jump(self, node: ast.stmt, method: str) -> list[ast.stmt]:
        name = self._loops[-1]
        if name is None:
            return [node]
        return [ast.copy_location(ast.If(self.call(name, method, like=node), [ast.Continue()], []), node)]

    def _return(self, node: ast.Return) -> list[ast.stmt]:
        value = self.visit(node.value) if node.value is not None else ast.copy_location(ast.Constant(None), node)
        if not self._early:
            return [ast.copy_location(ast.Return(value), node)]
        done = self.call(FRAME, "returns", value, like=node)
        result = ast.Attribute(ast.Name(FRAME, ast.Load()), "value", ast.Load())
        return [ast.copy_location(ast.If(done, [ast.Return(result)], []), node)]

    def _try(self, node: ast.Try) -> list[ast.stmt]:
        name = self.new_name("attempt")
        before = self.set_name(name, self.call(FRAME, "trying", like=node), node)
        node.body = self.block(node.body)
        for handler in node.handlers:
            caught = self.call(FRAME, "caught", ast.Name(name, ast.Load()), like=handler)
            handler.type = self.visit(handler.type or ast.copy_location(ast.Name("Exception", ast.Load()), handler))
            handler.body = [ast.copy_location(ast.Expr(caught), handler), *self.block(handler.body)]
        node.orelse, node.finalbody = self.block(node.orelse), self.block(node.finalbody)
        return [before, node]

    def _with(self, node: ast.With) -> list[ast.stmt]:
        node.items = [self.visit(item) for item in node.items]
        node.body = self.block(node.body)
        return [node]

    def _match(self, node: ast.Match) -> list[ast.stmt]:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = self.visit(case.guard) if case.guard else None
            case.body = self.block(case.body)
        return [node]


def _tuple(names: list[str]) -> ast.expr:
    return ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())


def _nested(statements: list[ast.stmt]) -> list[ast.AST]:
    """All nodes inside the compound statements, functions and classes left out."""
    compound = [one for one in statements if not isinstance(one, ast.Return)]
    return list(own_nodes(compound))


def _may_be_left(statements: list[ast.stmt]) -> bool:
    """Whether a loop's body has a `return`, or a `break` or `continue` of that loop inside another statement."""
    inside = [one for one in statements if not isinstance(one, ast.Break | ast.Continue)]
    return jumps(inside) or any(isinstance(node, ast.Return) for node in own_nodes(statements))
