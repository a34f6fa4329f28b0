"""What this machine has for jobs: cores, memory, disk."""

import os
import shutil
import sys
from pathlib import Path

from p2p.contracts.base import Contract

ROOT = Path("/")


class Resources(Contract):
    """What jobs may use here, containers' limits included."""

    cores: int
    """At least 1."""
    memory_mb: int | None
    """Largest memory of all processes together [MiB]; None where it cannot be told."""
    memory_free_mb: int | None
    """What is left of it now [MiB]."""
    disk_free_mb: int
    """Free on the disk of the runs directory [MiB]."""


def measure(directory: Path) -> Resources:
    """The resources of this machine, with the disk that holds `directory`, whether it exists yet or not."""
    total, free = memory_mb()
    return Resources(cores=cores(), memory_mb=total, memory_free_mb=free, disk_free_mb=disk_free_mb(directory))


JOB_MEMORY_MB = 500
"""Memory of one training, roomy [MiB]."""


def parallel_jobs(memory_per_job_mb: int = JOB_MEMORY_MB, cores_per_job: int = 1) -> int:
    """How many jobs of this size run side by side without slowing one another; at least 1."""
    _, free = memory_mb()
    by_memory = cores() if free is None else free // memory_per_job_mb
    return max(1, min(cores() // cores_per_job, by_memory))


def cores(root: Path = ROOT) -> int:
    """Usable cores: those this process may run on, and no more than the quota of its control groups, rounded up."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    quotas = [quota for group in _groups(root, "cpu") if (quota := _quota(group))]
    return max(1, min([usable, *(int(-(-quota // 1)) for quota in quotas)]))


def memory_mb(root: Path = ROOT) -> tuple[int | None, int | None]:
    """Memory in all, and what is free of it [MiB], within the limits of the control groups; None where unknown."""
    if not (root / "proc/meminfo").exists():
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return pages >> 20, None
    lines = (line.split() for line in (root / "proc/meminfo").read_text().splitlines())
    machine = {line[0]: int(line[1]) << 10 for line in lines if len(line) > 1}
    total, free = machine["MemTotal:"], machine.get("MemAvailable:", machine["MemFree:"])
    for group in _groups(root, "memory"):
        limit = _number(group / "memory.max") or _number(group / "memory.limit_in_bytes")
        used = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes") or 0
        if limit:
            total, free = min(total, limit), min(free, max(0, limit - used))
    return total >> 20, free >> 20


def disk_free_mb(directory: Path) -> int:
    """Free on the disk that holds `directory`, or will [MiB]."""
    directory = directory.absolute()
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    return shutil.disk_usage(existing).free >> 20


def _groups(root: Path, controller: str) -> list[Path]:
    """Directories of this process's control groups that may limit `controller`, up to the root (versions 1 and 2)."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "" or controller in controllers.split(","):
            base = root / "sys/fs/cgroup" / controllers
            group = base / path.lstrip("/")
            # inside a container the path is the host's, and only the base is there
            found += [place for place in (group, *group.parents) if place.is_relative_to(base)]
    return found


def _quota(group: Path) -> float | None:
    """Cores that a control group may keep busy; None without a limit."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    quota_us, period_us = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
    return quota_us / period_us if quota_us and period_us else None


def _number(file: Path) -> int | None:
    """A positive number in a file; None without one ("max", -1, no such file)."""
    try:
        value = int(file.read_text())
    except (OSError, ValueError):
        return None
    return value if value > 0 else None
