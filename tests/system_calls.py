"""What a process asks of the kernel, and processes killed when they do, by strace."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

OF_MEMORY = ("brk", "madvise", "mmap", "mprotect", "mremap", "munmap")
"""System calls of the allocator: they come and go from run to run, and change no file."""
START_S = 20.0


def cannot_trace() -> str | None:
    """Why strace cannot be used here; None if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    done = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"strace cannot trace here: {done.stderr.strip()[:80]}"


def calls_of(action: Callable[[], object], log: Path) -> list[str]:
    """System calls of an action in a process of its own, in order, without its exit and the allocator's."""
    calls, _ = _traced(action, log, ())
    return [call for call in calls[:-1] if call not in OF_MEMORY]


def killed_at(action: Callable[[], object], log: Path, call: str, occurrence: int) -> bool:
    """Do an action in a process of its own that is killed as it makes a system call.

    Args:
        action: What it does.
        log: Temporary file.
        call: Name of the system call.
        occurrence: Which of those, from 1.

    Returns:
        Whether it came to that.
    """
    _, killed = _traced(action, log, ("-e", f"inject={call}:signal=KILL:when={occurrence}"))
    return killed


def _traced(action: Callable[[], object], log: Path, options: tuple[str, ...]) -> tuple[list[str], bool]:
    if not (child := os.fork()):
        os.kill(os.getpid(), signal.SIGSTOP)
        action()
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    command = ["strace", "-q", "-p", str(child), "-o", str(log), "-e", "trace=all", "-e", "signal=none", *options]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tracer:
        deadline = time.monotonic() + START_S
        while _tracer_of(child) != tracer.pid:
            assert time.monotonic() < deadline, "strace does not attach"
            time.sleep(0.01)
        time.sleep(0.01)  # it writes nothing before the process goes on
        os.kill(child, signal.SIGCONT)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    lines = log.read_text(errors="replace").splitlines()
    log.unlink()
    return [line.partition("(")[0] for line in lines if "(" in line and not line.startswith(("---", "+++"))], killed


def _tracer_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid:"))
