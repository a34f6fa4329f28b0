"""How many of the recorded steps a video shows."""

import math
from fractions import Fraction

MAX_FPS = 30
"""More frames per second show nothing more [1/s]."""


def frame_rate(dt: float) -> tuple[int, Fraction]:
    """Control steps per frame, and exact frames per second, at most 30.

    Args:
        dt: Control period [s].
    """
    period = Fraction(dt).limit_denominator(1_000_000)
    every = max(1, math.ceil(1 / (MAX_FPS * period)))
    return every, 1 / (every * period)
