"""Detect a process that waits instead of computing: a limit on processor time never ends it."""

import sys
from pathlib import Path

LIMIT_S = 60.0
"""A call that uses no processor time for so long is ended [s]."""
_ASLEEP = "S"
"""The kernel's letter for a process that waits; one that is kept from running by others has another (R, D, T)."""


class Idleness:
    """Waiting time of a process, as reported by the kernel (Linux).

    Args:
        pid: The process.
    """

    def __init__(self, pid: int) -> None:
        self._path = Path(f"/proc/{pid}/stat")
        self._ticks = -1
        self.seconds = 0.0
        """Since it last computed, or was ready to [s]."""

    def look(self, elapsed_s: float) -> None:
        """Look again, `elapsed_s` after the last time."""
        if sys.platform != "linux":
            return
        try:
            fields = self._path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            return
        ticks = int(fields[11]) + int(fields[12])
        asleep = fields[0] == _ASLEEP and ticks == self._ticks
        self.seconds = self.seconds + elapsed_s if asleep else 0.0
        self._ticks = ticks
