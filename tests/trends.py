"""How the code is built, as figures to watch from change to change; none of them is a limit.

python tests/trends.py
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parent.parent
PACKAGES = ("p2p", "p2p_mcp")


def main() -> None:
    trees = {path: ast.parse(path.read_text()) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    _show("lines by package", _lines_by_package(trees))
    n_functions = sum(isinstance(node, FUNCTIONS) for node in _nodes(trees))
    shares = {f"{name} ({n / n_functions:.1%} of all)": n for name, n in _private_functions(trees).items()}
    _show("functions", {"all": n_functions, **shares})
    _show(
        "statements",
        {
            "that assign several values side by side": sum(map(_is_packed, _nodes(trees))),
            "imports inside functions": sum(_inner_imports(tree) for tree in trees.values()),
        },
    )
    _show("folders that import one another", _cycles())


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CALLED = "private, called once"
PASSED = "private, passed as a value once"
"""A callback, a handler in a table."""
UNNAMED = "private, not named in their module"
"""Found by a decorator, or called by the base class."""
Trees = dict[Path, ast.Module]


def _show(title: str, figures: dict[str, int]) -> None:
    print(title)
    for name, figure in figures.items():
        print(f"  {figure:7,}  {name}")


def _nodes(trees: Trees) -> Iterator[ast.AST]:
    return (node for tree in trees.values() for node in ast.walk(tree))


def _lines_by_package(trees: Trees) -> dict[str, int]:
    """Lines of each folder below a package, largest first, and of all."""
    lines: Counter[str] = Counter()
    for path in trees:
        package, *folders, _ = path.relative_to(ROOT).parts
        lines["/".join([package, *folders[:1]])] += len(path.read_text().splitlines())
    return {**dict(lines.most_common()), "all": lines.total()}


def _private_functions(trees: Trees) -> dict[str, int]:
    """Functions and methods named with one underscore, by how their module uses those that it names at most once."""
    kinds = dict.fromkeys(["private", CALLED, PASSED, UNNAMED], 0)
    for tree in trees.values():
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        uses: dict[str, list[ast.AST]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute):
                uses.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append(node)
        for node in ast.walk(tree):
            if not isinstance(node, FUNCTIONS) or not node.name.startswith("_") or node.name.startswith("__"):
                continue
            kinds["private"] += 1
            match uses.get(node.name, []):
                case []:
                    kinds[UNNAMED] += 1
                case [use]:
                    kinds[CALLED if id(use) in called else PASSED] += 1
    return kinds


def _is_packed(node: ast.AST) -> bool:
    """`a, b = x, y`: a tuple of targets from a tuple of values, but for an exchange."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    target = node.targets[0]
    if not isinstance(target, ast.Tuple):
        return False
    return {ast.unparse(name) for name in target.elts} != {ast.unparse(value) for value in node.value.elts}


def _inner_imports(tree: ast.Module) -> int:
    return sum(
        isinstance(inner, ast.Import | ast.ImportFrom)
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
        for inner in ast.walk(node)
    )


def _cycles() -> dict[str, int]:
    """Pairs of sibling folders that import one another: the imports of the rarer direction."""
    graph = grimp.build_graph(*PACKAGES)
    imports: Counter[tuple[str, str]] = Counter()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            imports[_where_they_part(importer, imported)] += 1
    cycles = {}
    for (one, other), count in sorted(imports.items()):
        back = imports.get((other, one), 0)
        if one < other and back and graph.find_children(one) and graph.find_children(other):
            cycles[f"{one} ⇄ {other}"] = min(count, back)
    return cycles or {"none": 0}


def _where_they_part(importer: str, imported: str) -> tuple[str, str]:
    """The two siblings above both modules: of `p2p.a.b` and `p2p.c`, `p2p.a` and `p2p.c`."""
    one = importer.split(".")
    other = imported.split(".")
    same = 0
    while same < min(len(one), len(other)) - 1 and one[same] == other[same]:
        same += 1
    return ".".join(one[: same + 1]), ".".join(other[: same + 1])


if __name__ == "__main__":
    main()
