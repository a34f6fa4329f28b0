"""Rewrite a reward's source: every branch, loop, return and write knows its rows."""

import ast
from collections.abc import Iterator
from typing import Any

from p2p.worker.vectorise.containers import MUTATORS
from p2p.worker.vectorise.namespace import RUNTIME

# --------------------------------------------------------------------------------------------------------------- scope
# What a function's variables are: which it assigns, and which hold containers of its own.


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MAKERS = frozenset(
    {"dict", "list", "set", "array", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "full_like"}
    | {"empty_like", "copy", "deque", "defaultdict", "OrderedDict", "arange", "linspace", "eye"}
)
"""Functions and methods that return a container nobody else has."""
LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def own_nodes(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes below in source order, without the insides of functions and classes."""
    waiting: list[ast.AST] = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def loaded(node: ast.AST) -> list[str]:
    """Names read anywhere below, functions included, with repetition."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)]
    changed = [inner.target for inner in ast.walk(node) if isinstance(inner, ast.AugAssign)]
    names += [target for target in changed if isinstance(target, ast.Name)]
    return [name.id for name in names]


def assigned(nodes: list[ast.stmt]) -> set[str]:
    """Variables assigned below, by augmented assignments and loops too."""
    found = set()
    for node in own_nodes(nodes):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            leaves = [leaf for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)]
            found |= {leaf.id for leaf in leaves if isinstance(leaf.ctx, ast.Store)}
    return found


def surely_assigned(nodes: list[ast.stmt]) -> set[str] | None:
    """Variables with a value after the statements; None if what follows is never reached."""
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
    """Variables with a value after an `if`, in either branch."""
    first = surely_assigned(node.body)
    second = surely_assigned(node.orelse)
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


# --------------------------------------------------------------------------------------------------------- expressions
# Rewriting of expressions: what Python decides by the truth of a value becomes a call that decides row by row.


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
        """A function that may be called for fewer rows than its surroundings."""
        fresh = self.fresh
        self.fresh = frozenset()
        self.generic_visit(node)
        self.fresh = fresh
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Conversions, filtered sums, and methods that change their receiver."""
        node = _with_tests_inside(node)
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in CONVERSIONS or (function.id == "type" and len(node.args) == 1):
                node.func = runtime_member(function.id, function)
            elif function.id == "map" and node.args and getattr(node.args[0], "id", "") in CONVERSIONS:
                node.args[0] = runtime_member(node.args[0].id, function)  # type: ignore[attr-defined]  # a Name
        elif isinstance(function, ast.Attribute) and function.attr in NUMPY_TYPES:
            node.func = runtime_member("to_type", function)
            node.args = [function, *node.args]
        elif isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            known = [self.frame_or_none(), function.value, ast.Constant(function.attr), self.is_local(function.value)]
            call = runtime_call("mutate", *known, *node.args, like=node)
            call.keywords = node.keywords
            return call
        return node

    def frame_or_none(self) -> ast.expr:
        """The frame of the enclosing function."""
        return ast.Name(self.frame, ast.Load()) if self.frame else ast.Constant(None)

    def is_local(self, container: ast.expr) -> ast.expr:
        """Whether no other call of a function has the container."""
        return ast.Constant(isinstance(container, ast.Name) and container.id in self.fresh)


def runtime_member(name: str, like: ast.AST) -> ast.expr:
    """Member of the runtime, at the place of `like`."""
    return ast.copy_location(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), like)


def runtime_call(name: str, *arguments: ast.expr, like: ast.AST) -> ast.Call:
    """Call of a runtime function, at the place of `like`."""
    return ast.copy_location(ast.Call(runtime_member(name, like), list(arguments), []), like)


def deferred(expression: ast.expr) -> ast.expr:
    """Expression as a function without arguments."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(nothing, expression), expression)


def _fixed(*expressions: ast.expr) -> bool:
    """Whether any of them cannot be moved into a lambda."""
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


