"""Processes of a job, found by the lock and the handle in its directory."""

import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from p2p.scheduler import supervisor


def is_supervised(directory: Path) -> bool:
    """Whether the job's supervisor is alive: it holds the lock until it ends."""
    try:
        with _lock(directory, os.O_RDONLY, fcntl.LOCK_SH) as taken:
            return not taken
    except FileNotFoundError:
        return False
    except PermissionError:  # another user's, whose processes can be seen all the same
        return supervisor.is_alive(supervisor.read(directory / supervisor.HANDLE))


@contextmanager
def unsupervised(directory: Path) -> Iterator[bool]:
    """Block supervisors from starting while the block runs; False if one is running.

    Raises:
        OSError: the directory cannot be written.
    """
    with _lock(directory, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as taken:
        yield taken


def ask_for_the_end(directory: Path) -> None:
    """Write the file that tells a supervisor to end its job.

    Raises:
        OSError: the directory cannot be written, or a link is in the way.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    os.close(os.open(directory / supervisor.CANCEL, flags, 0o644))


def kill(directory: Path) -> None:
    """Kill the supervisor in the handle, its job, and processes left by earlier starts.

    A process that is no supervisor of this directory is left alone: a copied session may name any.
    """
    handle = supervisor.read(directory / supervisor.HANDLE)
    if supervisor.is_alive(handle):
        tag = supervisor.variable(handle["pid"], supervisor.SUPERVISOR_TAG)
        if tag == str(directory) or (tag is None and sys.platform != "linux"):  # elsewhere it cannot be asked
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
