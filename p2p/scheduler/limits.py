"""The limits of a job: what its processes may take, and when its supervisor ends it. A file of its own, like that one.

max_memory_mb   of each process what it allocates, by the kernel; of all together what is resident, shared memory
                included, by looking
max_cpu_s       processor time of each process, by the kernel
max_wall_s      from its start, by looking
max_log_mb      output.log, by looking
max_disk_mb     all files in its directory, by looking
"""

import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

LOG = "output.log"
LOOK_S, LOOK_AT_FILES_S = 0.5, 5.0
MB, PAGE = 1 << 20, os.sysconf("SC_PAGE_SIZE")


class Limits:
    """The limits of a job, and the first of them that it broke.

    Args:
        spec: What `job.json` holds.
        directory: The job's.
    """

    def __init__(self, spec: Mapping[str, Any], directory: Path) -> None:
        self._spec, self._directory = spec, directory
        self._begun = self._looked = self._looked_at_files = time.monotonic()
        self.broken: str | None = None
        """Why the job was ended, in words; None while it keeps its limits."""

    def lower(self) -> None:
        """Set what the kernel watches, for this process and those it will start."""
        memory, seconds = (self._spec.get("max_memory_mb") or 0) * MB, self._spec.get("max_cpu_s") or 0
        for number, limit in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
            if limit:
                resource.setrlimit(number, (limit, limit))

    def enforce(self, family: Callable[[], Iterable[int]]) -> None:
        """Look at the job, not too often, and kill the processes of its `family` when it broke a limit."""
        if time.monotonic() - self._looked < LOOK_S:
            return
        self._looked, pids = time.monotonic(), list(family())
        self.broken = self.broken or self._reason(pids)
        for pid in pids if self.broken else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _reason(self, pids: Iterable[int]) -> str | None:
        found = [("max_wall_s", self._looked - self._begun, "ran for {:.0f} s"), *self._sizes(pids)]
        for name, value, words in found:
            if (limit := self._spec.get(name)) and value > limit:
                return f"The job was ended: it {words.format(value)}, and its limit ({name}) is {limit}."
        return None

    def _sizes(self, pids: Iterable[int]) -> Iterable[tuple[str, float, str]]:
        with suppress(OSError):
            yield "max_log_mb", (self._directory / LOG).stat().st_size / MB, "wrote {:.0f} MiB into its log"
        if self._spec.get("max_memory_mb"):
            yield "max_memory_mb", resident_mb(pids), "took {:.0f} MiB of memory"
        if self._spec.get("max_disk_mb") and self._looked - self._looked_at_files >= LOOK_AT_FILES_S:
            self._looked_at_files = self._looked
            yield "max_disk_mb", directory_mb(self._directory), "filled {:.0f} MiB of its directory"


def resident_mb(pids: Iterable[int]) -> float:
    """Memory that processes have together [MiB]; what is shared counts once, as much as the one that has most of it."""
    private, shared = 0, 0
    for pid in pids:
        with suppress(OSError, ValueError):  # ended meanwhile, or there is no /proc
            resident, common = map(int, Path(f"/proc/{pid}/statm").read_text().split()[1:3])
            private, shared = private + resident - common, max(shared, common)
    return (private + shared) * PAGE / MB


def directory_mb(directory: Path) -> float:
    """What the files in a directory and below take of the disk [MiB]; links are not followed."""
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512  # noqa: PTH118 - many files
    return total / MB