# --------------------------------------------------------------------------------------------------------- assignments
# Rewriting of assignments: a variable keeps its value in the rows that do not take part.


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
        self._written: set[str] = set()
        """Variables that are written into, or changed in place."""
        for inner in own_nodes(node.body):
            if isinstance(inner, ast.AugAssign):
                self._written |= assigned([inner])
            stored = inner.value if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store) else None
            if isinstance(stored, ast.Name):
                self._written.add(stored.id)
        self._makes_object = makes_object
        self._count = 0

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """`a = value`, `a = b = value`."""
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assign_to(node.targets[0], value, node)
        name = self.new_name("value")
        found = [self.set_name(name, value, node)]
        for target in node.targets:
            found += self.assign_to(target, ast.copy_location(ast.Name(name, ast.Load()), node), node)
        return found

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        """`a: kind = value`."""
        if node.value is None:
            return [ast.copy_location(ast.Pass(), node)]
        return self.assign_to(node.target, self.visit(node.value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        """`a += value` and its like."""
        value = self.visit(node.value)
        target = node.target
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

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """`(a := value)`."""
        node.value = self._kept(node.target.id, self.visit(node.value), node)
        return node

    def assign_to(self, target: ast.expr, value: ast.expr, like: ast.stmt) -> list[ast.stmt]:
        """Statements that assign to `target`, of any form."""
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
        # A tuple of targets: every value into a new name first, then each to its target.
        assert isinstance(target, ast.Tuple | ast.List)
        names = []
        found = []
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
        """Value of a variable after an assignment by possibly only some rows."""
        old = ast.copy_location(ast.Name(name, ast.Load()), like)
        if name in self.outer:
            return self.call(self.frame, "assign_outside", value, old, like=like)
        if self.depth == 0:
            return value
        self.conditional.add(name)
        return self.call(self.frame, "assign", value, old, like=like)

    def new_name(self, noun: str) -> str:
        """Variable that the source does not use."""
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


def _key(index: ast.expr) -> ast.expr:
    """An index as a value, slices included."""
    if isinstance(index, ast.Slice):
        ends = [end or ast.Constant(None) for end in (index.lower, index.upper, index.step)]
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), ends, []), index)
    if isinstance(index, ast.Tuple):
        index.elts = [_key(part) for part in index.elts]
    return index


# ------------------------------------------------------------------------------------------------------------- rewrite
# Rewriting of a reward's source: every branch, loop, return and write becomes one that knows which rows it is for.
#
# An `if` in the source
#
#     if height < 0.3:
#         total -= 1.0
#
# becomes
#
#     branch = frame.branch(height < 0.3)
#     if branch.first():
#         total = frame.assign(augmented("isub", total, 1.0), total)
#     if branch.second():
#         pass
#     branch.ends()
#
# which does the same where the test is a plain truth value, and executes both ways, each for its own rows, where it is
# a batch. Line numbers stay those of the source.


FRAME = "_frame_"
MAKING = frozenset({"__init__", "__post_init__", "__new__", "__init_subclass__"})
"""Methods that may set attributes: they make the object."""


def rewrite(tree: ast.Module) -> ast.Module:
    """The module with all its functions rewritten; `tree` is changed."""
    found: ast.Module = _Module().visit(tree)
    return ast.fix_missing_locations(found)


class _Module(Expressions):
    """Everything outside functions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A function, with its own variables."""
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.args = self.visit(node.args)
        return _FunctionRewrite(node).rewritten()


