"""Locks between processes (flock): private to the user, with a deadline on every wait."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from pwd import getpwuid

from p2p.contracts.errors import EnvironmentProblem
from p2p.store.untrusted_files import without_links

PATIENCE_S = 120.0
"""For locks that are held for milliseconds, on a machine whose disk or processor is busy with something else."""
STEP_PATIENCE_S = 900.0
"""For locks that are held while a reward is checked, or a model answers."""
_FIRST_LOOK_S = 0.001
_LAST_LOOK_S = 0.05
_OTHERS = 0o077
_LONGEST_NAME = 200


def open_lock(path: Path) -> int:
    """Open a lock file that no other user can open (whoever opens it could hold it).

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(without_links(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if os.fstat(descriptor).st_mode & _OTHERS:  # of an earlier version
        with suppress(PermissionError):  # not ours, or we are confined
            os.fchmod(descriptor, 0o600)
    return descriptor


@contextmanager
def held(path: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold a lock while the block runs.

    Args:
        path: The lock; its directory exists.
        patience_s: How long to wait for it [s].

    Raises:
        OSError: it cannot be opened.
        EnvironmentProblem: somebody else holds it for longer.
    """
    descriptor = open_lock(path)
    try:
        wait(descriptor, path, patience_s)
        yield
    finally:
        os.close(descriptor)


def wait(descriptor: int, path: Path, patience_s: float = PATIENCE_S) -> None:
    """Wait for a lock.

    Raises:
        EnvironmentProblem: somebody else holds it for longer than `patience_s`.
    """
    deadline = time.monotonic() + patience_s
    pause = _FIRST_LOOK_S
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() > deadline:
            raise held_up(path, patience_s)
        time.sleep(pause)
        pause = min(2 * pause, _LAST_LOOK_S)


def held_up(path: Path, waited_s: float) -> EnvironmentProblem:
    """Error for a lock that was not released in time."""
    return EnvironmentProblem(
        f"{path} is locked by {holder(path)}; waited {waited_s:.0f} s. "
        "End that process, or try again once it has ended."
    )


def holder(path: Path) -> str:
    """Describe who holds a lock."""
    pids = _pids_of(path)
    return ", ".join(_described(pid) for pid in pids) or "another process"


def _pids_of(path: Path) -> list[int]:
    """Processes that hold a lock, from /proc/locks (Linux); 0 for one outside this container."""
    found: dict[bool, list[int]] = {True: [], False: []}
    try:
        status = path.stat()
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for line in lines:
        words = line.split()
        if "->" in words or len(words) < 6:  # who waits
            continue
        place, _, inode = words[5].rpartition(":")
        if words[1] == "FLOCK" and inode == str(status.st_ino):
            found[place == device].append(int(words[4]))
    return found[True] or found[False]  # some file systems are told by another number


def _described(pid: int) -> str:
    """A process as pid, command and user; directories are stripped from the command."""
    if pid <= 0:
        return "a process outside of this container"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        uid = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return f"process {pid}"
    command = " ".join(Path(word).name if word.startswith("/") else word for word in words if word)
    shown = "".join(letter if letter.isprintable() else "?" for letter in command)[:_LONGEST_NAME]
    try:
        user = getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    return f"process {pid} ({shown}) of user {user}"
