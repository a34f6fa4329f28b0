"""Cores of this machine that a process may use: its affinity, and the quota of its control groups.

Needs nothing but Python 3.11: the supervisor runs this file from beside itself.
"""

import os
import sys
from pathlib import Path

ROOT = Path("/")


def usable_cores(root: Path = ROOT) -> tuple[int, ...]:
    """Cores this process may run on, at most its control groups' quota rounded up."""
    mine = tuple(sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else range(os.cpu_count() or 1))
    quotas = [quota for group in control_groups(root, "cpu") if (quota := _quota(group))]
    return mine[: max(1, min([len(mine), *(int(-(-quota // 1)) for quota in quotas)]))]


def control_groups(root: Path, controller: str) -> list[Path]:
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


def positive_number(file: Path) -> int | None:
    """Read a positive number from a file; None without one ("max", -1, no such file)."""
    try:
        value = int(file.read_text())
    except (OSError, ValueError):
        return None
    return value if value > 0 else None


def _quota(group: Path) -> float | None:
    """CPU quota of a control group in cores; None without a limit."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    quota_us = positive_number(group / "cpu.cfs_quota_us")
    period_us = positive_number(group / "cpu.cfs_period_us")
    return quota_us / period_us if quota_us and period_us else None
