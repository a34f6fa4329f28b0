"""Transcripts of an agent, kept so that its work can continue."""

from typing import TextIO

from p2p.contracts.agent import TranscriptEntry
from p2p.contracts.errors import InvalidInput
from p2p.contracts.remedies import Remedy
from p2p.service.workspace import Workspace
from p2p.store.transcripts import Transcripts


def new_transcript(ws: Workspace) -> str:
    """New transcript id, before its session exists."""
    return Transcripts(ws.runs).new_id()


def append_transcript(ws: Workspace, transcript_id: str, entry: TranscriptEntry) -> None:
    """Append one line; it is on disk on return."""
    Transcripts(ws.runs).append(transcript_id, entry)


def claim_transcript(ws: Workspace, transcript_id: str) -> TextIO:
    """Lock a transcript until the returned file is closed or the process ends.

    Raises:
        InvalidInput: another process has it.
    """
    return Transcripts(ws.runs).claim(transcript_id)


def move_transcript(ws: Workspace, transcript_id: str, session_id: str) -> None:
    """Move a transcript to the folder of its session."""
    ws.record(session_id)
    Transcripts(ws.runs).move(transcript_id, session_id)


def read_transcript(ws: Workspace, transcript_id: str) -> tuple[TranscriptEntry, ...]:
    """All lines, oldest first.

    Raises:
        InvalidInput: `transcript_id` is not an id, or nothing was written under it.
    """
    entries = Transcripts(ws.runs).read(transcript_id)
    if not entries:
        raise InvalidInput(
            f"{transcript_id} has no transcript: no agent has worked on it. Start one: {Remedy.RUN_AGENT.of()}"
        )
    return entries


def find_transcript(ws: Workspace, text: str) -> str:
    """Resolve an id, the start or end of one, or "latest" to a transcript id.

    Raises:
        UnknownName: no transcript, or more than one, is meant.
    """
    return Transcripts(ws.runs).find(text)
