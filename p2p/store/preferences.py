"""Preferences of eyes between two policies of one session."""

from pathlib import Path

from p2p.contracts.preference import Preference
from p2p.store import files, layout


class PreferencesRecord:
    """Recorded comparisons of a session.

    Args:
        session: Its directory.
    """

    def __init__(self, session: Path) -> None:
        self._path = session / layout.PREFERENCES

    def append(self, preference: Preference) -> None:
        """Append one line to `preferences.jsonl`; it is on disk on return."""
        files.append_line(self._path, preference.model_dump_json())

    def read(self) -> tuple[Preference, ...]:
        """All of them, oldest first; broken lines are skipped."""
        return files.read_models(self._path, Preference)
