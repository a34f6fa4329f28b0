"""Drop the capabilities of root."""

import ctypes
import struct
from contextlib import suppress

from p2p.worker.sandbox import kernel

DAC_OVERRIDE = 1
"""To read and write files whatever their owner and mode."""
_HIGHEST = 63
_DROP_FROM_BOUNDING_SET = 24
_AMBIENT = 47
_CLEAR_AMBIENT = 4
_HEADER = struct.pack("=Ii", 0x20080522, 0)


def drop(keep: frozenset[int] = frozenset()) -> None:
    """Drop all capabilities but those in `keep`, for this process and programs it starts.

    Raises:
        OSError: the kernel refused.
    """
    for capability in set(range(_HIGHEST + 1)) - keep:
        with suppress(OSError):  # unknown to this kernel, or not ours to drop, and then it is not held either
            kernel.prctl(_DROP_FROM_BOUNDING_SET, capability)
    with suppress(OSError):
        kernel.prctl(_AMBIENT, _CLEAR_AMBIENT)
    kept = held() & sum(1 << capability for capability in keep)
    low = kept & 0xFFFFFFFF
    high = kept >> 32
    kernel.call("capset", _HEADER, struct.pack("=6I", low, low, 0, high, high, 0))


def held() -> int:
    """Usable capabilities of this process, as bits."""
    sets = ctypes.create_string_buffer(24)
    kernel.call("capget", _HEADER, sets)
    _, low, _, _, high, _ = struct.unpack("=6I", sets.raw)
    return int(high << 32 | low)
