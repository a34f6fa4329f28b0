"""Safe opening of files in a runs directory: its sessions may come from other users.

A copied session can contain links to anything its reader may read, pipes that never answer, and files of any length.
Workers cannot make links, and p2p makes none, so none is followed below a runs directory.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

LONGEST = 64 << 20
"""Longest file that is read as a whole [bytes]; a session's longest by far are its logs and videos, of a few MB."""
_ROOTS: set[Path] = set()
"""The runs directories that this process works with, absolute."""


def enclose(root: Path) -> None:
    """Follow no symbolic link below this runs directory from now on (the directory itself may be one)."""
    _ROOTS.add(root.absolute())


def is_enclosed(path: Path) -> bool:
    """Whether `path` is in, or is, an enclosed runs directory."""
    return _root_of(path) is not None


def without_links(path: Path) -> Path:
    """Return `path` if no symbolic link is on the way to it.

    Raises:
        OSError: below its runs directory there is one.
    """
    root = _root_of(path)
    if root is None:
        return path
    place = root
    for name in path.absolute().relative_to(root).parts:
        place /= name
        if name == os.pardir or place.is_symlink():
            raise OSError(errno.ELOOP, "a link leads there, and none is followed in a runs directory", str(path))
    return path


def is_readable(path: Path) -> bool:
    """Whether `path` is a regular file reached without symbolic links."""
    try:
        return stat.S_ISREG(without_links(path).stat(follow_symlinks=not is_enclosed(path)).st_mode)
    except OSError:
        return False


def open_to_read(path: Path, longest: int | None = LONGEST) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        OSError: it is absent, no regular file, reached by a link in a runs directory, or of more than `longest` bytes.
    """
    no_follow = os.O_NOFOLLOW if is_enclosed(path) else 0
    descriptor = os.open(without_links(path), os.O_RDONLY | os.O_NONBLOCK | no_follow)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if longest is not None and status.st_size > longest:
            what = f"it has {status.st_size} bytes, expected at most {longest}"
            raise OSError(errno.EFBIG, what, str(path))
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_bytes(path: Path, longest: int = LONGEST) -> bytes:
    """Read a whole file.

    Raises:
        OSError: as `open_to_read`.
    """
    with open_to_read(path, longest) as file:
        return file.read()


def _root_of(path: Path) -> Path | None:
    """Nearest enclosed runs directory above a path."""
    absolute = path.absolute()
    return next((place for place in (absolute, *absolute.parents) if place in _ROOTS), None)
