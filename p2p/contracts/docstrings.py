"""Docstrings of fields as their descriptions, read when a JSON schema or a help text is requested.

pydantic's `use_attribute_docstrings` reads the source of every class at its import: two fifths of the time to import
the contracts, in every command and every process of a training.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache

from pydantic import BaseModel


def description_of(model: type[BaseModel], name: str) -> str | None:
    """Description of a contract's field: its `description`, else its docstring."""
    return model.model_fields[name].description or descriptions(model).get(name)


@cache
def descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """Docstrings of a class's fields, each from its last declaration."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            own = _documented(base.__module__).get(base.__qualname__, {})
            for name in vars(base).get("__annotations__", {}):
                found.pop(name, None)
                if name in own:
                    found[name] = own[name]
    return found


@cache
def _documented(module: str) -> Mapping[str, Mapping[str, str]]:
    """Docstrings of fields by qualified name of their class; empty where there is no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    return dict(_classes(tree, ""))


def _classes(node: ast.AST, path: str) -> Iterator[tuple[str, dict[str, str]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            found: dict[str, str] = {}
            for statement, following in zip(child.body, child.body[1:], strict=False):
                match statement, following:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[name] = inspect.cleandoc(text)
            yield f"{path}{child.name}", found
            yield from _classes(child, f"{path}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(child, f"{path}{child.name}.<locals>.")
        else:
            yield from _classes(child, path)
