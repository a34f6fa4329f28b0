"""What the tests of jobs share: waiting for a condition, and shell commands as jobs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from p2p.contracts.job import JobSpec

T = TypeVar("T")


def until(condition: Callable[[], T], seconds: float = 120.0) -> T:
    """The first true value of `condition`; a crowded machine takes many times as long as an idle one."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.03)
    return value


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def shell(script: str, **fields: object) -> JobSpec:
    return JobSpec.model_validate({"argv": ("/bin/sh", "-c", script), **fields})


def pid_in(path: Path) -> int:
    """The process id that a job writes into a file."""
    return int(until(lambda: path.exists() and path.read_text().strip()))
