"""The size budget: modules of at most 300 lines, functions of at most 50."""

import ast
import sys
from pathlib import Path

MAX_MODULE, MAX_FUNCTION = 300, 50


def main() -> int:
    """Print what is over the budget; 1 when anything is."""
    problems = []
    for path in sorted([*Path("p2p").rglob("*.py"), *Path("p2p_mcp").rglob("*.py")]):
        source = path.read_text(encoding="utf-8")
        if (lines := source.count("\n")) > MAX_MODULE:
            problems.append(f"{path}: {lines} lines (at most {MAX_MODULE})")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION:
                    problems.append(f"{path}:{node.lineno}: {node.name} has {length} lines (at most {MAX_FUNCTION})")
    print("\n".join(problems) or "size budget: kept")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
