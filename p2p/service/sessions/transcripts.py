"""What an agent said and did, kept so that it can go on."""

from typing import TextIO

from p2p.contracts.agent import TranscriptEntry
from p2p.contracts.errors import InvalidInput
from p2p.service.workspace import Workspace
from p2p.store.transcripts import Transcripts


def new_transcript(ws: Workspace) -> str:
    """An id for a transcript whose session does not exist yet."""
    return Transcripts(ws.runs).new_id()


def append_transcript(ws: Workspace, transcript_id: str, entry: TranscriptEntry) -> None:
    """Add one line, on disk when this returns."""
    Transcripts(ws.runs).append(transcript_id, entry)


def claim_transcript(ws: Workspace, transcript_id: str) -> TextIO:
    """Take a transcript for this process, until the returned file is closed or the process ends.

    Raises:
        InvalidInput: another process has it.
    """
    return Transcripts(ws.runs).claim(transcript_id)


def move_transcript(ws: Workspace, transcript_id: str, session_id: str) -> None:
    """Put a transcript into the folder of the session it is about."""
    ws.record(session_id)
    Transcripts(ws.runs).move(transcript_id, session_id)


def read_transcript(ws: Workspace, transcript_id: str) -> tuple[TranscriptEntry, ...]:
    """All lines, oldest first.

    Raises:
        InvalidInput: `transcript_id` is not an id, or nothing was written under it.
    """
    entries = Transcripts(ws.runs).read(transcript_id)
    if not entries:
        raise InvalidInput(f"{transcript_id} has no transcript: no agent has worked on it. Start one: p2p agent")
    return entries


def find_transcript(ws: Workspace, text: str) -> str:
    """The id of the transcript meant by an id, the start or end of one, or "latest".

    Raises:
        UnknownName: no transcript, or more than one, is meant.
    """
    return Transcripts(ws.runs).find(text)
