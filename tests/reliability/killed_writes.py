"""A writer killed at every system call of a save: is the old record there afterwards, or the new one?

Each kind of save is traced once, to know how many system calls it makes; then it is made again by a fresh process that
strace kills at the first, the second, … of them.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from findings import Findings
from watching import until

from p2p.contracts.session import EventName
from p2p.scheduler import supervisor
from p2p.store import files
from p2p.store.background import BackgroundDirectory
from p2p.store.events import EventLog

OLD, NEW = {"value": "old " * 300}, {"value": "new " * 500}
RECORD = "record.json"
OF_MEMORY = ("brk", "madvise", "mmap", "mprotect", "mremap", "munmap")
"""System calls of the allocator: they come and go from run to run, and change no file."""


def _read(place: Path) -> object:
    return json.loads((place / RECORD).read_bytes())


def _events(place: Path) -> object:
    return [(event.seq, event.data) for event in EventLog(place / "events.jsonl").read()]


def _append_event(place: Path) -> None:
    EventLog(place / "events.jsonl").emit(EventName.ITERATION_STARTED, 1, **NEW)


def _first_event(place: Path) -> None:
    EventLog(place / "events.jsonl").emit(EventName.ITERATION_STARTED, 1, **OLD)


def _claim(place: Path) -> None:
    BackgroundDirectory(place).claim("key", "job_" + "0" * 32)


def _claimed(place: Path) -> object:
    return BackgroundDirectory(place).claimed("key")


SAVES: dict[str, tuple[Callable[[Path], None], Callable[[Path], None], Callable[[Path], object]]] = {
    "record": (
        lambda place: files.write_json(place / RECORD, OLD),
        lambda place: files.write_json(place / RECORD, NEW),
        _read,
    ),
    "status of a job": (
        lambda place: supervisor.put(place / RECORD, OLD),
        lambda place: supervisor.put(place / RECORD, NEW),
        _read,
    ),
    "event": (_first_event, _append_event, _events),
    "key": (lambda _place: None, _claim, _claimed),
}
"""What is saved: how the old state is made, how the new one is saved over it, and how it is read."""


def killed_writes(count: int, place: Path) -> Findings:
    """Each save, killed at each of its system calls, `count` times over."""
    findings = Findings()
    if (reason := _cannot_trace()) is not None:
        findings.skipped = reason
        return findings
    findings.watch_for("mixed records", "records that a later save could not replace")
    place.mkdir(parents=True)
    findings.count("kinds of saves", len(SAVES))
    for _ in range(count):
        for name in SAVES:
            calls = _calls_of(name, place)
            for number, call in enumerate(calls):
                _kill_at(name, f"{call}:signal=KILL:when={calls[: number + 1].count(call)}", place, findings)
            findings.count("kills", len(calls))
    return findings


def _kill_at(name: str, moment: str, place: Path, findings: Findings) -> None:
    prepare, save, read = SAVES[name]
    with _fresh(place) as directory:
        prepare(directory)
        old = read(directory)
        _traced(name, directory, ["-e", f"inject={moment}"])
        found = read(directory)
        save(directory)
        after = read(directory)
    with _fresh(place) as directory:
        prepare(directory)
        save(directory)
        new = read(directory)
    if found not in (old, new):
        findings.went_wrong("mixed records", f"{name}, killed at {moment}: {found}")
    twice = name == "event" and found == new  # it is an event more
    if after != new and not twice:
        findings.went_wrong("records that a later save could not replace", f"{name}, killed at {moment}: {after}")


def _calls_of(name: str, place: Path) -> list[str]:
    """The system calls of a save, in order, without the exit of its process."""
    with _fresh(place) as directory:
        SAVES[name][0](directory)
        calls = [line.partition("(")[0] for line in _traced(name, directory, [])][:-1]
    return [call for call in calls if call not in OF_MEMORY]


def _traced(name: str, directory: Path, options: list[str]) -> list[str]:
    """System calls of a save in a process of its own, from its first one on; with options of strace."""
    if not (child := os.fork()):
        os.kill(os.getpid(), signal.SIGSTOP)
        SAVES[name][1](directory)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    log = directory.parent / f"{directory.name}.trace"
    command = ["strace", "-q", "-p", str(child), "-o", str(log), "-e", "trace=all", "-e", "signal=none", *options]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tracer:
        until(lambda: _tracer_of(child) == tracer.pid, 20)
        time.sleep(0.01)  # it writes nothing before the process goes on
        os.kill(child, signal.SIGCONT)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert killed == bool(options), "a process is killed where it should be, and only there"
    lines = [
        line
        for line in log.read_text(errors="replace").splitlines()
        if "(" in line and not line.startswith(("---", "+++"))
    ]
    log.unlink()
    return lines


def _tracer_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid:"))


def _cannot_trace() -> str | None:
    if shutil.which("strace") is None:
        return "strace is not installed"
    done = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"strace cannot trace here: {done.stderr.strip()[:80]}"


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir=place))
    try:
        yield directory
    finally:
        shutil.rmtree(directory)
