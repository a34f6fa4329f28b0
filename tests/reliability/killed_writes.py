"""A writer killed at every system call of a save: is the old record there afterwards, or the new one?

Each kind of save is traced once, to know how many system calls it makes; then it is made again by a fresh process that
strace kills at the first, the second, … of them.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from findings import Findings
from system_calls import calls_of, cannot_trace, killed_at

from p2p.contracts.session import EventName
from p2p.scheduler import supervisor
from p2p.store import files
from p2p.store.background import BackgroundDirectory
from p2p.store.events import EventLog

OLD, NEW = {"value": "old " * 300}, {"value": "new " * 500}
RECORD = "record.json"


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
    if (reason := cannot_trace()) is not None:
        findings.skipped = reason
        return findings
    findings.watch_for("mixed records", "records that a later save could not replace")
    place.mkdir(parents=True)
    findings.count("kinds of saves", len(SAVES))
    for _ in range(count):
        for name in SAVES:
            calls = _calls_of(name, place)
            for number, call in enumerate(calls):
                _kill_at(name, call, calls[: number + 1].count(call), place, findings)
            findings.count("kills", len(calls))
    return findings


def _kill_at(name: str, call: str, occurrence: int, place: Path, findings: Findings) -> None:
    moment = f"{call} {occurrence}"
    prepare, save, read = SAVES[name]
    with _fresh(place) as directory:
        prepare(directory)
        old = read(directory)
        log = directory.parent / f"{directory.name}.trace"
        assert killed_at(partial(save, directory), log, call, occurrence), "it is killed where it should be"
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
        return calls_of(partial(SAVES[name][1], directory), directory.parent / f"{directory.name}.trace")


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir=place))
    try:
        yield directory
    finally:
        shutil.rmtree(directory)