class _FunctionRewrite(Assignments):
    """One function.

    Args:
        node: The function; it is changed.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        super().__init__(node, FRAME, makes_object=node.name in MAKING)
        self._node = node
        self._reads = loaded(node)
        compound = [one for one in node.body if not isinstance(one, ast.Return)]
        self._early = any(isinstance(inner, ast.Return) for inner in own_nodes(compound))
        """Whether it may return from inside a branch or a loop."""
        self._loops: list[str | None] = []
        """The loops around the current statement: the variable of each, None for one that is left as it is."""

    def rewritten(self) -> ast.FunctionDef:
        """The function with a frame, and its variables defined from the start."""
        body = self._node.body
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        head = body[:1] if documented else []
        statements = self.block(body[len(head) :])
        start = [self.set_name(FRAME, ast.Call(runtime_member("CallFrame", self._node), [], []), self._node)]
        for name in sorted(self.conditional - self.parameters - self.outer):
            start.append(self.set_name(name, runtime_member("UNBOUND", self._node), self._node))
        if self._early and surely_assigned(body) is not None:
            statements += self._return(ast.copy_location(ast.Return(ast.Constant(None)), body[-1]))
        self._node.body = [*head, *start, *statements]
        return self._node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A function in the function."""
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.args = self.visit(node.args)
        return _FunctionRewrite(node).rewritten()

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements rewritten, up to the first after which nothing is reached.

        What follows a statement in which some rows may leave is executed only if there are others.
        """
        found: list[ast.stmt] = []
        for i, statement in enumerate(statements):
            form = getattr(self, f"_{type(statement).__name__.lower()}", None)
            changed = form(statement) if form is not None else self.visit(statement)
            found += changed if isinstance(changed, list) else [changed]
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                break
            rest = statements[i + 1 :]
            returns = any(isinstance(inner, ast.Return) for inner in own_nodes([statement]))
            if rest and (returns or (self._loops and jumps([statement]))):
                goes_on = self.call(FRAME, "goes_on", like=rest[0])
                return [*found, ast.copy_location(ast.If(goes_on, self.block(rest), []), rest[0])]
        return found

    def _inner(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Block that some rows may skip."""
        self.depth += 1
        found = self.block(statements)
        self.depth -= 1
        return found

    def _if(self, node: ast.If) -> list[ast.stmt]:
        test = self.visit(node.test)
        jumping = jumps([node])
        if jumping and self._loops and self._loops[-1] is None:
            plain = ast.If(test, self._inner(node.body), self._inner(node.orelse))
            return [ast.copy_location(plain, node)]
        name = self.new_name("branch")
        # Variables first assigned in one branch of an `if`, and read after it.
        in_body = surely_assigned(node.body)
        in_orelse = surely_assigned(node.orelse)
        sure = (in_body or set()) & (in_orelse or set())
        inside = loaded(node)
        maybe = assigned([node]) - sure - self.parameters - self.outer
        candidates = sorted(name for name in maybe if self._reads.count(name) > inside.count(name))
        body = self._inner(node.body)
        orelse = self._inner(node.orelse) or [ast.Pass()]
        first = [one for one in candidates if one in self.conditional]  # others are in code that is never reached
        statements: list[ast.stmt] = [
            self.set_name(name, self.call(FRAME, "branch", test, _tuple(first), like=node), node),
            ast.If(self.call(name, "first", like=node), body, []),
            ast.If(self.call(name, "second", like=node), orelse, []),
            ast.Expr(self.call(name, "ends", _tuple(first), like=node)),
        ]
        return [ast.copy_location(statement, node) for statement in statements]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        node.iter = self.visit(node.iter)
        # Whether a loop's body has a `return`, or a `break` or `continue` of that loop inside another statement.
        inside = [one for one in node.body if not isinstance(one, ast.Break | ast.Continue)]
        managed = not node.orelse and (
            jumps(inside) or any(isinstance(part, ast.Return) for part in own_nodes(node.body))
        )
        if not managed and self.depth == 0:
            return [self._plain_loop(node)]
        item = self.new_name("item")
        target = node.target
        node.target = ast.Name(item, ast.Store())
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
        """Loop with the same iterations for all rows."""
        self._loops.append(None)
        node.body = self._inner(node.body) if isinstance(node, ast.While) or self.depth else self.block(node.body)
        self._loops.pop()
        node.orelse = self._inner(node.orelse)
        return node

    def _managed_loop(self, node: ast.For | ast.While, start: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
        """Loop that rows may leave one by one."""
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
        node.orelse = self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
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
