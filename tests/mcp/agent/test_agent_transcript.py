from pathlib import Path
from typing import Literal

import pytest

from p2p.contracts.agent import AgentRequest, Spending, TranscriptEntry
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.inference import ImagePart, Message, Part, TextPart, ToolCall, ToolResult
from p2p.contracts.session import NewSession
from p2p.redaction import redact
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.transcripts import find_transcript, read_transcript
from p2p.service.workspace import Workspace
from p2p_mcp.agent.transcript import LOST, Transcript, restore

REQUEST = AgentRequest(sentence="hop", model="claude-a")


def entry(role: Literal["user", "assistant"], *parts: Part) -> TranscriptEntry:
    return TranscriptEntry(kind="message", at="now", message=Message(role=role, parts=parts))


def test_a_transcript_lies_aside_until_there_is_a_session(ws: Workspace) -> None:
    transcript = Transcript(ws)
    transcript.start(REQUEST, Spending())
    aside = ws.settings.runs_dir / "transcripts" / f"{transcript.transcript_id}.jsonl"
    assert aside.exists()
    session = create_session(ws, NewSession(prompt="hop forward without falling", env_id="Hopper-v5"))
    transcript.move_to(session.session_id)
    transcript.note("moved", Spending(turns=1))
    transcript.close()
    assert not aside.exists()
    assert [line.kind for line in read_transcript(ws, session.session_id)] == ["start", "note"]
    assert find_transcript(ws, "latest") == session.session_id


def test_a_second_agent_on_a_session_writes_behind_the_first(ws: Workspace) -> None:
    session = create_session(ws, NewSession(prompt="hop forward without falling", env_id="Hopper-v5"))
    for text in ("first", "second"):
        transcript = Transcript(ws)
        transcript.note(text, Spending())
        transcript.move_to(session.session_id)
        transcript.close()
    assert [line.text for line in read_transcript(ws, session.session_id)] == ["first", "second"]


def test_a_line_broken_by_a_crash_spoils_only_itself(ws: Workspace) -> None:
    transcript = Transcript(ws)
    transcript.note("whole", Spending())
    file = ws.settings.runs_dir / "transcripts" / f"{transcript.transcript_id}.jsonl"
    with file.open("a") as stream:
        stream.write('{"kind": "note", "at": "no')
    transcript.note("after", Spending())
    transcript.close()
    assert [line.text for line in read_transcript(ws, transcript.transcript_id)] == ["whole", "after"]


def test_only_one_agent_at_a_time_goes_on_with_a_transcript(ws: Workspace) -> None:
    first = Transcript(ws)
    with pytest.raises(InvalidInput, match="at work on"):
        Transcript(ws, first.transcript_id)
    first.close()
    Transcript(ws, first.transcript_id).close()


def test_what_has_no_transcript_is_named(ws: Workspace) -> None:
    with pytest.raises(UnknownName, match="Known: none yet"):
        find_transcript(ws, "latest")
    with pytest.raises(InvalidInput, match="no agent has worked on it"):
        read_transcript(ws, "session_x")
    with pytest.raises(InvalidInput):
        read_transcript(ws, "../../etc/passwd")


def test_pictures_stay_out_of_the_transcript(ws: Workspace, tmp_path: Path) -> None:
    transcript = Transcript(ws)
    image = ImagePart(media_type="image/jpeg", data="QUJD" * 100)
    result = ToolResult(call_id="t", name="view_rollout", text="seen", images=(image,))
    transcript.message(Message(role="user", parts=(image, result)), Spending())
    transcript.close()
    assert "QUJD" not in next(tmp_path.rglob("*.jsonl")).read_text()


def test_keys_are_replaced_wherever_they_stand() -> None:
    value = {"a": ["x sk-1 y", {"b": "sk-1sk-2"}], "n": 3}
    assert redact(value, {"A_KEY": "sk-1", "B_KEY": "sk-2"}) == {"a": ["x [A_KEY] y", {"b": "[A_KEY][B_KEY]"}], "n": 3}


def test_a_conversation_is_restored_with_its_parts_joined() -> None:
    call = ToolCall(call_id="t1", name="get_job")
    entries = [
        TranscriptEntry(kind="start", at="now", request=REQUEST),
        entry("user", TextPart(text="task")),
        entry("assistant", call),
        TranscriptEntry(kind="note", at="now", text="something"),
    ]
    messages = restore(entries)
    assert [message.role for message in messages] == ["user", "assistant", "user"]
    assert messages[1].parts == (call,)
    assert messages[2].parts == (ToolResult(call_id="t1", name="get_job", text=LOST, is_error=True),)
    joined = restore([*entries[:2], entry("user", TextPart(text="more"))])
    assert joined == [Message(role="user", parts=(TextPart(text="task"), TextPart(text="more")))]
