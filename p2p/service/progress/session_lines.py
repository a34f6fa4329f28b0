"""Sessions and iterations as short lines for lists of thousands.

A process keeps the lines in memory. To renew them it looks at the time of each session's directory: p2p replaces files
there, and never writes into one that a line is made from. What is at work is read again every half second, and what is
not, but has not ended, every five.
"""

import base64
import json
import math
import operator
import os
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from p2p.contracts.errors import InvalidInput
from p2p.contracts.numbers import SLACK
from p2p.contracts.session_line import (
    MAX_LINES,
    IterationLine,
    IterationPage,
    SessionFilters,
    SessionLine,
    SessionOrder,
    SessionPage,
    SessionQuery,
)
from p2p.service.progress.listing import SessionRow, read_rows, row_of_directory, source_of
from p2p.service.rounding import short
from p2p.service.workspace import Workspace
from p2p.store import session_directories
from p2p.store.index import Entry, Index
from p2p.store.versions import directory_times

KIND = "line"
AT_WORK_S = 0.5
"""After which a session at work is read again [s]."""
UNFINISHED_S = 5.0
"""After which any other that has not ended is read again [s]."""
REST = 4
"""What took long to read is read again after so many times its length, at the earliest."""
AT_ONCE = 50
"""Sessions whose whole views are in memory at a time."""
PROMPT_LETTERS = 60
ERROR_LETTERS = 60
DIAGNOSIS_LETTERS = 120
SCORES = 6
"""Verdicts that a line shows."""
ITERATIONS = "iterations"
CURSORS: Mapping[str, Sequence[type]] = {
    SessionOrder.NEWEST: [str, str, str],
    SessionOrder.OLDEST: [str, str, str],
    SessionOrder.SCORE: [str, float, str, str],
    ITERATIONS: [str, str, str, int],
}
"""Types in a cursor: what is paged, then the place of the last line."""
ABSENT = (0, 0)


class KnownSession(NamedTuple):
    """What is kept of a session."""

    line: SessionLine
    iterations: tuple[IterationLine, ...]
    """Newest first."""
    text: str
    """What is searched, in small letters."""
    deleted_at: str | None
    rests: bool
    alive: bool

    def place(self, order: SessionOrder) -> tuple[float | str, ...]:
        """What a list is sorted by."""
        age = (self.line.created_at, self.line.session_id)
        return (-1.0 if self.line.score is None else self.line.score, *age) if order is SessionOrder.SCORE else age


def session_lines(ws: Workspace, query: SessionQuery | None = None) -> SessionPage:
    """One page of the sessions outside the trash.

    Raises:
        InvalidInput: its cursor is not one that such a page gave.
    """
    return _page_of(_outside_the_trash(ws), query or SessionQuery())


def session_filters(ws: Workspace) -> SessionFilters:
    """What the sessions outside the trash can be filtered by."""
    return _filters_of(_outside_the_trash(ws))


def lines_and_filters(ws: Workspace, query: SessionQuery) -> tuple[SessionPage, SessionFilters]:
    """Both, from one look at the directories of all sessions.

    Raises:
        InvalidInput: as `session_lines`.
    """
    sessions = _outside_the_trash(ws)
    return _page_of(sessions, query), _filters_of(sessions)


