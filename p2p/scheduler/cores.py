"""Who owns which cores of this machine: a job takes its cores for life, whatever session or runs directory it is of.

    core_<n>       locked (flock) by the job that owns core n; holds the job's directory
    queue/<when>   locked by a job that waits; the names sort by arrival

The kernel opens the locks of a dead process, so nobody has to tidy up. Needs nothing but Python 3.11: the supervisor
runs this file from beside itself.
"""

import fcntl
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path("/")
PLACE = "P2P_CORES_DIR"
"""Variable: where the locks are kept; the same for all that are to share the machine's cores."""
POLL_S = 0.1


def own(wanted: int, holder: str, queued: Callable[..., None], unwanted: Callable[[], bool]) -> bool:
    """Own cores until this process ends, first come, first served, and run on no others where that can be.

    Args:
        wanted: How many.
        holder: Who owns them then, for others to read: a job's directory.
        queued: Called with `waits_for`, the holders of the cores, when one must wait, and when they are others.
        unwanted: Whether to give up.

    Returns:
        False when it was given up.

    Raises:
        OSError: the machine never has so many cores; or the place of the locks cannot be written, or is not ours.
    """
    usable, told = usable_cores(), None
    if wanted > len(usable):
        raise OSError(f"it asks for {wanted} cores, and this machine has {len(usable)}")
    ticket, lock = _enter_queue(directory() / "queue")
    try:
        while not (_is_first(ticket) and _take(usable, wanted, holder)):
            if (found := holders()) != told:
                told = found
                queued(waits_for=found)
            time.sleep(POLL_S)
            if unwanted():
                return False
    finally:
        ticket.unlink(missing_ok=True)
        os.close(lock)
    return True


def directory() -> Path:
    """Where the locks of this machine are kept."""
    return Path(os.environ.get(PLACE) or f"/tmp/p2p-{os.getuid()}/cores")


def holders() -> tuple[str, ...]:
    """Directories of the jobs that own cores now, by core."""
    found = []
    for path in sorted(directory().glob("core_*")):
        with suppress(OSError), path.open() as file:
            if not _is_free(file.fileno()):
                found.append(file.read().strip())
    return tuple(dict.fromkeys(name for name in found if name))


def usable_cores(root: Path = ROOT) -> tuple[int, ...]:
    """Numbers of the cores this process may run on, and no more than the quota of its control groups, rounded up."""
    mine = _affinity()
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
    """A positive number in a file; None without one ("max", -1, no such file)."""
    try:
        value = int(file.read_text())
    except (OSError, ValueError):
        return None
    return value if value > 0 else None


def _enter_queue(queue: Path) -> tuple[Path, int]:
    """A ticket that sorts by arrival, and its lock."""
    queue.mkdir(mode=0o700, parents=True, exist_ok=True)
    if queue.stat().st_uid != os.geteuid():
        raise OSError(f"{queue} is not ours; choose another place with {PLACE}")
    name = f"{time.monotonic_ns():020d}_{os.getpid()}"  # since the machine's start, for every process alike
    lock = os.open(queue / f".{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (queue / f".{name}").rename(queue / name)  # seen by others only when it is locked
    return queue / name, lock


def _is_first(ticket: Path) -> bool:
    """Whether nobody who lives came before; tickets of the dead are removed."""
    for path in sorted(ticket.parent.glob("[0-9]*")):
        if path == ticket:
            return True
        with suppress(FileNotFoundError), path.open() as file:
            if not _is_free(file.fileno()):
                return False
            path.unlink()
    raise FileNotFoundError(f"somebody has removed {ticket}")


def _take(usable: Sequence[int], wanted: int, holder: str) -> bool:
    """Lock as many cores, until this process ends; none where there are too few."""
    taken: dict[int, int] = {}
    for core in usable:
        lock = os.open(directory() / f"core_{core}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        taken[core] = lock
        if len(taken) == wanted:
            break
    if len(taken) < wanted:
        for lock in taken.values():
            os.close(lock)
        return False
    for lock in taken.values():
        os.ftruncate(lock, 0)
        os.pwrite(lock, holder.encode(), 0)
    if sys.platform == "linux" and len(usable) == len(_affinity()):  # a share of a machine's time is of no core
        os.sched_setaffinity(0, taken)
    return True


def _is_free(lock: int) -> bool:
    """Whether nobody holds a lock; it is let go at once."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def _affinity() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else range(os.cpu_count() or 1))


def _quota(group: Path) -> float | None:
    """Cores that a control group may keep busy; None without a limit."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    quota_us, period_us = positive_number(group / "cpu.cfs_quota_us"), positive_number(group / "cpu.cfs_period_us")
    return quota_us / period_us if quota_us and period_us else None
