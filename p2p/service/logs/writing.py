"""Bring the logs of a session up to date with its records."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from p2p import registry
from p2p.contracts.errors import Busy
from p2p.contracts.log_rows import LogRow, LogTarget
from p2p.contracts.loggers import LoggerName
from p2p.contracts.protocols import RunLog
from p2p.contracts.session import EventName
from p2p.service.jobs.packages import require_loggers
from p2p.service.jobs.processes import is_live
from p2p.service.logs.rows import RunRows, run_targets, session_rows, session_target
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

FAILED = "Logging to {name} failed"
STREAMS = ("train", "eval", "iteration")


class SessionLogs:
    """The open logs of a session; each row of the records is written once, also after a kill.

    A logger that fails is left alone from then on.

    Args:
        record: The session.
        names: The loggers.
        failed: Told the first failure of a logger.
    """

    def __init__(
        self, record: SessionRecord, names: Iterable[LoggerName], failed: Callable[[LoggerName, Exception], None]
    ) -> None:
        self._record = record
        self._names = list(names)
        self._failed = failed
        self._open: dict[tuple[LoggerName, str], RunLog] = {}
        self._read: dict[tuple[LoggerName, str], RunRows] = {}
        """How far the records of each training are in its open log."""
        self.rows = 0
        """Rows that were written."""

    def write(self) -> None:
        """Write what the logs lack."""
        for name in tuple(self._names):
            try:
                for target, run in run_targets(self._record):
                    self._add_training(name, target, run)
                self._add_iterations(name, session_target(self._record), session_rows(self._record))
            except Exception as error:  # of a foreign library, a disk or a network: the session goes on
                self._give_up(name, error)

    def close(self) -> None:
        """Wait until everything is written, and close the logs; `write` opens them again."""
        for (name, _), log in tuple(self._open.items()):
            try:
                log.close()
            except Exception as error:
                self._give_up(name, error)
        self._open.clear()
        self._read.clear()

    def _add_training(self, name: LoggerName, target: LogTarget, run: IterationRecord) -> None:
        rows = self._read.setdefault((name, target.name), RunRows(run))
        if not rows.replaced():
            self._append(name, target, rows.new())
        elif not self._append(name, target, rows.new(), agreeing=True):  # it went on from an earlier point
            self._read[name, target.name] = RunRows(run)
            self._read[name, target.name].replaced()
            self._begin_anew(name, target, self._read[name, target.name].new())

    def _add_iterations(self, name: LoggerName, target: LogTarget, rows: Sequence[LogRow]) -> None:
        if not self._append(name, target, rows, agreeing=True):  # a verdict was given again
            self._begin_anew(name, target, rows)

    def _append(self, name: LoggerName, target: LogTarget, rows: Iterable[LogRow], *, agreeing: bool = False) -> bool:
        """Write rows at the end of a log; with `agreeing` those that it lacks, as far as it holds the same ones before.

        Returns:
            Whether it does.
        """
        log: RunLog | None = None
        held: dict[str, deque[int]] = {}
        for row in rows:
            if log is None:
                log = self._log(name, target)
                held = {stream: deque(log.marks(stream)) for stream in STREAMS} if agreeing else {}
            if not held.get(row.stream):
                log.write(row)
                self.rows += 1
            elif held[row.stream].popleft() != row.mark:
                return False
        if log is not None:
            log.flush()
        return not any(held.values())

    def _begin_anew(self, name: LoggerName, target: LogTarget, rows: Iterable[LogRow]) -> None:
        """Write a log again, but for as many rows as cannot be taken back."""
        log = self._log(name, target)
        log.restart()
        kept = {stream: len(log.marks(stream)) for stream in STREAMS}
        for row in rows:
            if kept[row.stream]:
                kept[row.stream] -= 1
            else:
                log.write(row)
                self.rows += 1
        log.flush()

    def _log(self, name: LoggerName, target: LogTarget) -> RunLog:
        key = name, target.name
        if key not in self._open:
            self._open[key] = registry.load("logger", registry.LOGGERS, name)(target)
        return self._open[key]

    def _give_up(self, name: LoggerName, error: Exception) -> None:
        if name in self._names:
            self._names.remove(name)
            self._failed(name, error)
        for key in [key for key in self._open if key[0] is name]:
            log: Any = self._open.pop(key)
            try:
                log.close()
            except Exception:  # it was told already
                continue


def write_logs(ws: Workspace, session_id: str, names: Sequence[LoggerName]) -> int:
    """Write the logs of a session, whatever it was started with; return the number of rows that were missing.

    Raises:
        UnknownName: there is no such session.
        Busy: they are being written now.
        MissingExtra: a logger is not installed.
        Exception: what the logger raised.
    """

    def raise_it(_: LoggerName, error: Exception) -> None:
        raise error

    record = ws.record(session_id)
    require_loggers(names)
    if is_live(ws, record.logging_dir):
        raise Busy(f"The logs of {session_id} are being written now, as it was started with them.")
    logs = SessionLogs(record, names, raise_it)
    try:
        logs.write()
    finally:
        logs.close()
    return logs.rows


def warn_once(record: SessionRecord, name: LoggerName, error: Exception) -> None:
    """Tell in the events of a session that a logger failed, unless they say so already."""
    begin = FAILED.format(name=name)
    if any(begin in str(event.data.get("message")) for event in record.events.read()):
        return
    said = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    message = f"{begin}: {said}. The session goes on without it; an export of its log adds what is missing."
    record.events.emit(EventName.GUARDRAIL, message=message)