def iteration_lines(ws: Workspace, session_id: str | None = None, limit: int = 50, cursor: str = "") -> IterationPage:
    """One page of the iterations of all sessions outside the trash, or of one.

    Args:
        session_id: Only of this session.
        limit: Most lines of the page, 1 … 200.
        cursor: `next` of the page before; empty for the first.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: `limit` is out of range, or the cursor is not one that such a page gave.
    """
    if not 1 <= limit <= MAX_LINES:
        raise InvalidInput(f"limit lies in 1 … {MAX_LINES}, got {limit}.")
    if session_id is not None:
        ws.record(session_id)
    sessions = [known for known in _outside_the_trash(ws) if session_id in (None, known.line.session_id)]
    sessions.sort(key=lambda known: known.place(SessionOrder.NEWEST), reverse=True)
    last = _read_cursor(cursor, ITERATIONS) if cursor else None
    begun = (known for known in sessions if last is None or known.place(SessionOrder.NEWEST) <= last[:2])
    placed = (
        ((*known.place(SessionOrder.NEWEST), line.iteration), line) for known in begun for line in known.iterations
    )
    rest = (one for one in placed if last is None or one[0] < last)
    page = list(islice(rest, limit + 1))
    return IterationPage(
        lines=tuple(line for _, line in page[:limit]),
        next=_cursor(ITERATIONS, page[limit - 1][0]) if len(page) > limit else None,
        total=sum(len(known.iterations) for known in sessions),
    )


def known_sessions(ws: Workspace, session_ids: Collection[str] | None = None) -> list[KnownSession]:
    """Readable sessions as they are now, in no order, those in the trash too.

    Args:
        session_ids: Only those that are known of these, for which no directory is listed; None for all.
    """
    return _memory(ws.settings.runs_dir).renewed(ws, session_ids)


def _outside_the_trash(ws: Workspace) -> list[KnownSession]:
    return [known for known in known_sessions(ws) if known.deleted_at is None]


def _page_of(sessions: Sequence[KnownSession], query: SessionQuery) -> SessionPage:
    order = query.sort
    found = [known for known in sessions if _matches(known, query)]
    found.sort(key=lambda known: known.place(order), reverse=order is not SessionOrder.OLDEST)
    rest = found
    if query.cursor:
        last = _read_cursor(query.cursor, order)
        later = operator.gt if order is SessionOrder.OLDEST else operator.lt
        rest = [known for known in found if later(known.place(order), last)]
    page = rest[: query.limit]
    return SessionPage(
        lines=tuple(known.line for known in page),
        next=_cursor(order, page[-1].place(order)) if len(rest) > len(page) else None,
        total=len(found),
    )


def _filters_of(sessions: Sequence[KnownSession]) -> SessionFilters:
    lines = [known.line for known in sessions]
    return SessionFilters(
        total=len(lines),
        statuses=dict(Counter(line.status for line in lines)),
        environments=dict(sorted(Counter(line.env_id for line in lines).items())),
        tags=dict(sorted(Counter(tag for line in lines for tag in line.tags).items())),
    )


def _matches(known: KnownSession, query: SessionQuery) -> bool:
    line = known.line
    return (
        (not query.starred or line.starred)
        and (not query.status or line.status in query.status)
        and query.env in ("", line.env_id)
        and set(query.tag) <= set(line.tags)
        and all(word in known.text for word in query.q.casefold().split())
    )


def _cursor(kind: str, place: Sequence[float | str]) -> str:
    return base64.urlsafe_b64encode(json.dumps([kind, *place]).encode()).decode().rstrip("=")


def _read_cursor(cursor: str, kind: str) -> tuple[Any, ...]:
    """Place of the last line of the page that gave the cursor.

    Raises:
        InvalidInput: no page of this kind gave it.
    """
    with suppress(ValueError):
        value = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        types = [type(part) for part in value] if isinstance(value, list) else []
        if types == CURSORS[kind] and value[0] == kind:
            return tuple(value[1:])
    raise InvalidInput(f"{cursor[:80]!r} is no cursor of this list: use `next` of the page before, with the same sort.")


class _Seen(NamedTuple):
    known: KnownSession
    stamp: tuple[int, ...]
    """Times of its directories when it was read."""
    settled: bool
    """Whether every later change has another time, or is found when it is due."""
    due: float
    """When it is read again, by the monotonic clock; infinity for one that rests."""


@lru_cache(maxsize=8)
def _memory(runs_dir: Path) -> "_Memory":
    return _Memory(runs_dir)


