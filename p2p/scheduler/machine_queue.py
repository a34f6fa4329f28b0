"""The one queue of this machine, where jobs wait for their turn and for cores, across sessions and runs directories.

    queue/<when>_<pid>  an entry: locked (flock) by a job that waits, it says what is asked for; names sort by arrival
    core_<n>            locked by the job that owns core n; holds the job's directory, and its group
    <line>_<n>          the same for a place of a line, of which only a few jobs have one at a time: `film`, and
                        `turn_<digest>`, the background jobs of one runs directory

A job gets all that it asks for at once. The oldest entry goes first, and nobody overtakes it, but one that lacks a
place of its line holds up its own line alone. A background job keeps its place in the queue for the trainings that it
begins with: they need not wait for cores a second time.

The kernel opens the locks of a dead process, so nobody has to tidy up. Needs nothing but Python 3.11: the supervisor
runs this file from beside itself.

/tmp is everybody's: another user may make /tmp/p2p-<uid> first, with links in it. So each level on the way is opened
by the descriptor of the one above it, follows no link, and belongs to us; everything below is reached the same way.
"""

import fcntl
import json
import os
import pwd
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

PLACE = "P2P_CORES_DIR"
"""Variable: where the locks are kept; the same for all that are to share the machine's cores."""
TEMPORARY = Path("/tmp")
QUEUE = "queue"
POLL_S = 0.1
LINE_POLL_S = 0.5
"""For those that wait for a place of a line: it is held for minutes, and many may wait for it."""
CORES = "cores"
LONGEST = 1 << 14
"""Bytes of an entry; p2p writes none that is longer."""
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
"""For levels above ours, which we may not be allowed to list; macOS has no O_PATH."""
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_OTHERS_WRITE = 0o022


class QueueEntry(NamedTuple):
    """What a job asks for."""

    holder: str
    """Directory of the job."""
    cores: int = 0
    """How many must be free."""
    owns: bool = True
    """Whether it takes the cores; False for one that leaves them to the trainings it begins with."""
    line: str = ""
    """Line that it needs a place of; empty for none."""
    places: int = 0
    """How many that line has."""
    group: str = ""
    """What it belongs to, as a session: a place is kept while trainings of its group run."""
    reserves: bool = False
    """Whether it has what it asked for, and keeps its place in the queue for trainings of its group."""


