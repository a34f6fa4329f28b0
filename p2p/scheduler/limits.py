"""Resource use and limits of a job's processes. Imports nothing of p2p: the supervisor loads it by path.

max_memory_mb      of each process what it allocates, by the kernel; of all together what is resident, shared memory
                   included, by looking
max_memory_share   what is resident of all together, of this machine's memory, by looking
max_cpu_s          processor time of each process, by the kernel
max_wall_s         from its start, by looking
max_log_mb         output.log, by looking
max_disk_mb        all files in its directory, by looking
"""

import os
import resource
import runpy
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

LOG = "output.log"
LOOK_S = 0.5
LOOK_AT_FILES_S = 5.0
ALWAYS_MB = 1024
"""Memory that a share allows on any machine; where there is less, the kernel decides."""
REMEDY = {"max_memory_share": " Set fewer n_envs or n_steps, or P2P_MAX_MEMORY_SHARE higher."}
AUTOGROUP_TRIES = 5
LOOK_SHARE = 0.01
"""Most of one core that looking may take."""
MB = 1 << 20


class Limits:
    """A job's limits, the first one it broke, and its peak memory.

    Args:
        spec: What `job.json` holds.
        directory: The job's.
    """

    def __init__(self, spec: Mapping[str, Any], directory: Path) -> None:
        self._spec = dict(spec)
        self._directory = directory
        if share := spec.get("max_memory_share"):
            self._spec["max_memory_share"] = round(max(ALWAYS_MB, share * machine_mb()))
        self._begun = self._looked = self._looked_at_files = time.monotonic()
        self._pause_s = LOOK_S
        self.broken: str | None = None
        """Why the job was ended, in words; None while it keeps its limits."""
        self._memory = Memory()
        self.peak_memory_mb: int | None = None
        """The largest sum of what each of its processes had at most, shared memory once [MiB]; None without /proc."""

    def lower(self) -> None:
        """Set kernel limits and niceness for this process and its children."""
        memory = (self._spec.get("max_memory_mb") or 0) * MB
        seconds = self._spec.get("max_cpu_s") or 0
        for number, limit in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
            if limit:
                resource.setrlimit(number, (limit, limit))
        if niceness := self._spec.get("niceness", 0):
            give_way(niceness)

    def enforce(self, family: Callable[[], Iterable[int]]) -> None:
        """Check the job at intervals; kill the processes of its `family` once it breaks a limit."""
        if time.monotonic() - self._looked < self._pause_s:
            return
        self._looked = time.monotonic()
        pids = list(family())
        now_mb, peak_mb = self._memory.look(pids)
        self.peak_memory_mb = max(self.peak_memory_mb or 0, round(peak_mb)) or None
        self.broken = self.broken or self._reason(now_mb)
        for pid in pids if self.broken else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self._pause_s = max(LOOK_S, (time.monotonic() - self._looked) / LOOK_SHARE)

    def _reason(self, memory: float) -> str | None:
        found = [("max_wall_s", self._looked - self._begun, "ran for {:.0f} s"), *self._sizes(memory)]
        for name, value, words in found:
            if (limit := self._spec.get(name)) and value > limit:
                limit_in_words = f"and its limit ({name}) is {limit}.{REMEDY.get(name, '')}"
                return f"The job was ended: it {words.format(value)}, {limit_in_words}"
        return None

    def _sizes(self, memory: float) -> Iterable[tuple[str, float, str]]:
        with suppress(OSError):
            yield "max_log_mb", (self._directory / LOG).stat().st_size / MB, "wrote {:.0f} MiB into its log"
        for name in ("max_memory_mb", "max_memory_share"):
            yield name, memory, "took {:.0f} MiB of memory"
        if self._spec.get("max_disk_mb") and self._looked - self._looked_at_files >= LOOK_AT_FILES_S:
            self._looked_at_files = self._looked
            yield "max_disk_mb", directory_mb(self._directory), "filled {:.0f} MiB of its directory"


def give_way(niceness: int) -> None:
    """Lower the priority by `niceness`, also against other login sessions (autogroups).

    Linux shares processors between sessions first, and what is nice in one of them counts only there (sched(7),
    autogroup): beside a job of niceness 15 another session's work had half of a core; after this, all but a sixteenth.
    """
    own = os.nice(niceness)
    for _ in range(AUTOGROUP_TRIES):
        try:
            Path("/proc/self/autogroup").write_text(str(own), encoding="ascii")
        except BlockingIOError:  # only so many sessions may say so in a second
            time.sleep(LOOK_S / AUTOGROUP_TRIES)
        except OSError:  # there is no such thing here
            return
        else:
            return


def machine_mb() -> float:
    """Memory available to this process's control groups [MiB]."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / MB]
    names = runpy.run_path(str(Path(__file__).with_name("cores.py")))
    for group in names["control_groups"](Path("/"), "memory"):
        found = (names["positive_number"](group / file) for file in ("memory.max", "memory.limit_in_bytes"))
        sizes += [size / MB for size in found if size]
    return min(sizes)


class Memory:
    """The memory of a job's processes: what is shared, code of libraries included, counts once.

    Shared memory counts as much as the process that has most of it. The kernel keeps one peak for a process, of private
    and shared memory together; its private part is found with the most that was shared at any look, since a process
    that has given shared memory back still has it in its peak.
    """

    def __init__(self) -> None:
        self._most_shared: dict[int, int] = {}
        """By process [KiB]."""

    def look(self, pids: Iterable[int]) -> tuple[float, float]:
        """Current memory of all processes, and the sum of their peaks [MiB]."""
        private = 0
        private_peak = 0
        shared = 0
        for pid in pids:
            with suppress(OSError, KeyError):  # ended meanwhile, or there is no /proc
                lines = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
                kib = {words[0]: int(words[1]) for words in lines if words[0].startswith(("Vm", "Rss"))}
                common = kib["RssFile:"] + kib["RssShmem:"]
                most = self._most_shared[pid] = max(common, self._most_shared.get(pid, 0))
                private = private + kib["VmRSS:"] - common
                private_peak = private_peak + max(kib["VmHWM:"] - most, kib["VmRSS:"] - common)
                shared = max(shared, common)
        return (private + shared) / 1024, (private_peak + shared) / 1024


def directory_mb(directory: Path) -> float:
    """Disk used by a directory and its subdirectories [MiB]; links are not followed."""
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512  # noqa: PTH118 - many files
    return total / MB
