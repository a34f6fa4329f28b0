"""Bring the logs of a session up to date with its records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from p2p import registry
from p2p.contracts.errors import Busy
from p2p.contracts.log_rows import LogRow, LogTarget
from p2p.contracts.loggers import LoggerName
from p2p.contracts.protocols import RunLog
from p2p.contracts.session import EventName
from p2p.service.jobs.packages import require_loggers
from p2p.service.jobs.processes import is_live
from p2p.service.logs.rows import run_rows, run_targets, session_rows, session_target
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

FAILED = "Logging to {name} failed"


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
        self._written: dict[tuple[LoggerName, str], tuple[int, int]] = {}
        """Version of the records that each log holds whole."""
        self.rows = 0
        """Rows that were written."""

    def write(self) -> None:
        """Write what the logs lack."""
        for name in tuple(self._names):
            try:
                for target, run in run_targets(self._record):
                    now = _version(run)
                    if self._written.get((name, target.name)) != now:
                        self._bring(name, target, run_rows(run))
                        self._written[name, target.name] = now
                judged = {"iteration": session_rows(self._record)}
                self._bring(name, session_target(self._record), judged, few=True)
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

    def _bring(
        self, name: LoggerName, target: LogTarget, rows: Mapping[str, Sequence[LogRow]], *, few: bool = False
    ) -> None:
        if not any(rows.values()):
            return
        key = name, target.name
        fresh = key not in self._open
        if fresh:
            self._open[key] = registry.load("logger", registry.LOGGERS, name)(target)
        log = self._open[key]
        if not all(_agrees(log.marks(stream), found, whole=fresh or few) for stream, found in rows.items()):
            log.restart()  # a training went on from an earlier point, or a verdict was given again
        for stream, found in rows.items():
            for row in found[len(log.marks(stream)) :]:
                log.write(row)
                self.rows += 1
        log.flush()

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


def _version(run: IterationRecord) -> tuple[int, int]:
    """Changes whenever something is recorded of a training."""
    try:
        status = run.scalars_path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


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


def _agrees(written: Sequence[int], rows: Sequence[LogRow], *, whole: bool) -> bool:
    """Whether the written rows are the first ones of the records; only the last is looked at unless `whole`."""
    if len(written) > len(rows):
        return False
    first = 0 if whole else max(0, len(written) - 1)
    return all(mark == row.mark for mark, row in zip(written[first:], rows[first:], strict=False))
