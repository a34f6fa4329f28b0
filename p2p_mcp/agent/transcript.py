"""What was said and done, a line each, on disk before the agent goes on; and a conversation made of it again."""

from collections.abc import Sequence
from datetime import UTC, datetime

from p2p.contracts.agent import AgentRequest, Spending, TranscriptEntry
from p2p.redaction import redact
from p2p.service.sessions.transcripts import append_transcript, claim_transcript, move_transcript, new_transcript
from p2p.service.workspace import Workspace
from p2p_mcp.agent.context import without_pictures
from p2p_mcp.agent.converter import Block, text_block, tool_result

THINKING = ("thinking", "redacted_thinking")
LOST = "The agent was stopped before this answer came. Look how things stand before you call it again."


class Transcript:
    """Writes one transcript; it moves into the folder of its session as soon as there is one.

    Args:
        ws: keeps it.
        transcript_id: of one to go on with; None begins a new one.

    Raises:
        InvalidInput: another agent is at work on it.
    """

    def __init__(self, ws: Workspace, transcript_id: str | None = None) -> None:
        self._ws = ws
        self.transcript_id = transcript_id or new_transcript(ws)

        self._claim = claim_transcript(ws, self.transcript_id)

    def close(self) -> None:
        """Let others go on with it."""
        self._claim.close()

    def start(self, request: AgentRequest, spending: Spending) -> None:
        """Write what was asked for."""
        self._write(TranscriptEntry(kind="start", at=_now(), request=request, spending=spending))

    def message(self, message: Block, spending: Spending) -> None:
        """Write a message of either side, its pictures left out."""
        kept = redact(without_pictures([message])[0])
        self._write(TranscriptEntry(kind="message", at=_now(), message=kept, spending=spending))

    def note(self, text: str, spending: Spending) -> None:
        """Write something that happened."""
        self._write(TranscriptEntry(kind="note", at=_now(), text=redact(text), spending=spending))

    def end(self, text: str, spending: Spending) -> None:
        """Write how it ended."""
        self._write(TranscriptEntry(kind="end", at=_now(), text=redact(text), spending=spending))

    def move_to(self, session_id: str) -> None:
        """Go on beside a session."""
        if session_id == self.transcript_id:
            return
        claim = claim_transcript(self._ws, session_id)
        move_transcript(self._ws, self.transcript_id, session_id)
        self.close()
        self.transcript_id, self._claim = session_id, claim

    def _write(self, entry: TranscriptEntry) -> None:
        append_transcript(self._ws, self.transcript_id, entry)


def restore(entries: Sequence[TranscriptEntry], model: str) -> list[Block]:
    """The conversation so far; a call that was never answered is answered with a line that says so.

    Args:
        entries: of the transcript.
        model: who goes on; the thoughts of another model mean nothing to it and are left out.
    """
    same = all(entry.request.model == model for entry in entries if entry.request)
    messages: list[Block] = []
    for entry in entries:
        if entry.message is None:
            continue
        role, content = entry.message["role"], entry.message["content"]
        blocks = [block for block in content if same or block["type"] not in THINKING]  # type: ignore[attr-defined]
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    if messages and messages[-1]["role"] == "assistant":
        calls = [block for block in messages[-1]["content"] if block["type"] == "tool_use"]
        lost = [tool_result(block["id"], [text_block(LOST)], is_error=True) for block in calls]
        if lost:
            messages.append({"role": "user", "content": lost})
    return messages


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
