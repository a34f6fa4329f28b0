"""File access of a process (Landlock), irrevocable, for this thread and its children.

Landlock refuses what no rule allows. It looks at opening, not at what is open already, and has no right for `stat`,
`chmod`, `utime` and the like: `seccomp` refuses most of those. Its version (ABI) grows with the kernel: 1 since
Linux 5.13, 3 (truncation) since 6.2, 4 (TCP) since 6.7, 6 (signals, abstract UNIX sockets) since 6.12.
https://docs.kernel.org/userspace-api/landlock.html
"""

import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from enum import IntFlag
from pathlib import Path

from p2p.worker.sandbox import kernel


class Right(IntFlag):
    """Rights at a path and below it."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    """Rename or link from one directory into another."""
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


READ = Right.READ_FILE | Right.READ_DIR
RUN = READ | Right.EXECUTE
DEVICE = READ | Right.WRITE_FILE | Right.IOCTL_DEV
WRITE = (
    READ | Right.WRITE_FILE | Right.TRUNCATE | Right.MAKE_REG | Right.MAKE_DIR | Right.REMOVE_FILE | Right.REMOVE_DIR
) | Right.REFER
"""No links, sockets, pipes or devices are made: whoever reads the directory afterwards finds plain files."""

_OF_FILES = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV
_NEW_IN = ((2, Right.REFER), (3, Right.TRUNCATE), (5, Right.IOCTL_DEV))
_TCP = 0b11
_SCOPES = 0b11
"""Bind and connect; abstract UNIX sockets of, and signals to, processes outside."""
_ASK_VERSION = 1
_RULE_OF_PATH = 1


def abi() -> int:
    """Landlock version of this kernel; 0 if unsupported."""
    try:
        return kernel.call("landlock_create_ruleset", None, 0, _ASK_VERSION)
    except (OSError, KeyError):
        return 0


def restrict(rules: Mapping[Path, Right]) -> None:
    """Allow the rights at the paths, nothing elsewhere; no TCP and no signals to outside processes, if supported.

    A path that does not exist, or cannot be reached, is passed over.

    Raises:
        OSError: the kernel refused.
    """
    version = abi()
    handled = Right((1 << 13) - 1)
    for since, right in _NEW_IN:
        if version >= since:
            handled |= right
    # The structure `landlock_ruleset_attr`, which is longer in later versions.
    words = [int(handled)]
    if version >= 4:
        words.append(_TCP)
    if version >= 6:
        words.append(_SCOPES)
    attributes = struct.pack(f"={len(words)}Q", *words)
    ruleset = kernel.call("landlock_create_ruleset", attributes, len(attributes), 0)
    try:
        for path, rights in rules.items():
            with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                _allow(ruleset, path, rights & handled)
        kernel.give_up_privileges()
        kernel.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: Right) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not path.is_dir():
            rights &= _OF_FILES
        if rights:
            kernel.call("landlock_add_rule", ruleset, _RULE_OF_PATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
