"""Resources of this machine: cores, memory, disk."""

import os
import shutil
from pathlib import Path

from p2p.contracts.base import Contract
from p2p.scheduler.cores import ROOT, control_groups, positive_number, usable_cores


class Resources(Contract):
    """Resources that jobs may use, within container limits."""

    cores: int
    """At least 1."""
    memory_mb: int | None
    """Memory limit of all processes together [MiB]; None if unknown."""
    memory_free_mb: int | None
    """Free memory [MiB]."""
    disk_free_mb: int
    """Free on the disk of the runs directory [MiB]."""


def measure(directory: Path) -> Resources:
    """Measure this machine, with the disk of `directory` (which need not exist)."""
    total, free = memory_mb()
    return Resources(cores=cores(), memory_mb=total, memory_free_mb=free, disk_free_mb=disk_free_mb(directory))


JOB_MEMORY_MB = 500
"""Memory of one training, roomy [MiB]."""


def parallel_jobs(memory_per_job_mb: int = JOB_MEMORY_MB, cores_per_job: int = 1) -> int:
    """Number of jobs of this size that run in parallel without slowing each other down; at least 1."""
    _, free = memory_mb()
    by_memory = cores() if free is None else free // memory_per_job_mb
    return max(1, min(cores() // cores_per_job, by_memory))


MOST_CORES_OF_A_TRAINING = 4
"""More are left to others. A training of HumanoidStandup-v5, whose physics costs most, was about twice as fast on 8
cores as on one of another machine: its rollouts 2.3 times, its updates, by the epoch, not at all."""


def cores_of_a_training(available: int) -> int:
    """How many of the available cores one training could use with profit; at least 1 of them."""
    return min(available, MOST_CORES_OF_A_TRAINING)


def cores(root: Path = ROOT) -> int:
    """Number of cores this process may use, at least 1."""
    return len(usable_cores(root))


def memory_mb(root: Path = ROOT) -> tuple[int | None, int | None]:
    """Total and free memory within control group limits [MiB]; None where unknown."""
    if not (root / "proc/meminfo").exists():
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return pages >> 20, None
    lines = (line.split() for line in (root / "proc/meminfo").read_text().splitlines())
    machine = {line[0]: int(line[1]) << 10 for line in lines if len(line) > 1}
    total = machine["MemTotal:"]
    free = machine.get("MemAvailable:", machine["MemFree:"])
    for group in control_groups(root, "memory"):
        limit = positive_number(group / "memory.max") or positive_number(group / "memory.limit_in_bytes")
        used = positive_number(group / "memory.current") or positive_number(group / "memory.usage_in_bytes") or 0
        if limit:
            total = min(total, limit)
            free = min(free, max(0, limit - used))
    return total >> 20, free >> 20


def disk_free_mb(directory: Path) -> int:
    """Free disk space where `directory` is or will be [MiB]."""
    directory = directory.absolute()
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    return shutil.disk_usage(existing).free >> 20
