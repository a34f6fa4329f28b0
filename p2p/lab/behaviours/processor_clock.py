"""Processor time of sessions, by looking at the processes of their jobs once in a while (Linux)."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from p2p.lab.contracts.behaviours import ProcessorTimes
from p2p.lab.records import BehavioursRecord
from p2p.scheduler.supervisor import JOB_TAG, SUPERVISOR_TAG, processes, variable

SAVED_EVERY_S = 20.0
LONGEST_GAP_S = 10.0
"""Two looks further apart than this were not watching in between [s]."""


class ProcessorClock:
    """Adds up the processor time of the sessions below a runs directory, over as many commands as a run needs.

    What a process does after the last look at it is lost: at most the time between two looks, for each process.

    Args:
        record: Where the times are kept.
        runs_dir: Of the sessions.
    """

    def __init__(self, record: BehavioursRecord, runs_dir: Path) -> None:
        self._record = record
        self._runs_dir = runs_dir.resolve()
        kept = record.read_processor_times()
        self._seconds = dict(kept.seconds)
        self._watched_s = dict(kept.watched_s)
        self._counted = dict(kept.counted)
        self._session_of: dict[str, str] = {}
        """Process -> its session, empty for one of no session: where a process belongs does not change."""
        self._looked_at: float | None = None
        self._saved_at = time.monotonic()

    def look(self) -> None:
        """Add what the live processes have used since the last look."""
        if sys.platform != "linux":
            return
        now = time.monotonic()
        gap_s = 0.0 if self._looked_at is None else now - self._looked_at
        self._looked_at = now
        table = processes()
        live: dict[str, float] = {}
        sessions: dict[str, str] = {}
        for pid, (_, began) in table.items():
            session = self._session(pid, table)
            used_s = _processor_s(pid) if session else None
            if used_s is None:
                continue
            key = f"{pid} {began}"
            self._seconds[session] = self._seconds.get(session, 0.0) + max(0.0, used_s - self._counted.get(key, 0.0))
            live[key] = used_s
            sessions[key] = session
        if gap_s <= LONGEST_GAP_S:
            for session in set(sessions.values()):
                self._watched_s[session] = self._watched_s.get(session, 0.0) + gap_s
        self._counted = live
        there = {f"{pid} {began}" for pid, (_, began) in table.items()}
        self._session_of = {key: name for key, name in self._session_of.items() if key in there}
        if now - self._saved_at > SAVED_EVERY_S:
            self.save()

    def save(self) -> None:
        """Write the times."""
        self._saved_at = time.monotonic()
        self._record.save_processor_times(
            ProcessorTimes(
                seconds={name: round(value, 2) for name, value in self._seconds.items()},
                watched_s={name: round(value, 2) for name, value in self._watched_s.items()},
                counted=self._counted,
            )
        )

    def _session(self, pid: int, table: dict[int, tuple[int, str]]) -> str:
        """Session of a process, by the job it was started for, or by its parent's where that cannot be read."""
        parent, began = table[pid]
        key = f"{pid} {began}"
        if key not in self._session_of:
            job = variable(pid, SUPERVISOR_TAG) or variable(pid, JOB_TAG)
            if job is not None:
                self._session_of[key] = self._below(Path(job))
            elif parent in table and parent != pid and not _is_readable(pid):
                self._session_of[key] = self._session(parent, table)
            else:
                self._session_of[key] = ""
        return self._session_of[key]

    def _below(self, job: Path) -> str:
        """First part of a job's directory below the runs directory, which is a session's id; else empty."""
        with suppress(ValueError):
            return job.relative_to(self._runs_dir).parts[0]
        return ""


def _is_readable(pid: int) -> bool:
    try:
        with Path(f"/proc/{pid}/environ").open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def _processor_s(pid: int) -> float | None:
    """Processor time of a process [s]; None once it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # fields 14 and 15 of proc(5)