class _Memory:
    """The sessions of one runs directory as they were last read; for several threads."""

    def __init__(self, runs_dir: Path) -> None:
        self._root = runs_dir
        self._lock = Lock()
        self._seen: dict[str, _Seen] = {}
        self._unreadable: dict[str, tuple[int, ...]] = {}

    def renewed(self, ws: Workspace, session_ids: Collection[str] | None) -> list[KnownSession]:
        with self._lock:
            names = self._names() if session_ids is None else [name for name in session_ids if name in self._seen]
            stamps = {name: stamp for name in names if (stamp := self._stamp(name))[:2] != ABSENT}
            for name in set(self._seen if session_ids is None else names) - stamps.keys():
                del self._seen[name]
            if session_ids is None:
                self._unreadable = {name: old for name, old in self._unreadable.items() if stamps.get(name) == old}
            now = time.monotonic()
            stale = {name: stamp for name, stamp in stamps.items() if self._is_stale(name, stamp, now)}
            if stale:
                self._read(ws, stale)
            return [self._seen[name].known for name in stamps if name in self._seen]

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._root) as entries:
                return [entry.name for entry in entries if session_directories.is_id(entry.name)]
        except OSError:
            return []

    def _stamp(self, name: str) -> tuple[int, ...]:
        """Times of the directories that tell whether a line may have changed."""
        seen = self._seen.get(name)
        places = [name]
        if seen is not None and not seen.known.rests:
            places += session_directories.changing_places(name, seen.known.line.iteration)
        return tuple(part for place in places for part in directory_times(f"{self._root}/{place}"))

    def _is_stale(self, name: str, stamp: tuple[int, ...], now: float) -> bool:
        seen = self._seen.get(name)
        if seen is None:
            return name not in self._unreadable
        return seen.stamp != stamp or not seen.settled or seen.due <= now

    def _read(self, ws: Workspace, stamps: Mapping[str, tuple[int, ...]]) -> None:
        unfinished = [name for name in stamps if name in self._seen and not self._seen[name].known.rests]
        for name in unfinished:  # no index knows them
            began = time.monotonic()
            self._take([name], [row] if (row := row_of_directory(ws, name)) else [], began, stamps, {})
        others = stamps.keys() - set(unfinished)
        entries = Index(self._root).entries(KIND, others) if others else {}
        sources = {name: source_of(self._root / name) for name in others}
        unknown = []
        for name, source in sources.items():
            entry = entries.get(name)
            known = _from_entry(entry) if entry is not None and source is not None and entry[0] == source else None
            if known is None:
                unknown.append(name)
            else:
                self._keep(known, stamps[name], source, math.inf)
        for begin in range(0, len(unknown), AT_ONCE):
            names = unknown[begin : begin + AT_ONCE]
            began = time.monotonic()
            self._take(names, read_rows(ws, [self._root / name for name in names]), began, stamps, sources)

    def _take(
        self,
        names: Sequence[str],
        rows: Sequence[SessionRow],
        began: float,
        stamps: Mapping[str, tuple[int, ...]],
        sources: Mapping[str, str | None],
    ) -> None:
        """Keep sessions that were read since `began`; those of `names` without a row cannot be read."""
        now = time.monotonic()
        pause = REST * (now - began)
        for name in set(names) - {row.session_id for row in rows}:
            self._seen.pop(name, None)
            self._unreadable[name] = stamps[name]
        fresh = dict[str, Entry]()
        for known in map(known_session, rows):
            name = known.line.session_id
            source = sources.get(name)
            due = math.inf if known.rests else now + max(AT_WORK_S if known.alive else UNFINISHED_S, pause)
            self._keep(known, stamps[name], source, due)
            if known.rests and source is not None:
                fresh[name] = (source, _to_json(known))
        if fresh:
            Index(self._root).save(KIND, fresh)

    def _keep(self, known: KnownSession, stamp: tuple[int, ...], source: str | None, due: float) -> None:
        # a change that had the same time as the one before it is missed until the other is read again when it is due
        settled = source is not None or not known.rests
        self._seen[known.line.session_id] = _Seen(known, stamp, settled, due)