def admit(
    spec: Mapping[str, Any],
    holder: str,
    usable: Sequence[int],
    queued: Callable[..., None],
    unwanted: Callable[[], bool],
    group: str = "",
) -> bool:
    """Wait until a job gets all that it asks for, hold it until this process ends, and pin the process to its cores.

    Args:
        spec: `cores`, `cores_ahead`, `line`, `places` of its `job.json`.
        holder: Who has it then, for others to read: the job's directory.
        usable: Cores that it may have.
        queued: Called with `lacks`, which is "cores" or the kind of the line, and `waits_for`, the directories of
            those that have it, when one must wait, and when either changes.
        unwanted: Whether to give up.
        group: What the job belongs to.

    Returns:
        False when it was given up.

    Raises:
        OSError: the machine never has so many cores; or the directory of locks cannot be written, or belongs to
            another user.
    """
    owned = spec.get("cores") or 0
    if owned > len(usable):
        raise OSError(f"it asks for {owned} cores, and this machine has {len(usable)}")
    line = spec.get("line") or ""
    entry = QueueEntry(
        holder=holder,
        cores=owned or spec.get("cores_ahead") or 0,
        owns=bool(owned),
        line=line,
        places=(spec.get("places") or max(1, len(usable) // 2)) if line else 0,
        group=group,
    )
    with _opened() as (_, place), _opened_queue(place) as queue:
        taken = _wait(place, queue, entry, usable, queued, unwanted)
    if taken is None:
        return False
    if taken and sys.platform == "linux" and len(usable) == len(os.sched_getaffinity(0)):  # a share is of no core
        os.sched_setaffinity(0, taken)
    return True


def _wait(
    place: int,
    queue: int,
    entry: QueueEntry,
    usable: Sequence[int],
    queued: Callable[..., None],
    unwanted: Callable[[], bool],
) -> Sequence[int] | None:
    """Wait in the queue; return the cores taken, or None if given up."""
    reserved = [name for name, other in _waiting(queue) if other.reserves and other.group == entry.group]
    when = min(reserved).partition("_")[0] if reserved and entry.group and entry.cores else None
    told = None
    with _in_queue(queue, entry, when) as name:
        while True:
            older = list(_waiting(queue, name))
            is_next = not any(_goes_first(place, queue, other, entry) for _, other in older)
            if is_next and (taken := _take(place, queue, entry, usable)) is not None:
                if entry.cores and not entry.owns:
                    _enter(queue, entry._replace(line="", reserves=True), name.partition("_")[0])
                return taken
            if (found := _lacking(place, queue, entry, older)) != told:
                told = found
                queued(lacks=found[0], waits_for=found[1])
            time.sleep(POLL_S if found[0] == CORES else LINE_POLL_S)
            if unwanted():
                return None


def withdraw(group: str) -> None:
    """Give up the place in the queue that a background job keeps for the trainings of its group.

    Raises:
        OSError: as `directory`.
    """
    with _opened() as (_, place), _opened_queue(place) as queue:
        for name, entry in _waiting(queue):
            if entry.reserves and entry.group == group:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=queue)


def place_of(holder: str) -> int | None:
    """Place in the queue of a job among those that wait for the same, from 1 (next); None if it does not wait.

    Raises:
        OSError: as `directory`.
    """
    with _opened() as (_, place), _opened_queue(place) as queue:
        older = list[QueueEntry]()
        for _, entry in _waiting(queue):
            if entry.holder == holder and not entry.reserves:
                in_line = _lacking(place, queue, entry, [("", other) for other in older])[0] != CORES
                return 1 + sum(
                    other.line == entry.line
                    if in_line
                    else bool(other.cores and not other.reserves and _has_turn(place, queue, other))
                    for other in older
                )
            older.append(entry)
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
        return _holders(place, _core_names(place))


def owned_cores() -> dict[int, tuple[str, float]]:
    """Owned core -> directory of the job that owns it, and since when (Unix time).

    Raises:
        OSError: as `directory`.
    """
    found = {}
    with _opened() as (_, place):
        for name in _core_names(place):
            with suppress(OSError, ValueError), _regular(place, name, os.O_RDONLY) as lock:
                if not _is_free(lock):
                    found[int(name.partition("_")[2])] = (_written(lock)[0], os.fstat(lock).st_mtime)
    return found


def waiting() -> list[tuple[QueueEntry, str]]:
    """Jobs that wait, the oldest first, each with what it lacks: "cores", or the kind of its line.

    Raises:
        OSError: as `directory`.
    """
    found = []
    with _opened() as (_, place), _opened_queue(place) as queue:
        older = list[tuple[str, QueueEntry]]()
        for name, entry in _waiting(queue):
            if not entry.reserves:
                found.append((entry, _lacking(place, queue, entry, older)[0]))
            older.append((name, entry))
    return found


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
    raise OSError(f"no directory for the locks of cores ({'; '.join(failures)}); choose one with {PLACE}")


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
        return f"belongs to user {status.st_uid}"
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
def _opened_queue(place: int) -> Iterator[int]:
    """Descriptor of the directory of entries, which belongs to us."""
    queue = _open_level(place, QUEUE, _ENTER)
    try:
        if fault := _make_private(queue):
            raise PermissionError(f"{QUEUE} in the directory of locks {fault}; choose another directory with {PLACE}")
        yield queue
    finally:
        os.close(queue)


@contextmanager
def _in_queue(queue: int, entry: QueueEntry, when: str | None) -> Iterator[str]:
    """Hold an entry while the block runs; yield its name."""
    name, lock = _enter(queue, entry, when)
    try:
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=queue)
        os.close(lock)


