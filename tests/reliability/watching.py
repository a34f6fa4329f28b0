"""What campaigns share: waiting for a condition, and finding the processes that belong to a runs directory."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
TAGS = (b"P2P_JOB=", b"P2P_SUPERVISOR=")


def until(condition: Callable[[], T], seconds: float = 60.0, pause_s: float = 0.01) -> T:
    """The first true value of `condition`.

    Raises:
        TimeoutError: there was none in time.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(pause_s)
    return value


def processes_of(place: Path) -> list[int]:
    """Supervisors and jobs of a directory, by the variables they were started with."""
    prefixes = tuple(tag + os.fsencode(place.resolve()) for tag in TAGS)
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208  names, not paths
        with suppress(OSError):
            entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if any(entry.startswith(prefixes) for entry in entries) and is_running(int(pid)):
                found.append(int(pid))
    return found


def left(place: Path, patience_s: float = 20.0) -> list[int]:
    """Processes of a directory that do not leave by themselves, as those do that are about to end."""
    with suppress(TimeoutError):
        until(lambda: not processes_of(place), patience_s)
    return processes_of(place)


def is_running(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def handle(directory: Path) -> dict[str, int]:
    """Supervisor and process of a job; empty before it has them."""
    try:
        value: dict[str, int] = json.loads((directory / "handle.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return value
