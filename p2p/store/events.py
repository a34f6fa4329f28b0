"""The event log of a session."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p2p.contracts.session import Event, EventName
from p2p.store import files
from p2p.store.clock import now
from p2p.store.log_reader import newest_number


class EventLog:
    """Appends to `events.jsonl`; sequence numbers are gapless, also over several processes and restarts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def emit(self, event: EventName, iteration: int | None = None, /, **data: object) -> Event:
        """Append one event."""
        return self._append(event, iteration, data, None)

    def emit_timed(self, event: EventName, iteration: int | None, seconds: float, /, **data: object) -> Event:
        """Append one event that took `seconds`."""
        return self._append(event, iteration, data, round(1000 * seconds))

    def emit_once(self, event: EventName, iteration: int | None, /, **data: object) -> None:
        """Append one event, unless this iteration, or the session where it is None, already has it."""
        if not any(seen.event is event and seen.iteration == iteration for seen in self.read()):
            self.emit(event, iteration, **data)

    @contextmanager
    def span(self, start: EventName, end: EventName, iteration: int, /, **data: object) -> Iterator[dict[str, object]]:
        """Emit `start`, then `end` with the duration and what the block puts into the yielded dictionary.

        A span that raises, or whose process dies, has no end.
        """
        self._append(start, iteration, data, None)
        begun = time.monotonic()
        result: dict[str, object] = {}
        yield result
        self._append(end, iteration, result, round(1000 * (time.monotonic() - begun)))

    def _append(
        self, event: EventName, iteration: int | None, data: dict[str, object], duration_ms: int | None
    ) -> Event:
        with files.exclusive(self.path.with_suffix(".lock")):
            entry = Event(
                seq=newest_number(self.path) + 1,
                timestamp=now(),
                event=event,
                iteration=iteration,
                data=data,
                duration_ms=duration_ms,
            )
            files.append_line(self.path, entry.model_dump_json())
        return entry

    def read(self) -> list[Event]:
        """All events, oldest first; broken lines are skipped."""
        return list(files.read_models(self.path, Event))
