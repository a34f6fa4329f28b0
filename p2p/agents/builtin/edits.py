"""Safe edits of a reward's source: numbers in its tables, and new entries at their ends."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

IMPORT = "from p2p.rewards.tolerance import tolerance\n"


@dataclass(frozen=True, slots=True)
class NewTerm:
    """A summand to add: `sign * weights[name] * expression`."""

    name: str
    weight: float
    expression: str
    description: str
    sign: int = 1


def read_table(source: str, table: str) -> dict[str, float]:
    """Numbers of a literal table such as `weights = {"forward": 1.0}`; empty if there is none."""
    found = _table(source, table)
    if found is None:
        return {}
    return {key: number for key, value in _entries(found) if (number := _number(value)) is not None}


def set_number(source: str, table: str, name: str, value: float) -> str | None:
    """Change one number of a table; None if there is no such number."""
    found = _table(source, table)
    for key, node in _entries(found) if found else ():
        if key == name and _number(node) is not None:
            start, end = _span(source, node)
            return _parsing(_spliced(source, start, end, repr(value)))
    return None


def terms_reading(source: str, features: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the terms that read one of these features, by way of definitions too.

    Those that read most of them come first, and of two that read as many, that which reads less besides: what is paid
    for being upright has more to do with a fall than what is paid for speed as long as it is upright.
    """
    node = _compute_terms(source)
    if node is None:
        return ()
    wanted = {repr(name) for name in features}
    defined = {
        name: statement.value
        for statement in _body(source, "compute")
        if isinstance(statement, ast.Assign) and (name := _assigned(statement)) is not None
    }
    found = []
    for name, value in _entries(node):
        read = _subscripts(value, defined)
        if read & wanted:
            found.append((-len(read & wanted), len(read), name))
    return tuple(name for *_, name in sorted(found, key=lambda one: one[:2]))


def fines(source: str) -> frozenset[str]:
    """Names of the terms that are subtracted: products whose first factor is negated."""
    node = _compute_terms(source)
    return frozenset(name for name, value in _entries(node) if _negated(value)) if node is not None else frozenset()


def add_term(source: str, term: NewTerm) -> str | None:
    """Add a term to the weights, the sum and the descriptions; None if these tables are missing."""
    sign = "-" if term.sign < 0 else ""
    summand = f'{sign}self.weights["{term.name}"] * {term.expression}'
    changed: str | None = source
    for find, text in (
        (_described_terms, repr(term.description).replace("'", '"')),
        (_compute_terms, summand),
        (lambda code: _table(code, "weights"), repr(term.weight)),
    ):
        if changed is None or (node := find(changed)) is None or term.name in dict(_entries(node)):
            return None
        changed = _with_entry(changed, node, term.name, text)
    return _parsing(_with_import(changed)) if changed else None


def _negated(value: ast.expr) -> bool:
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div):
        value = value.left
    return isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _parsing(source: str) -> str | None:
    return source if _tree(source) is not None else None


def _table(source: str, name: str) -> ast.Dict | None:
    """The dictionary literal assigned to `name` in a class body."""
    tree = _tree(source)
    for scope in ast.walk(tree) if tree else ():
        if isinstance(scope, ast.ClassDef):
            for statement in scope.body:
                if _assigned(statement) == name and isinstance(statement, ast.Assign | ast.AnnAssign):
                    return statement.value if isinstance(statement.value, ast.Dict) else None
    return None


def _assigned(statement: ast.stmt) -> str | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names[0] if len(names) == 1 else None


def _compute_terms(source: str) -> ast.Dict | None:
    """The literal assigned to `terms` in `compute`."""
    for statement in _body(source, "compute"):
        if isinstance(statement, ast.Assign) and _assigned(statement) == "terms":
            return statement.value if isinstance(statement.value, ast.Dict) else None
    return None


def _described_terms(source: str) -> ast.Dict | None:
    """The literal that the property `terms` returns."""
    for statement in _body(source, "terms"):
        if isinstance(statement, ast.Return):
            return statement.value if isinstance(statement.value, ast.Dict) else None
    return None


def _body(source: str, function: str) -> list[ast.stmt]:
    tree = _tree(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return node.body
    return []


def _entries(node: ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value, value


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _subscripts(node: ast.expr, defined: Mapping[str, ast.expr]) -> set[str]:
    """What an expression looks up by name, in its definitions too."""
    parts = list(ast.walk(node))
    found = {ast.unparse(part.slice) for part in parts if isinstance(part, ast.Subscript)}
    names = {part.id for part in parts if isinstance(part, ast.Name)} & defined.keys()
    rest = {name: value for name, value in defined.items() if name not in names}
    return found.union(*(_subscripts(defined[name], rest) for name in names))


def _span(source: str, node: ast.expr) -> tuple[int, int]:
    """Byte offsets of a node; ast counts columns in UTF-8 bytes."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    end_line = node.end_lineno or node.lineno
    end_column = node.end_col_offset or node.col_offset
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column


def _spliced(source: str, start: int, end: int, text: str) -> str:
    data = source.encode()
    return (data[:start] + text.encode() + data[end:]).decode()


def _with_entry(source: str, node: ast.Dict, name: str, text: str) -> str | None:
    if not node.values or node.keys[0] is None:
        return None
    _, end = _span(source, node.values[-1])
    data = source.encode()
    position = end
    while position < len(data) and data[position : position + 1] in b" \t\r\n)":
        position += 1
        end = position if data[position - 1 : position] == b")" else end
    one_line = node.lineno == node.end_lineno
    gap = ", " if one_line else ",\n" + " " * node.keys[0].col_offset
    return _parsing(_spliced(source, end, end, f'{gap}"{name}": {text}'))


def _with_import(source: str) -> str:
    if IMPORT.strip() in source:
        return source
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if not imports:
        return IMPORT + source
    lines = source.splitlines(keepends=True)
    lines.insert(imports[-1].lineno - 1, IMPORT)
    return "".join(lines)