def known_session(row: SessionRow) -> KnownSession:
    """What is kept of a session."""
    view = row.view
    name = row.session_id
    judgment = view["judgment"]
    judged = {data["iteration"]: data for data in view["history"]}
    steps = sum(run["total_timesteps"] for run in view["runs"])
    line = SessionLine(
        session_id=name,
        created_at=row.created_at,
        prompt=_cut(row.prompt, PROMPT_LETTERS),
        env_id=row.env_id,
        status=row.status,
        alias=row.metadata.alias,
        starred=row.metadata.starred,
        tags=row.metadata.tags,
        iteration=row.iteration,
        max_iterations=row.max_iterations,
        progress=short(sum(run["step"] for run in view["runs"]) / steps) if view["alive"] and steps else None,
        remaining_s=None if view["remaining_s"] is None else round(view["remaining_s"]),
        best=view["best_iteration"],
        score=_rounded(row.score),
        success=None if judgment is None else _interval(judgment),
        scores=tuple(_rounded(data["intent_score"], 2) for data in view["history"][-SCORES:]),
        threshold=view["session"]["pass_threshold"],
        error=_cut((view["error"] or "").partition("\n")[0].partition("<<")[0].strip(), ERROR_LETTERS),
    )
    words = (row.prompt, name, row.metadata.alias, *row.metadata.tags)
    return KnownSession(
        line=line,
        iterations=tuple(_iteration_line(line, n, judged.get(n)) for n in range(row.iteration, 0, -1)),
        text="\n".join(words).casefold(),
        deleted_at=row.metadata.deleted_at,
        rests=row.rests,
        alive=view["alive"],
    )


def _iteration_line(line: SessionLine, number: int, data: Mapping[str, Any] | None) -> IterationLine:
    return IterationLine(
        iteration_id=f"{line.session_id}.iter_{number}",
        session_id=line.session_id,
        iteration=number,
        env_id=line.env_id,
        verdict=data["verdict"] if data else None,
        score=_rounded(data["intent_score"]) if data else None,
        success_rate=_rounded(data["success_rate"]) if data else None,
        based_on=data["based_on"] if data else None,
        best_run_id=data["best_run_id"] if data else None,
        best_checkpoint=data["best_checkpoint"] if data else None,
        failure_tags=data["failure_tags"] if data else (),
        diagnosis=_cut(data["diagnosis"], DIAGNOSIS_LETTERS) if data else "",
        elapsed_s=round(data["elapsed_time_s"], 1) if data else 0.0,
    )


def _interval(judgment: Mapping[str, Any]) -> tuple[float, float, float] | None:
    numbers = [judgment["success_rate"], judgment["success_low"], judgment["success_high"]]
    if any(number is None for number in numbers):
        return None
    share, low, high = (round(number, 4) for number in numbers)
    return share, low, high


def _rounded(value: float | None, digits: int = 3) -> float | None:
    """Rounded down, as everywhere else where it is shown: what misses a threshold does not seem to meet it."""
    return None if value is None else math.floor(value * 10**digits + SLACK) / 10**digits


def _cut(text: str, letters: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _to_json(known: KnownSession) -> str:
    value = known._asdict() | {
        "line": known.line.model_dump(mode="json"),
        "iterations": [line.model_dump(mode="json") for line in known.iterations],
    }
    return json.dumps(value)


def _from_entry(entry: Entry) -> KnownSession | None:
    try:
        value = json.loads(entry[1])
        line = SessionLine.model_validate(value.pop("line"))
        iterations = tuple(IterationLine.model_validate(one) for one in value.pop("iterations"))
        return KnownSession(line=line, iterations=iterations, **value)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
