"""Resource use of this process."""

import os
import resource
import sys
import time
from pathlib import Path


def peak_memory_mb() -> int:
    """Largest resident memory of this process so far [MiB]."""
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)
    # getrusage would count what the process was before it ran this program
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


def age_s() -> float:
    """Seconds since the start of this process, to 0.01 s; processor time on systems without /proc."""
    if sys.platform != "linux":
        return time.process_time()
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # field 22 of proc(5), since boot
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started