def _enter(queue: int, entry: QueueEntry, when: str | None = None) -> tuple[str, int]:
    """Put an entry into the queue, with the arrival `when` or now; return its name, and the lock that keeps it."""
    arrival = when or f"{time.monotonic_ns():020d}"  # since the machine's start, for every process alike
    name = f"{arrival}_{os.getpid()}{'_reserves' if entry.reserves else ''}"
    lock = os.open(f".{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=queue)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # nobody else knows the file
        os.write(lock, json.dumps(entry._asdict()).encode())
        os.rename(f".{name}", name, src_dir_fd=queue, dst_dir_fd=queue)  # seen by others only when it is whole
    except OSError:
        os.close(lock)
        raise
    return name, lock


def _waiting(queue: int, before: str | None = None) -> Iterator[tuple[str, QueueEntry]]:
    """Live entries, the oldest first, up to that named `before`; those of dead processes are removed.

    Raises:
        FileNotFoundError: the entry `before` was removed.
    """
    for name in sorted(name for name in os.listdir(queue) if name[0].isdigit()):
        if name == before:
            return
        with suppress(FileNotFoundError), _regular(queue, name, os.O_RDONLY) as lock:
            if _is_free(lock):
                os.unlink(name, dir_fd=queue)
            else:
                yield name, _parse(os.pread(lock, LONGEST, 0))
    if before is not None:
        raise FileNotFoundError(f"{before} was removed from the queue in the directory of locks")


def _parse(text: bytes) -> QueueEntry:
    """Entry as it was written; one of an earlier version says nothing, and asks for a core."""
    try:
        return QueueEntry(**json.loads(text))
    except (ValueError, TypeError):
        return QueueEntry("", cores=1)


def _goes_first(place: int, queue: int, older: QueueEntry, entry: QueueEntry) -> bool:
    """Whether an older entry has to be served before `entry`."""
    if older.line and older.line == entry.line:
        return True
    if older.reserves and older.group == entry.group:
        return False
    return bool(older.cores and entry.cores) and _has_turn(place, queue, older)


def _has_turn(place: int, queue: int, entry: QueueEntry) -> bool:
    """Whether an entry needs no place of a line, or one is free for it."""
    return not entry.line or _free_seat(place, queue, entry) is not None


def _seats(entry: QueueEntry) -> tuple[str, ...]:
    """Names of the locks of a line's places."""
    return tuple(f"{entry.line}_{number}" for number in range(entry.places))


def _free_seat(place: int, queue: int, entry: QueueEntry) -> str | None:
    """A place of the entry's line that it may have, first that of its own group; None if all are taken."""
    free = []
    for name in _seats(entry):
        last = ""
        with suppress(FileNotFoundError), _regular(place, name, os.O_RDONLY) as lock:
            if not _is_free(lock):
                continue
            last = _written(lock)[1]
        if last in ("", entry.group) or not _is_at_work(place, queue, last):
            free.append((last != entry.group, name))
    return min(free)[1] if free else None


def _is_at_work(place: int, queue: int, group: str) -> bool:
    """Whether trainings of a group run or wait for cores, as after the death of the job that began them."""
    for name in _core_names(place):
        with suppress(OSError), _regular(place, name, os.O_RDONLY) as lock:
            if _written(lock)[1] == group and not _is_free(lock):
                return True
    return any(entry.group == group and entry.owns and not entry.line for _, entry in _waiting(queue))


def _lacking(
    place: int, queue: int, entry: QueueEntry, older: Sequence[tuple[str, QueueEntry]]
) -> tuple[str, tuple[str, ...]]:
    """What an entry waits for, "cores" or the kind of its line, and the directories of those that have it."""
    in_line = entry.line and (
        not entry.cores
        or _free_seat(place, queue, entry) is None
        or any(other.line == entry.line for _, other in older)
    )
    if in_line:
        return entry.line.partition("_")[0], _holders(place, _seats(entry))
    return CORES, _holders(place, _core_names(place))


def _core_names(place: int) -> list[str]:
    return sorted(name for name in os.listdir(place) if name.startswith("core_"))


def _written(lock: int) -> tuple[str, str]:
    """Directory of the job that took a lock last, and its group."""
    holder, _, group = os.pread(lock, LONGEST, 0).decode(errors="replace").strip().partition("\n")
    return holder, group


def _holders(place: int, names: Sequence[str]) -> tuple[str, ...]:
    """Job directories that hold any of the locks."""
    found = []
    for name in names:
        with suppress(OSError), _regular(place, name, os.O_RDONLY) as lock:
            if not _is_free(lock):
                found.append(_written(lock)[0])
    return tuple(dict.fromkeys(name for name in found if name))


def _take(place: int, queue: int, entry: QueueEntry, usable: Sequence[int]) -> Sequence[int] | None:
    """Take all that an entry asks for until this process ends, and return its cores; None if some of it is not free."""
    seat = _free_seat(place, queue, entry) if entry.line else None
    if entry.line and seat is None:
        return None
    seats = _lock(place, [seat] if seat else [], 1 if seat else 0)
    cores = {f"core_{core}": core for core in usable}
    owned = _lock(place, cores, entry.cores)
    if seats is None or owned is None:
        for lock in ((seats or {}) | (owned or {})).values():
            os.close(lock)
        return None
    if not entry.owns:
        for lock in owned.values():
            os.close(lock)
        owned = {}
    for lock in (seats | owned).values():
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{entry.holder}\n{entry.group}".encode(), 0)
    return [cores[name] for name in owned]


def _lock(place: int, names: Iterable[str], wanted: int) -> dict[str, int] | None:
    """Lock `wanted` of the files, by name; None if too few are free."""
    taken: dict[str, int] = {}
    for name in names:
        if len(taken) == wanted:
            break
        lock = _open_regular(place, name, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken[name] = lock
        except BlockingIOError:
            os.close(lock)
    if len(taken) == wanted:
        return taken
    for lock in taken.values():
        os.close(lock)
    return None


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
    raise PermissionError(f"{name} in the directory of locks is not a file of this user")


def _is_free(lock: int) -> bool:
    """Whether a lock is free, tested by taking and releasing it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True
