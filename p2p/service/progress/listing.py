"""List of all sessions; ended ones come from the index, and then no contract of a session is loaded.

The classes of the contracts take longer to make than all else that a list needs, and `p2p list` is typed often.
"""
# ruff: noqa: PLC0415

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import p2p
from p2p import contracts
from p2p.contracts.errors import InvalidInput
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.status import SessionStatus
from p2p.service.workspace import Workspace
from p2p.store import session_directories
from p2p.store.index import Entry, Index

if TYPE_CHECKING:
    from p2p.contracts.session import SessionView

KIND = "session"
AT_WORK = ("queued", "submitting", "running", "unreachable")


class SessionRow(NamedTuple):
    """A session on one line of a list."""

    view: Mapping[str, Any]
    """The `SessionView` as JSON, which all else is read from."""
    session_id: str
    created_at: str
    """UTC, ISO 8601."""
    status: SessionStatus
    by_caller: bool
    prompt: str
    """The sentence; empty for a reward trained without an intent."""
    env_id: str
    extends: tuple[str, int] | None
    """Session and iteration that it goes on from."""
    iteration: int
    max_iterations: int
    score: float | None
    """Of the best iteration so far."""
    success_rate: float | None
    metadata: EntityMetadata

    @property
    def rests(self) -> bool:
        """Whether it has ended with no job running, so that only a command can change it."""
        busy = self.view["alive"] or any(run["state"] in AT_WORK for run in self.view["runs"])
        return self.status.finished and not busy

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> "SessionRow":
        """The row of a `SessionView`, given as JSON.

        Raises:
            LookupError, TypeError, ValueError: it is no such view.
        """
        session = view["session"]
        judgment = view["judgment"]
        origin = session["extends"]
        return cls(
            view=view,
            session_id=session["session_id"],
            created_at=session["created_at"],
            status=SessionStatus(view["status"]),
            by_caller=view["by_caller"],
            prompt=session["prompt"],
            env_id=session["env_id"],
            extends=None if origin is None else (origin["session_id"], origin["iteration"]),
            iteration=view["iteration"],
            max_iterations=session["max_iterations"],
            score=None if judgment is None else judgment["intent_score"],
            success_rate=None if judgment is None else judgment["success_rate"],
            metadata=EntityMetadata.model_validate(view["metadata"]),
        )


def list_rows(ws: Workspace, *, starred: bool = False, tags: Sequence[str] = ()) -> tuple[SessionRow, ...]:
    """Sessions outside the trash, newest first; a broken one hides no other.

    Args:
        ws: The workspace.
        starred: Only those with a star.
        tags: Only those that have all of these.
    """
    wanted = set(tags)
    rows = [
        row
        for row in read_rows(ws, session_directories.unsorted(ws.settings.runs_dir), forget_others=True)
        if row.metadata.deleted_at is None
        and (row.metadata.starred or not starred)
        and wanted <= set(row.metadata.tags)
    ]
    return tuple(sorted(rows, key=lambda row: (row.created_at, row.session_id), reverse=True))


def list_sessions(ws: Workspace, *, starred: bool = False, tags: Sequence[str] = ()) -> "tuple[SessionView, ...]":
    """Like `list_rows`, with all that is known of each."""
    from p2p.contracts.session import SessionView

    return tuple(SessionView.model_validate(row.view) for row in list_rows(ws, starred=starred, tags=tags))


def session_row(ws: Workspace, session_id: str) -> SessionRow:
    """One session, as its line of a list and as the JSON of its view.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: it lies in the trash, or its directory holds no readable session.
    """
    rows = read_rows(ws, [ws.settings.runs_dir / session_id]) if session_directories.is_id(session_id) else []
    if not rows or rows[0].metadata.deleted_at is not None:
        ws.record(session_id)  # says why
    return rows[0]


def find_session(ws: Workspace, text: str) -> str:
    """Resolve an id, an alias, the start or end of an id, or "latest" to a session id.

    Raises:
        UnknownName: none, or more than one, is meant.
    """
    return session_directories.find(session_directories.outside_the_trash(ws.settings.runs_dir), text).name


def read_rows(ws: Workspace, directories: Sequence[Path], forget_others: bool = False) -> list[SessionRow]:
    """Rows of some sessions, from the index where they have not changed; those that cannot be read are left out.

    Args:
        ws: The workspace.
        directories: Of the sessions, also of those in the trash.
        forget_others: Whether these are all there are, so that the index may drop the others.
    """
    index = Index(ws.settings.runs_dir)
    known = index.entries(KIND, None if forget_others else [directory.name for directory in directories])
    rows = list[SessionRow]()
    fresh = dict[str, Entry]()
    for directory in directories:
        name = directory.name
        source = source_of(directory)
        row = _unchanged(known.get(name), source, ws.settings.runs_dir)
        if row is None and (row := row_of_directory(ws, name)) is None:
            continue
        if source is not None and known.get(name, ("",))[0] != source and row.rests and row.session_id == name:
            fresh[name] = (source, json.dumps(row.view))
        rows.append(row)
    gone = known.keys() - {directory.name for directory in directories} if forget_others else ()
    index.save(KIND, fresh, gone)
    return rows


def source_of(directory: Path) -> str | None:
    """Fingerprint of the code and of a session's files; None while these are too young to be relied on."""
    signature = session_directories.signature(directory)
    return None if signature is None else f"{_code()} {signature}"


def _unchanged(entry: Entry | None, source: str | None, root: Path) -> SessionRow | None:
    """Row of an entry; None if the session or the code has changed since."""
    if entry is None or entry[0] != source:
        return None
    try:
        row = SessionRow.of(json.loads(entry[1]))
        paths = [path for path in row.view["artefacts"].values() if path is not None]
        return row if all((root / path).exists() for path in paths) else None
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def row_of_directory(ws: Workspace, session_id: str) -> SessionRow | None:
    """Row of a session as its directory tells it; None if that holds no readable session."""
    from p2p.service.progress.session_view import view

    try:
        return SessionRow.of(view(ws.runs.session(session_id), ws.backend).model_dump(mode="json"))
    except InvalidInput:
        return None


@cache
def _code() -> str:
    """Fingerprint of the code, which also detects versions edited in place."""
    folders = (Path(contracts.__file__).parent, Path(__file__).parent)
    newest = max(path.stat().st_mtime_ns for folder in folders for path in folder.glob("*.py"))
    return f"{p2p.__version__} {newest}"
