"""List of all sessions; ended ones come from the index."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import ValidationError

import p2p
from p2p import contracts
from p2p.contracts.errors import InvalidInput
from p2p.contracts.protocols import Backend
from p2p.contracts.session import SessionView
from p2p.service.progress import session_view as progress
from p2p.service.workspace import Workspace
from p2p.store.index import Entry, Index
from p2p.store.sessions import RunsDirectory, SessionRecord

KIND = "session"
AT_WORK = ("queued", "submitting", "running", "unreachable")


def session_views(runs: RunsDirectory, backend: Backend) -> list[SessionView]:
    """Sessions outside the trash, newest first; a broken one hides no other."""
    views = [view for view in _all_views(runs, backend) if view.metadata.deleted_at is None]
    return sorted(views, key=lambda view: (view.session.created_at, view.session.session_id), reverse=True)


def _all_views(runs: RunsDirectory, backend: Backend) -> Iterator[SessionView]:
    index = Index(runs.path)
    known = index.entries(KIND)
    fresh = dict[str, Entry]()
    met = set[str]()
    for record in runs.unsorted():
        name = record.session_id
        signature = record.signature()
        met.add(name)
        source = f"{_code()} {signature}"
        if (view := _unchanged(known.get(name), source, runs.path)) is None:
            with suppress(InvalidInput):
                view = progress.view(record, backend)
        if view is None:
            continue
        if signature is not None and known.get(name, ("",))[0] != source and _rests(view, record):
            fresh[name] = (source, view.model_dump_json())
        yield view
    index.save(KIND, fresh, known.keys() - met)


def _unchanged(entry: Entry | None, source: str, root: Path) -> SessionView | None:
    """Cached view of an entry; None if the session or the code has changed since."""
    if entry is None or entry[0] != source:
        return None
    try:
        view = SessionView.model_validate_json(entry[1])
    except ValidationError:
        return None
    paths = (path for path in view.artefacts.model_dump().values() if path is not None)
    return view if all((root / path).exists() for path in paths) else None


def _rests(view: SessionView, record: SessionRecord) -> bool:
    """Whether a session has ended with no job running, so that only a command can change it."""
    busy = view.alive or any(run.state in AT_WORK for run in view.runs)
    return view.status.finished and not busy and record.session_id == view.session.session_id


@cache
def _code() -> str:
    """Fingerprint of the code, which also detects versions edited in place."""
    folders = (Path(contracts.__file__).parent, Path(__file__).parent)
    newest = max(path.stat().st_mtime_ns for folder in folders for path in folder.glob("*.py"))
    return f"{p2p.__version__} {newest}"


def list_sessions(ws: Workspace, *, starred: bool = False, tags: Sequence[str] = ()) -> tuple[SessionView, ...]:
    """Sessions outside the trash, newest first.

    Args:
        starred: Only those with a star.
        tags: Only those that have all of these.
    """
    views = session_views(ws.runs, ws.backend)
    wanted = set(tags)
    return tuple(v for v in views if (v.metadata.starred or not starred) and wanted <= set(v.metadata.tags))


def find_session(ws: Workspace, text: str) -> str:
    """Resolve an id, an alias, the start or end of an id, or "latest" to a session id.

    Raises:
        UnknownName: none, or more than one, is meant.
    """
    return ws.runs.find(text).session_id
