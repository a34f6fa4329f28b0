"""Host service that calls a measuring function once, with arrays."""

import builtins
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import CodeFailed
from p2p.contracts.work import CodeLimits
from p2p.worker.code_host.interruption import FUNCTION_FILE, last_line
from p2p.worker.code_host.plain import plain_result
from p2p.worker.code_host.serve import Result


class FunctionService:
    """Functions, each called once. The other end is `run_code`.

    Args:
        progress: What a host tells on the way; nothing here.
    """

    def __init__(self, progress: NDArray[np.int64]) -> None:
        self._progress = progress

    def answer(self, operation: str, fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Result:
        """Call a function with copies of the arrays; `operation` is its name.

        Raises:
            CodeFailed: it is not there, raised, or returned something that cannot be used.
        """
        names: dict[str, Any] = {
            "__name__": "function",
            "__builtins__": builtins,
            "np": np,
            "numpy": np,
            "math": math,
        }
        try:
            exec(compile(fields["source"], FUNCTION_FILE, "exec", dont_inherit=True), names)
            if not callable(names.get(operation)):
                raise CodeFailed(f"there is no function {operation!r} in the source. Define it.")
            value = names[operation]({name: array.copy() for name, array in arrays.items()})
            return plain_result(value, CodeLimits.model_validate(fields["limits"])), None
        except CodeFailed:
            raise
        except BaseException as error:  # the code may raise what it likes; nobody else is here
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise CodeFailed(f"the function raised {text}.", last_line(error, FUNCTION_FILE)) from error
