"""What a host does when the worker has waited long enough: it tells at which line of the code it was, and ends."""

import os
import signal
from types import FrameType

import numpy as np
from numpy.typing import NDArray

REWARD_FILE, FUNCTION_FILE = "reward_fn.py", "function.py"
"""Names under which generated code is compiled, seen in tracebacks."""
LATE = 75
"""Exit code."""


def leave_at_alarm(progress: NDArray[np.int64]) -> None:
    """Take SIGALRM as the order to end; the line is written into `progress`.

    Code that never comes back to Python's interpreter is killed without one.
    """

    def leave(_number: int, frame: FrameType | None) -> None:
        progress[1] = _line(frame)
        os._exit(LATE)

    signal.signal(signal.SIGALRM, leave)


def _line(frame: FrameType | None) -> int:
    """The innermost line of the code that is being executed; -1 when none is."""
    while frame is not None and frame.f_code.co_filename not in (REWARD_FILE, FUNCTION_FILE):
        frame = frame.f_back
    return frame.f_lineno if frame is not None else -1
