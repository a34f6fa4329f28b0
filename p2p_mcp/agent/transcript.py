"""What was said and done, a line each, on disk before the agent goes on; and a conversation made of it again."""

from collections.abc import Sequence
from datetime import UTC, datetime

from p2p.contracts.agent import AgentRequest, Spending, TranscriptEntry
from p2p.contracts.inference import Message
from p2p.redaction import redact
from p2p.service.sessions.transcripts import append_transcript, claim_transcript, move_transcript, new_transcript
from p2p.service.workspace import Workspace
from p2p_mcp.agent.converter import failed_call, without_pictures

LOST = "The agent was stopped before this answer came. Look how things stand before you call it again."


class Transcript:
    """Writes one transcript; it moves into the folder of its session as soon as there is one.

    Args:
        service: keeps it.
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

    def message(self, message: Message, spending: Spending) -> None:
        """Write a message of either side, its pictures left out."""
        kept = Message.model_validate(redact(without_pictures([message])[0].model_dump(mode="json")))
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
        self.transcript_id = session_id
        self._claim = claim

    def _write(self, entry: TranscriptEntry) -> None:
        append_transcript(self._ws, self.transcript_id, entry)


def restore(entries: Sequence[TranscriptEntry]) -> list[Message]:
    """The conversation so far; a call that was never answered is answered with a line that says so.

    Thoughts are kept with the model they belong to: a provider leaves out those of another one.
    """
    messages: list[Message] = []
    for entry in entries:
        if entry.message is not None:
            messages = joined(messages, entry.message)
    if messages and (calls := messages[-1].tool_calls):
        lost = tuple(failed_call(call, LOST) for call in calls)
        messages.append(Message(role="user", parts=lost))
    return messages


def joined(messages: Sequence[Message], message: Message) -> list[Message]:
    """The conversation with one more message; two of ours in a row become one, as the vendors want them."""
    if messages and messages[-1].role == message.role == "user":
        parts = (*messages[-1].parts, *message.parts)
        return [*messages[:-1], messages[-1].model_copy(update={"parts": parts})]
    return [*messages, message]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
