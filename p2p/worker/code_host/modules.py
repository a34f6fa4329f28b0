"""Resolve names in generated code to modules, by inspecting the modules themselves.

A module holds others that it imported for itself: `dataclasses.sys`, `numpy.lib.format`. Whoever may import the one has
no use for the others.
"""

import ast
import importlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import ModuleType

ALWAYS_THERE = {"np": "numpy", "numpy": "numpy", "math": "math"}
"""Name -> module, without an import."""
_NUMPY = frozenset(
    {
        *("numpy", "numpy.linalg", "numpy.random", "numpy.fft", "numpy.polynomial", "numpy.ma", "numpy.strings"),
        *("numpy.typing", "numpy.exceptions", "numpy.dtypes", "numpy.emath", "numpy.lib.scimath"),
        *("numpy.lib.stride_tricks", "numpy.lib.recfunctions"),
        *(f"numpy.polynomial.{kind}" for kind in ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre")),
        *("numpy.polynomial.polynomial", "numpy.polynomial.polyutils"),
    }
)
"""Of numpy, the modules that compute; the others read files, or are its own."""


class Modules:
    """Modules that generated code may use.

    Args:
        imports: Modules it may import; their submodules too, those of numpy only where they compute.
    """

    def __init__(self, imports: Sequence[str]) -> None:
        self._imports = tuple(imports)

    def importable(self, name: str) -> bool:
        """Whether a dotted name is an allowed module, or a member of one."""
        return any(f"{name}.".startswith(f"{allowed}.") for allowed in self._imports)

    def foreign(self, path: str) -> str | None:
        """First forbidden module along a dotted path; None if there is none.

        Args:
            path: Begins with a module: "numpy.lib.format.open_memmap".
        """
        return next((name for name, last in self._along(path) if not self.usable(name, last=last)), None)

    def canonical(self, path: str) -> str:
        """Path with its modules under their real names: "numpy.ma.np.load" is "numpy.load"."""
        name = ""
        parts = path.split(".")
        for count, (module, _) in enumerate(self._along(path), start=1):
            name = module
            rest = parts[count:]
        return ".".join([name, *rest]) if name else path

    def named_in(self, tree: ast.Module) -> dict[str, str]:
        """Names -> modules, from the imports of a source."""
        names = dict(ALWAYS_THERE)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    path = f"{node.module}.{alias.name}"
                    if self.is_module(path):
                        names[alias.asname or alias.name] = path
        return names

    def is_module(self, path: str) -> bool:
        """Whether a dotted path ends at a module."""
        return len(list(self._along(path))) == path.count(".") + 1

    def usable(self, name: str, *, last: bool = False) -> bool:
        """Whether a module is allowed; with `last` also on its own, not only as part of a path."""
        if name.partition(".")[0] == "numpy":
            return name in _NUMPY or (not last and any(known.startswith(f"{name}.") for known in _NUMPY))
        return self.importable(name) or any(allowed.startswith(f"{name}.") for allowed in self._imports)

    def _along(self, path: str) -> Iterator[tuple[str, bool]]:
        """Modules along a path, each with whether it is the end."""
        first, *rest = path.split(".")
        if not any(f"{allowed}.".startswith(f"{first}.") for allowed in self._imports):
            return
        module = _loaded(first)
        for count in range(len(rest) + 1):
            if module is None:
                return
            following = self._child(module, rest[count]) if count < len(rest) else None
            yield module.__name__, count == len(rest) or following is None
            module = following

    def _child(self, module: ModuleType, name: str) -> ModuleType | None:
        """Submodule or module attribute of a module; None for any other name."""
        with warnings.catch_warnings(), suppress(AttributeError):
            warnings.simplefilter("ignore")
            found = getattr(module, name)
            return found if isinstance(found, ModuleType) else None
        part = f"{module.__name__}.{name}"
        return _loaded(part) if hasattr(module, "__path__") and self.usable(part) else None


def _loaded(name: str) -> ModuleType | None:
    with suppress(ImportError):
        return importlib.import_module(name)
    return None
