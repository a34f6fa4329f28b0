"""Transcripts of `p2p agent`, stored in the session, or separately before it exists."""

import fcntl
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from p2p.contracts.agent import TranscriptEntry
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.store import files, layout, locks
from p2p.store.sessions import RunsDirectory


class Transcripts:
    """Transcripts of one runs directory, by session id or an id of their own."""

    def __init__(self, runs: RunsDirectory) -> None:
        self._runs = runs

    def new_id(self) -> str:
        """Unused id for a transcript without a session, such as `agent_20260403_120000_1a2b3c4d`."""
        return f"agent_{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"

    def append(self, transcript_id: str, entry: TranscriptEntry) -> None:
        """Append one line; it is on disk on return.

        Raises:
            StorageProblem: it cannot be written.
        """
        files.append_line(self._path(transcript_id), entry.model_dump_json())

    def read(self, transcript_id: str) -> tuple[TranscriptEntry, ...]:
        """All lines, oldest first; broken or half-written ones are skipped."""
        return files.read_models(self._path(transcript_id), TranscriptEntry)

    def claim(self, transcript_id: str) -> TextIO:
        """Lock a transcript until the returned file is closed or the process ends.

        Raises:
            InvalidInput: another process has it.
            StorageProblem: it cannot be written.
        """
        path = self._path(transcript_id).with_suffix(".lock")
        files.make_directory(path.parent)
        try:
            lock = os.fdopen(locks.open_lock(path), "a")
        except OSError as error:
            raise files.storage_problem(path, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            raise InvalidInput(
                f"An agent is still at work on {transcript_id}. Wait for its end, or press Ctrl-C where it runs."
            ) from error
        return lock

    def move(self, transcript_id: str, session_id: str) -> None:
        """Move a transcript to its session; append to an existing one."""
        source = self._path(transcript_id)
        target = self._path(session_id)
        if source == target or not source.exists():
            return
        source.with_suffix(".lock").unlink(missing_ok=True)
        if not target.exists():
            source.replace(target)
            return
        for entry in self.read(transcript_id):
            files.append_line(target, entry.model_dump_json(), durable=False)
        source.unlink()

    def find(self, text: str) -> str:
        """Resolve an id, the start or end of one, or "latest" to a transcript id.

        Raises:
            UnknownName: no transcript, or more than one, is meant.
        """
        aside = {path.stem: path for path in (self._runs.path / layout.TRANSCRIPTS).glob("agent_*.jsonl")}
        in_sessions = {path.parent.name: path for path in self._runs.path.glob(f"*/{layout.TRANSCRIPT}")}
        written = {name: path.stat().st_mtime for name, path in (aside | in_sessions).items()}
        known = sorted(written, key=lambda name: written[name], reverse=True)
        if text == "latest" and known:
            return known[0]
        exact = [name for name in known if name == text]
        matches = exact or [name for name in known if name.startswith(text) or name.endswith(text)]
        if len(matches) != 1:
            raise UnknownName("transcript", text, matches or known[:10])
        return matches[0]

    def _path(self, transcript_id: str) -> Path:
        path = self._runs.session(transcript_id).path
        if transcript_id.startswith("agent_"):
            return self._runs.path / layout.TRANSCRIPTS / f"{transcript_id}.jsonl"
        return path / layout.TRANSCRIPT
