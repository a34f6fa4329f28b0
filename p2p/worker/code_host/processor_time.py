"""Share of a wait in which another process could run: time lost to other load is no delay."""

import time
from pathlib import Path

PROCESS_CLOCK = 2
"""CPUCLOCK_SCHED: the processor time of a whole process, as clock_getcpuclockid(3) encodes it."""
STARVED = "RD"
"""States of /proc/<pid>/stat in which a process runs, or would if it were let: others have the processor, or the disk
does not answer."""


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
