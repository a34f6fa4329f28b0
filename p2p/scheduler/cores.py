"""Ownership of this machine's cores: a job locks its cores until it ends, across sessions and runs directories.

    core_<n>            locked (flock) by the job that owns core n; holds the job's directory
    queue/<when>        locked by a job that waits; the names sort by arrival
    film_<n>            the same for jobs that own no core, of which only a few may run at a time: the line of films
    film_queue/<when>

The kernel opens the locks of a dead process, so nobody has to tidy up. Needs nothing but Python 3.11: the supervisor
runs this file from beside itself.

/tmp is everybody's: another user may make /tmp/p2p-<uid> first, with links in it. So each level on the way is opened
by the descriptor of the one above it, follows no link, and belongs to us; everything below is reached the same way.
"""

import fcntl
import os
import pwd
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path("/")
PLACE = "P2P_CORES_DIR"
"""Variable: where the locks are kept; the same for all that are to share the machine's cores."""
TEMPORARY = Path("/tmp")
QUEUE = "queue"
LINE_QUEUE = "{line}_queue"
POLL_S = 0.1
LINE_POLL_S = 0.5
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
"""For levels above ours, which we may not be allowed to list; macOS has no O_PATH."""
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_OTHERS_WRITE = 0o022


def own(wanted: int, holder: str, queued: Callable[..., None], unwanted: Callable[[], bool]) -> bool:
    """Wait for cores, lock them until this process ends, and pin the process to them where possible.

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
    usable = usable_cores()
    if wanted > len(usable):
        raise OSError(f"it asks for {wanted} cores, and this machine has {len(usable)}")
    locks = {f"core_{core}": core for core in usable}
    taken = _in_turn(QUEUE, tuple(locks), wanted, holder, queued, unwanted, POLL_S)
    if taken is None:
        return False
    if sys.platform == "linux" and len(usable) == len(_affinity()):  # a share of a machine's time is of no core
        os.sched_setaffinity(0, [locks[name] for name in taken])
    return True


def join(line: str, holder: str, queued: Callable[..., None], unwanted: Callable[[], bool]) -> bool:
    """Wait in a line of jobs that own no core; half as many run at a time as there are cores.

    Args:
        line: Its name, such as "film".
        holder, queued, unwanted: As in `own`.

    Returns:
        False when it was given up.

    Raises:
        OSError: the place of the locks cannot be written, or is not ours.
    """
    seats = tuple(f"{line}_{number}" for number in range(max(1, len(usable_cores()) // 2)))
    queue = LINE_QUEUE.format(line=line)
    return _in_turn(queue, seats, 1, holder, queued, unwanted, LINE_POLL_S) is not None


def _in_turn(
    queue: str,
    names: Sequence[str],
    wanted: int,
    holder: str,
    queued: Callable[..., None],
    unwanted: Callable[[], bool],
    poll_s: float,
) -> Sequence[str] | None:
    """Wait for `wanted` of the locks `names` and hold them until this process ends; None if given up."""
    told = None
    with _opened() as (_, place), _waiting(place, queue) as is_first:
        while True:
            if is_first() and (taken := _take(place, names, wanted, holder)):
                return taken
            if (found := _holders(place, names)) != told:
                told = found
                queued(waits_for=found)
            time.sleep(poll_s)
            if unwanted():
                return None


def directory() -> Path:
    """Directory of this machine's core locks; created if absent.

    Raises:
        OSError: it cannot be written, or others could write there.
    """
    with _opened() as (path, _):
        return path


def holders() -> tuple[str, ...]:
    """Job directory of each owned core, by core number.

    Raises:
        OSError: as `directory`.
    """
    with _opened() as (_, place):
        names = sorted(name for name in os.listdir(place) if name.startswith("core_"))  # noqa: PTH208 - a descriptor
        return _holders(place, names)


def usable_cores(root: Path = ROOT) -> tuple[int, ...]:
    """Cores this process may run on, at most its control groups' quota rounded up."""
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
    """Read a positive number from a file; None without one ("max", -1, no such file)."""
    try:
        value = int(file.read_text())
    except (OSError, ValueError):
        return None
    return value if value > 0 else None


@contextmanager
def _opened() -> Iterator[tuple[Path, int]]:
    """First usable directory for the locks, with its descriptor.

    /tmp comes first because it outlives a logout. $XDG_RUNTIME_DIR would be ours from the start, but goes with the
    last login, and the locks in it: all cores would be free while jobs still run on them.
    """
    chosen = os.environ.get(PLACE)
    places = [(Path(chosen), 1)] if chosen else [(TEMPORARY / f"p2p-{os.getuid()}/cores", 2), (_home_place(), 2)]
    failures = []
    for path, ours in places:
        try:
            place = _open_place(path, ours)
        except OSError as failure:
            failures.append(f"{path}: {failure.strerror or failure}")
            continue
        try:
            yield path, place
        finally:
            os.close(place)
        return
    raise OSError(f"no place for the locks of cores ({'; '.join(failures)}); choose another one with {PLACE}")


