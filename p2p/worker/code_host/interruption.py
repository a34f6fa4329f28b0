"""Host at the end of the worker's patience: report the current line of the code, then exit."""

import os
import signal
from types import FrameType

import numpy as np
from numpy.typing import NDArray

REWARD_FILE = "reward_fn.py"
FUNCTION_FILE = "function.py"
"""Names under which generated code is compiled, seen in tracebacks."""
LATE = 75
"""Exit code."""


def leave_at_alarm(progress: NDArray[np.int64]) -> None:
    """Exit on SIGALRM, after writing the line into `progress`.

    Code that never comes back to Python's interpreter is killed without one.
    """

    def leave(_number: int, frame: FrameType | None) -> None:
        progress[1] = _line(frame)
        os._exit(LATE)

    signal.signal(signal.SIGALRM, leave)


def _line(frame: FrameType | None) -> int:
    """Innermost line of the code under execution; -1 if none."""
    while frame is not None and frame.f_code.co_filename not in (REWARD_FILE, FUNCTION_FILE):
        frame = frame.f_back
    return frame.f_lineno if frame is not None else -1
