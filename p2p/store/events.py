"""The event log of a session."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from p2p.contracts.events import Event, EventName
from p2p.store import files
from p2p.store.clock import now


class EventLog:
    """Appends to `events.jsonl`; sequence numbers are gapless, also over several processes and restarts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def emit(
        self,
        event: EventName,
        iteration: int | None = None,
        duration_ms: int | None = None,
        **data: object,
    ) -> Event:
        """Append one event."""
        with self._exclusive():
            seen = self.read()
            entry = Event(
                seq=seen[-1].seq + 1 if seen else 1,
                timestamp=now(),
                event=event,
                iteration=iteration,
                data=data,
                duration_ms=duration_ms,
            )
            files.append_line(self.path, entry.model_dump_json())
        return entry

    @contextmanager
    def span(self, start: EventName, end: EventName, iteration: int | None = None) -> Iterator[None]:
        """Emit `start`, then `end` with the duration; nothing marks the end of a span that raises."""
        self.emit(start, iteration)
        begun = time.monotonic()
        yield
        self.emit(end, iteration, duration_ms=round(1000 * (time.monotonic() - begun)))

    def read(self) -> list[Event]:
        """All events, oldest first; broken lines are skipped."""
        values, _ = files.read_lines(self.path)
        return [event for value in values if (event := _event(value))]

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        files.make_directory(self.path.parent)
        try:
            lock = self.path.with_suffix(".lock").open("a")
        except OSError as error:
            raise files.storage_problem(self.path, error) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _event(value: object) -> Event | None:
    try:
        return Event.model_validate(value)
    except ValidationError:
        return None
