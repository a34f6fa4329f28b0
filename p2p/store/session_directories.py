"""The directories of the sessions of a runs directory: found, ordered, named, and whether one has changed.

Apart from `store.sessions`, whose records load a hundred contracts: a list of sessions that have ended needs one.
"""

from collections.abc import Sequence
from pathlib import Path

from p2p.contracts.errors import AmbiguousName, UnknownName
from p2p.contracts.metadata import EntityMetadata
from p2p.store import files, layout

SETTLED_S = 2.0
"""Age from which a later change has another time than this one; file systems count in milliseconds, some in seconds."""
NAMED = 10
"""Known ids that an error names."""


def unsorted(runs_dir: Path) -> list[Path]:
    """Every session including the trash, unordered."""
    found = [path.parent for path in runs_dir.glob(f"*/{layout.SESSION}")]
    return [path for path in found if is_id(path.name)]


def is_id(text: str) -> bool:
    """Whether `text` can name a session's directory; anything else might lead out of the runs directory."""
    return layout.IDENTIFIER.fullmatch(text) is not None


def newest_first(runs_dir: Path) -> list[Path]:
    """Every session including the trash, newest first."""
    return sorted(unsorted(runs_dir), key=lambda path: (_created_at(path), path.name), reverse=True)


def outside_the_trash(runs_dir: Path) -> list[Path]:
    """Sessions that are not deleted, newest first."""
    return [path for path in newest_first(runs_dir) if read_metadata(path).deleted_at is None]


def trash(runs_dir: Path) -> list[Path]:
    """Sessions in the trash, last deleted first."""
    deleted = [(when, path) for path in newest_first(runs_dir) if (when := read_metadata(path).deleted_at)]
    return [path for _, path in sorted(deleted, key=lambda item: (item[0], item[1].name), reverse=True)]


def read_metadata(session: Path) -> EntityMetadata:
    """Alias, star and tags of a session."""
    return files.read_model(session / layout.METADATA, EntityMetadata) or EntityMetadata()


def signature(session: Path) -> str | None:
    """Fingerprint of a session's files; None while the last change is too recent to tell."""
    return files.signature(session, SETTLED_S)


def changing_places(session_id: str, iteration: int) -> tuple[str, str]:
    """Directories of a session that has not ended in which files come and go, relative to the runs directory."""
    return f"{session_id}/{layout.DRIVER}", f"{session_id}/{layout.iteration_name(iteration)}"


def find(sessions: Sequence[Path], text: str) -> Path:
    """Resolve an id, an alias, the start or end of an id, or "latest" to one of `sessions`, which are newest first.

    Raises:
        UnknownName: no session is meant.
        AmbiguousName: more than one is.
    """
    if text == "latest" and sessions:
        return sessions[0]
    exact = [path for path in sessions if text in (path.name, read_metadata(path).alias or None)]
    loose = [path for path in sessions if path.name.startswith(text) or path.name.endswith(text)]
    matches = exact or loose
    if not matches:
        raise UnknownName("session", text, [path.name for path in sessions[:NAMED]])
    if len(matches) > 1:
        shown = ", ".join(path.name for path in matches[:NAMED])
        more = f" and {len(matches) - NAMED} more" if len(matches) > NAMED else ""
        raise AmbiguousName(f"{text!r} can mean {len(matches)} sessions: {shown}{more}. Type more of the id.")
    return matches[0]


def _created_at(session: Path) -> str:
    value = files.read_json(session / layout.SESSION)
    return str(value.get("created_at", "")) if isinstance(value, dict) else ""
