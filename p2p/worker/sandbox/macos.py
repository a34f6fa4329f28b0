"""The sandbox of macOS (`sandbox_init`, what the command sandbox-exec uses). Untested: written from its documentation.

It is counted as level `rlimits` until somebody has tried it.
"""

import ctypes
from collections.abc import Iterable
from pathlib import Path

_NAMED = 1


def forbid_all() -> None:
    """Leave this process nothing but computing, and what it holds already.

    Raises:
        OSError: macOS refused.
    """
    _apply(b"pure-computation", _NAMED)


def confine(writable: Iterable[Path], readable: Iterable[Path]) -> None:
    """Let this process write below `writable` alone, and read there, below `readable`, and what belongs to the system.

    Raises:
        OSError: macOS refused.
    """
    _apply(profile(writable, readable).encode(), 0)


def profile(writable: Iterable[Path], readable: Iterable[Path]) -> str:
    """The rules, in the language of sandbox profiles; the last rule that matches decides."""
    writable = [path.resolve() for path in writable]
    readable = [*(path.resolve() for path in readable), *writable]
    return f"""(version 1)
(deny default)
(allow process-fork) (allow process-exec) (allow signal (target same-sandbox))
(allow sysctl-read) (allow mach-lookup) (allow iokit-open) (allow ipc-posix-shm)
(allow file-read-metadata)
(allow file-read* {_below(map(Path, ("/usr", "/bin", "/System", "/Library", "/dev", "/private/etc", "/opt")))})
(allow file-read* {_below(readable)})
(allow file-write* (literal "/dev/null") {_below(writable)})
(deny network*)
"""


def _below(paths: Iterable[Path]) -> str:
    return " ".join('(subpath "' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '")' for path in paths)


def _apply(text: bytes, flags: int) -> None:
    problem = ctypes.c_char_p()
    if ctypes.CDLL(None).sandbox_init(text, ctypes.c_uint64(flags), ctypes.byref(problem)):
        raise OSError(f"sandbox_init: {(problem.value or b'').decode(errors='replace')}")
