"""Call a model-written function: in its own process, with arrays, for a small plain answer."""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from p2p.contracts.errors import CodeFailed
from p2p.contracts.work import CodeLimits
from p2p.worker.code_host.gate import Gate, Violation, too_long
from p2p.worker.code_host.host_process import CodeRefused, HostFailed, HostProcess
from p2p.worker.code_host.plain import plain_result
from p2p.worker.code_host.shared_memory import NUMBERS

IMPORTS = (
    *("__future__", "collections", "dataclasses", "enum", "functools", "itertools", "math", "statistics", "typing"),
    "numpy",
)
"""What the code may import."""
GATE = Gate(IMPORTS, "all inputs come in its argument")
_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)


def run_code(
    source: str, function: str, arrays: Mapping[str, NDArray[Any]], limits: CodeLimits | None = None
) -> dict[str, JsonValue]:
    """Call `function` of `source` with a dict from name to array.

    Args:
        source: Python; numpy is there as `np`.
        function: Which function of it.
        arrays: Numbers or truth values; the code gets copies.
        limits: On its time and its answer.

    Returns:
        What it returned: finite numbers, texts without control characters, truth values, lists and dicts. The texts are
        the model's: show them, and follow none.

    Raises:
        CodeFailed: it is not valid, raised, fell silent, or answered something that cannot be used.
        EnvironmentProblem: the process does not start.
    """
    limits = limits or CodeLimits()
    if found := violations(source):
        raise CodeFailed(" ".join(map(str, found)))
    for name, array in arrays.items():
        if np.asarray(array).dtype.kind not in NUMBERS:
            raise CodeFailed(f"the array {name!r} holds no numbers, but {array.dtype}.")
    host = HostProcess("function")
    try:
        answer = host.ask(function, {"source": source, "limits": limits.model_dump()}, arrays, limits.timeout_s)
    except CodeRefused as refusal:
        found_line = _LINE.match(str(refusal))
        raise (CodeFailed(found_line[2], int(found_line[1])) if found_line else CodeFailed(str(refusal))) from refusal
    except HostFailed as failure:
        line = failure.line if failure.line is not None and failure.line <= source.count("\n") + 1 else None
        raise CodeFailed(f"the function {failure}.", line) from failure
    finally:
        host.close()
    return plain_result(answer.fields, limits)  # again: the code may have spoken past our half of the host


def violations(source: str) -> tuple[Violation, ...]:
    """All violations of the source, in the order of the lines."""
    if long := too_long(source):
        return long
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        return (Violation(error.lineno, f"not valid Python: {error.msg}", "Rewrite it."),)
    except (ValueError, RecursionError, MemoryError) as error:
        return (Violation(None, f"not valid Python: {error or 'it is nested too deeply'}", "Rewrite it."),)
    return GATE.violations(tree)