def _home_place() -> Path:
    """Fallback directory in the user's home, taken from the password database because a job may have another HOME."""
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a container may run under a number that is nobody's
        home = os.environ.get("HOME", "/")
    return Path(home, ".cache/p2p/cores")


def _open_place(path: Path, ours: int) -> int:
    """Open a directory that no other user can replace or write to.

    Args:
        path: Absolute or relative; the levels that do not exist are made.
        ours: How many of the last levels have to be ours. Those above may be the machine's, and links, which are
            resolved first and are none any more on the way.

    Raises:
        OSError: a level is somebody else's, or a link, or cannot be made.
    """
    path = path.absolute()
    above = Path(os.path.realpath(path.parents[ours - 1]))
    names = [*above.parts[1:], *path.parts[-ours:]]
    level = os.open(above.anchor, _PASS)
    trusted = {0, os.geteuid(), os.fstat(level).st_uid}  # in a user namespace the machine's owner has another number
    for depth, name in enumerate(names, 1):
        mine = depth > len(names) - ours
        try:
            below = _open_level(level, name, _ENTER if mine else _PASS)
        finally:
            os.close(level)
        level = below
        fault = _make_private(level) if mine else _fault_above(level, trusted)
        if fault:
            os.close(level)
            raise PermissionError(f"{Path(above.anchor, *names[:depth])} {fault}")
    return level


def _open_level(parent: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        with suppress(FileExistsError):  # another process was faster
            os.mkdir(name, 0o700, dir_fd=parent)
        return os.open(name, flags, dir_fd=parent)


def _make_private(level: int) -> str | None:
    """Remove other users' write access to our directory; return the problem if that fails."""
    status = os.fstat(level)
    if status.st_uid != os.geteuid():
        return f"is not ours but of user {status.st_uid}"
    if status.st_mode & _OTHERS_WRITE:
        os.fchmod(level, 0o700)
    return None


def _fault_above(level: int, trusted: set[int]) -> str | None:
    """Reason why another user could replace a directory above ours; empty if none could."""
    status = os.fstat(level)
    if status.st_uid not in trusted:
        return f"belongs to user {status.st_uid}"
    if status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
        return "can be written by others"
    return None


@contextmanager
def _waiting(place: int, queue_name: str) -> Iterator[Callable[[], bool]]:
    """Hold a ticket in a queue while the block runs; yield a test whether ours is the oldest live one."""
    queue = _open_level(place, queue_name, _ENTER)
    lock = None
    name = f"{time.monotonic_ns():020d}_{os.getpid()}"  # since the machine's start, for every process alike
    try:
        if fault := _make_private(queue):
            raise PermissionError(f"{queue_name} in the place of the locks {fault}; choose another place with {PLACE}")
        lock = os.open(f".{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=queue)
        fcntl.flock(lock, fcntl.LOCK_EX)  # nobody else knows the file
        os.rename(f".{name}", name, src_dir_fd=queue, dst_dir_fd=queue)  # seen by others only when it is locked
        yield lambda: _is_first(queue, name)
    finally:
        if lock is not None:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=queue)
            os.close(lock)
        os.close(queue)


def _is_first(queue: int, ticket: str) -> bool:
    """Whether our ticket is the oldest live one; tickets of dead processes are removed."""
    for name in sorted(name for name in os.listdir(queue) if name[0].isdigit()):
        if name == ticket:
            return True
        with suppress(FileNotFoundError), _regular(queue, name, os.O_RDONLY) as lock:
            if not _is_free(lock):
                return False
            os.unlink(name, dir_fd=queue)
    raise FileNotFoundError(f"somebody has removed {ticket} from its queue in the place of the locks")


def _holders(place: int, names: Sequence[str]) -> tuple[str, ...]:
    """Job directories that hold any of the locks."""
    found = []
    for name in names:
        with suppress(OSError), _regular(place, name, os.O_RDONLY) as lock:
            if not _is_free(lock):
                found.append(os.pread(lock, 4096, 0).decode(errors="replace").strip())
    return tuple(dict.fromkeys(name for name in found if name))


def _take(place: int, names: Sequence[str], wanted: int, holder: str) -> Sequence[str]:
    """Take `wanted` free locks until this process ends; none if too few are free."""
    taken: dict[str, int] = {}
    for name in names:
        lock = _open_regular(place, name, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        taken[name] = lock
        if len(taken) == wanted:
            break
    if len(taken) < wanted:
        for lock in taken.values():
            os.close(lock)
        return ()
    for lock in taken.values():
        os.ftruncate(lock, 0)
        os.pwrite(lock, holder.encode(), 0)
    return tuple(taken)


@contextmanager
def _regular(place: int, name: str, flags: int) -> Iterator[int]:
    """Context manager around `_open_regular`."""
    descriptor = _open_regular(place, name, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_regular(place: int, name: str, flags: int) -> int:
    """Open a file we own, relative to its directory's descriptor.

    Raises:
        OSError: it is a link, or no regular file, or somebody else's.
    """
    descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=place)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    raise PermissionError(f"{name} in the place of the locks is no file of ours")


def _is_free(lock: int) -> bool:
    """Whether a lock is free, tested by taking and releasing it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def _affinity() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else range(os.cpu_count() or 1))


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
