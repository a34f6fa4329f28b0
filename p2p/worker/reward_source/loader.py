"""Load a reward function from its source, in either of the two formats.

A file defines one subclass of `RewardFunction`, or a function `reward_fn` whose docstring gives `LaTeX:` and `Terms:`.
It may import numpy, the standard modules of `ALLOWED_IMPORTS`, and `p2p.rewards`; `np`, `numpy`, `math`,
`tolerance` and `RewardFunction` are there without an import. The simulator is not: what a reward may read comes in
`info`.
"""

import ast
import builtins
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from p2p.contracts.errors import InvalidReward
from p2p.rewards.tolerance import tolerance
from p2p.training.reward_function import Floats, RewardFunction
from p2p.worker.code_host.interruption import REWARD_FILE, last_line
from p2p.worker.reward_source.docstring import Description, read_docstring
from p2p.worker.reward_source.gate import admit, parse

MODULE = "reward_fn"
FAILURES = (Exception, SystemExit)
"""What a reward may raise and is blamed for."""

FUNCTION = "reward_fn"
"""Name a legacy reward must have."""


class LoadedReward:
    """Loaded reward: compiled once, instantiated as often as needed.

    Args:
        source: Text of the file.

    Raises:
        InvalidReward: it does not compile, imports what it may not, fails when it is executed, or defines no reward
            or several.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._code = _compile(source)
        instance = self.fresh()
        try:
            latex = instance.latex
            terms = instance.terms
            description = instance.description
        except FAILURES as error:
            raise InvalidReward(f"{at_line(error)}the reward's description raised {named(error)}.") from error
        if not isinstance(latex, str) or not isinstance(description, str):
            raise InvalidReward("`latex` and `description` must be properties that return text.")
        if not isinstance(terms, dict) or not all(isinstance(v, str) for pair in terms.items() for v in pair):
            raise InvalidReward("`terms` must be a property that returns a dict from term name to description.")
        self.description = Description(latex, dict(terms), description)

    @classmethod
    def from_file(cls, path: Path) -> "LoadedReward":
        """Load the reward in `path`.

        Raises:
            InvalidReward: there is no such file, or what is in it does not load.
        """
        return cls(read_source(path))

    def fresh(self) -> RewardFunction:
        """New instance without shared state, its module's globals included."""
        namespace: dict[str, Any] = {
            "__name__": MODULE,
            "__builtins__": builtins,
            "np": np,
            "numpy": np,
            "math": math,
            "RewardFunction": RewardFunction,
            "tolerance": tolerance,
        }
        return _execute(self._code, namespace)

    def tree(self) -> ast.Module:
        """The source, parsed anew."""
        return parse(self.source)

    def made_from(self, tree: ast.Module, namespace: dict[str, Any]) -> RewardFunction:
        """Instance of a changed source, in its own namespace.

        Args:
            tree: The source as it is to be executed.
            namespace: Globals to execute it in; it is changed.

        Raises:
            InvalidReward: it fails when it is executed.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(tree, REWARD_FILE, "exec", dont_inherit=True)
        return _execute(code, namespace)


def at_line(error: BaseException) -> str:
    """ "line N: " of the reward's source in the traceback of `error`; empty if absent."""
    line = line_of(error)
    return "" if line is None else f"line {line}: "


def line_of(error: BaseException) -> int | None:
    """Last line of a reward's source in the traceback of `error`."""
    return last_line(error, REWARD_FILE)


class LegacyReward(RewardFunction):
    """A plain function as a reward.

    Args:
        function: What computes it; its docstring describes it.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self._said = read_docstring(function.__doc__)

    def compute(
        self, obs: Floats, action: Floats, next_obs: Floats, info: Mapping[str, Any]
    ) -> tuple[float, dict[str, float]]:
        """Result of the function."""
        result: tuple[float, dict[str, float]] = self.function(obs, action, next_obs, info)
        return result

    @property
    def latex(self) -> str:
        """Formula in its docstring."""
        return self._said.latex

    @property
    def terms(self) -> dict[str, str]:
        """Terms in its docstring."""
        return self._said.terms

    @property
    def description(self) -> str:
        """Text in its docstring."""
        return self._said.words


def _execute(code: CodeType, namespace: dict[str, Any]) -> RewardFunction:
    try:
        exec(code, namespace)
        return _find(namespace)
    except InvalidReward:
        raise
    except FAILURES as error:
        raise InvalidReward(f"{at_line(error)}the reward raised {named(error)} while it was loaded.") from error


def read_source(path: Path) -> str:
    """The text of a reward.

    Raises:
        InvalidReward: there is no such file, or it is no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidReward(f"Cannot read the reward function {path}: {error}.") from error


def _compile(source: str) -> CodeType:
    tree = admit(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(tree, REWARD_FILE, "exec", dont_inherit=True)
    except SyntaxError as error:
        place = "" if error.lineno is None else f"line {error.lineno}: "
        raise InvalidReward(f"{place}not valid Python: {error.msg}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidReward(f"not valid Python: {error or 'it is nested too deeply'}.") from error


def _find(namespace: Mapping[str, Any]) -> RewardFunction:
    """The only reward in a file."""
    classes = [
        value
        for value in namespace.values()
        if isinstance(value, type) and issubclass(value, RewardFunction) and value.__module__ == MODULE
    ]
    leaves = [cls for cls in classes if not any(other is not cls and issubclass(other, cls) for other in classes)]
    function = namespace.get(FUNCTION)
    found = [cls.__name__ for cls in leaves] + ([FUNCTION] if callable(function) else [])
    if not found:
        raise InvalidReward(
            f"no reward found: expected one class derived from RewardFunction, or a function {FUNCTION}"
            "(obs, action, next_obs, info) -> (float, dict[str, float])."
        )
    if len(found) > 1:
        raise InvalidReward(f"several rewards found: {', '.join(found)}. Keep one per file.")
    return _instantiate(leaves[0]) if leaves else LegacyReward(function)


def _instantiate(cls: type[RewardFunction]) -> RewardFunction:
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise InvalidReward(f"class {cls.__name__} lacks {', '.join(missing)}: define {them}.")
    try:
        return cls()
    except TypeError as error:
        raise InvalidReward(f"{at_line(error)}{cls.__name__}() must work without arguments: {error}.") from error


def named(error: BaseException) -> str:
    """Type and message of an error."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
