"""System calls without a Python function."""

import ctypes
import os

from p2p.worker.sandbox import system_calls

_LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call; return its result.

    Raises:
        OSError: the kernel refused, or has no such call.
    """
    number = system_calls.number(name)
    if number is None:
        raise OSError(f"this architecture has no system call {name}")
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(_LIBC.syscall(ctypes.c_long(number), *words))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def prctl(option: int, value: int = 0) -> int:
    """Change an attribute of this process; return the kernel's answer.

    Raises:
        OSError: the kernel refused.
    """
    result = int(_LIBC.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")
    return result


def give_up_privileges() -> None:
    """Forbid started programs to gain privileges (PR_SET_NO_NEW_PRIVS); required by Landlock and seccomp."""
    prctl(38, 1)
