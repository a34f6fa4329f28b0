"""Read files that other users may have written: a runs directory can be a copy of somebody else's.

A copied session can contain links to anything its reader may read, pipes that never answer, files of any length, and
texts with terminal escapes. Workers cannot make links, and p2p makes none, so none is followed below a runs directory.
"""

import errno
import json
import os
import re
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

LONGEST = 64 << 20
"""Longest file that is read as a whole [bytes]; a session's longest by far are its logs and videos, of a few MB."""
_ROOTS: set[str] = set()
"""The runs directories that this process works with, absolute, each with a separator at its end."""


def enclose(root: Path) -> None:
    """Follow no symbolic link below this runs directory from now on (the directory itself may be one)."""
    _ROOTS.add(os.path.join(root.absolute(), ""))  # noqa: PTH118 - a Path has no separator at its end


def is_enclosed(path: Path) -> bool:
    """Whether `path` is in, or is, an enclosed runs directory."""
    return _root_of(path) is not None


def without_links(path: Path) -> Path:
    """Return `path` if no symbolic link is on the way to it.

    Raises:
        OSError: below its runs directory there is one.
    """
    if (root := _root_of(path)) is not None:
        _refuse_links(path, root)
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
    no_follow = 0
    if (root := _root_of(path)) is not None:
        _refuse_links(path, root)
        no_follow = os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | no_follow)
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


# Every look at a thousand runs comes here some thousand times; as texts, paths are compared in a fifth of the time.


def _root_of(path: Path) -> str | None:
    """Nearest enclosed runs directory above a path, with a separator at its end."""
    place = f"{path.absolute()}{os.sep}"
    return max((root for root in _ROOTS if place.startswith(root)), key=len, default=None)


def _refuse_links(path: Path, root: str) -> None:
    """Refuse a symbolic link on the way from an enclosed runs directory to a path in it.

    Raises:
        OSError: there is one.
    """
    place = root.rstrip(os.sep)
    below = str(path.absolute())[len(root) :]
    for name in below.split(os.sep) if below else ():  # noqa: PTH206 - for its speed, as the next
        place = f"{place}{os.sep}{name}"
        if name == os.pardir or os.path.islink(place):  # noqa: PTH114 - a third of the time of a Path's
            raise OSError(errno.ELOOP, "it is a link; links in a runs directory are not followed", str(path))


_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"
"""Marks that show a line in another order than it is written."""
_TAGS = "\U000e0000-\U000e007f"
"""ASCII once more, which no font shows and models read."""
_OBEYED = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_TAGS}]")
_PERHAPS = re.compile(
    rb"\\[ubfr]|[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xf3\xa0[\x80\x81]"
)
"""In JSON: what may stand for such a letter."""


def harmless_text(text: str) -> str:
    """Remove control characters except newline and tab, bidirectional marks and invisible letters."""
    return _OBEYED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def harmless_json(data: bytes) -> bytes:
    """Clean the texts inside JSON; other input is returned unchanged, for its parser to refuse."""
    if not _PERHAPS.search(data):
        return data
    try:
        return json.dumps(harmless(json.loads(data))).encode()
    except (ValueError, RecursionError):
        return data


def harmless(value: Any) -> Any:
    """Clean the texts inside a JSON value."""
    if isinstance(value, str):
        return harmless_text(value)
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, dict):
        return {harmless(key): harmless(item) for key, item in value.items()}
    return value
