"""A job's processes, seen from outside: by the lock and the handle in its directory."""

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from p2p.scheduler import supervisor


def is_supervised(directory: Path) -> bool:
    """Whether the job's supervisor lives: it keeps the lock for life."""
    try:
        with _lock(directory, os.O_RDONLY, fcntl.LOCK_SH) as taken:
            return not taken
    except FileNotFoundError:
        return False
    except PermissionError:  # another user's, whose processes can be seen all the same
        return supervisor.is_alive(supervisor.read(directory / supervisor.HANDLE))


@contextmanager
def unsupervised(directory: Path) -> Iterator[bool]:
    """Keep supervisors away for the length of the block; False when one is there already.

    Raises:
        OSError: the directory cannot be written.
    """
    with _lock(directory, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as taken:
        yield taken


def kill(directory: Path) -> None:
    """Kill the supervisor that the handle names, the job below it, and what is left of earlier lives of the job."""
    handle = supervisor.read(directory / supervisor.HANDLE)
    if supervisor.is_alive(handle):
        own, _ = supervisor.descendants(handle["pid"])
        supervisor.send((handle["pid"], *own), signal.SIGKILL)
    supervisor.kill_left_over(directory)


@contextmanager
def _lock(directory: Path, flags: int, kind: int) -> Iterator[bool]:
    descriptor = os.open(directory / supervisor.LOCK, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if os.fstat(descriptor).st_mode & 0o077:  # of an earlier version: whoever can open it can hold it
        with suppress(PermissionError):
            os.fchmod(descriptor, 0o600)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        taken = True
    except BlockingIOError:
        taken = False
    try:
        yield taken
    finally:
        os.close(descriptor)
