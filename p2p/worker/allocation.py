"""How the C library hands out memory in this process."""

import ctypes
import sys

LARGE_BYTES = 1 << 20
_M_MMAP_THRESHOLD = -3


def return_large_arrays() -> None:
    """Have arrays of 1 MB and more given back to the system when they are freed.

    glibc would do so at first, and then keep room for the largest one freed so far (mallopt(3), M_MMAP_THRESHOLD):
    2 MB in a training of HalfCheetah, 15 MB in one of Humanoid with all observations.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
