"""What another process did with the processor while this one waited for it.

Time lost to other load is no delay. A process that waits instead of computing is ended, since a limit on processor time
never does that.
"""

import sys
import time
from pathlib import Path

PROCESS_CLOCK = 2
"""CPUCLOCK_SCHED: the processor time of a whole process, as clock_getcpuclockid(3) encodes it."""
STARVED = "RD"
"""States of /proc/<pid>/stat in which a process runs, or would if it were let: others have the processor, or the disk
does not answer."""
ASLEEP = "S"
"""The state of a process that waits."""
IDLE_LIMIT_S = 60.0
"""A call that uses no processor time for so long is ended [s]."""


class ProcessorStopwatch:
    """Measures the time of a process, one look after the other.

    Args:
        pid: Of the process.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._spent = processor_seconds(pid)

    def spent(self, waited_s: float) -> float:
        """Time of the last `waited_s` seconds that the process could use [s].

        Its processor time while it wants to run; all of it while it rests, which is its own decision, and where this
        machine does not tell.
        """
        before = self._spent
        self._spent = processor_seconds(self._pid)
        if before is None or self._spent is None or not _is_starved(self._pid):
            return waited_s
        return min(waited_s, self._spent - before)


def processor_seconds(pid: int) -> float | None:
    """Processor time of a process [s]; None if unknown or the process has ended."""
    try:
        return time.clock_gettime((~pid << 3) | PROCESS_CLOCK)
    except (OSError, OverflowError):
        return None


def _is_starved(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] in STARVED
    except (OSError, IndexError):
        return False


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
        asleep = fields[0] == ASLEEP and ticks == self._ticks
        self.seconds = self.seconds + elapsed_s if asleep else 0.0
        self._ticks = ticks
