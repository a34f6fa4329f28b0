"""Events for those who follow a session: short, in order, each whole on request."""

from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.inference import CallLine, CallRecord, Message, ModelRequest, TextPart, Usage
from p2p.contracts.session import EventName, NewSession
from p2p.service.progress.event_log import event, events
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.calls import CallLedger
from p2p.store.sessions import SessionRecord


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path))


@pytest.fixture
def record(ws: Workspace) -> SessionRecord:
    asked = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    return ws.runs.session(create_session(ws, asked).session_id)


def test_events_are_read_on_from_the_last_one_known(ws: Workspace, record: SessionRecord) -> None:
    begun = record.events.read()[-1].seq if record.events.read() else 0
    for number in range(7):
        record.events.emit(EventName.TRAIN_START, 1, number=number)
    seen, after = [], begun
    while (page := events(ws, record.session_id, after, limit=3)).events:
        seen += page.events
        after = page.events[-1].seq
        assert page.last == begun + 7
    assert [one.data["number"] for one in seen] == list(range(7))
    assert [one.seq for one in seen] == [one.seq for one in record.events.read() if one.seq > begun]
    assert not any(one.has_full_content for one in seen)
    record.events.emit(EventName.TRAIN_END, 1)
    assert [one.event for one in events(ws, record.session_id, after).events] == ["train.end"]


@pytest.mark.parametrize(
    "data",
    [
        {"text": "x" * 301},
        {"nested": {"texts": ["short", "y" * 5000]}},
        {"list": list(range(21))},
        {"a": {"b": {"c": {"d": {"e": 1}}}}},
    ],
)
def test_what_is_long_is_cut_in_the_list_and_whole_alone(
    ws: Workspace, record: SessionRecord, data: dict[str, object]
) -> None:
    seq = record.events.emit(EventName.JUDGE_END, 1, **data).seq
    summary = events(ws, record.session_id, seq - 1).events[0]
    assert summary.has_full_content
    assert len(summary.model_dump_json()) < 1000
    assert event(ws, record.session_id, seq).event.data == data
    assert event(ws, record.session_id, seq).call is None


def test_what_just_fits_is_not_cut(ws: Workspace, record: SessionRecord) -> None:
    data = {"text": "x" * 300, "list": list(range(20)), "a": {"b": {"c": [1]}}, "none": None}
    seq = record.events.emit(EventName.JUDGE_END, 1, **data).seq
    summary = events(ws, record.session_id, seq - 1).events[0]
    assert (summary.data, summary.has_full_content) == (data, False)


def test_the_call_of_a_model_comes_with_its_event(ws: Workspace, record: SessionRecord) -> None:
    line = CallLine(
        number=4,
        state="ended",
        at="2026-01-01T00:00:00+00:00",
        role="reward_author",
        iteration=1,
        model="anthropic:x",
        digest="d",
        prompt_hash="p",
        usage=Usage(),
        dollars=0.01,
    )
    request = ModelRequest(messages=(Message(role="user", parts=(TextPart(text="write it"),)),))
    CallLedger(record.path).write(CallRecord(line=line, request=request, reply=None))
    known = record.events.emit(EventName.LLM_CALL, 1, number=4).seq
    lost = record.events.emit(EventName.LLM_CALL, 1, number=5).seq
    assert all(one.has_full_content for one in events(ws, record.session_id, known - 1).events)
    call = event(ws, record.session_id, known).call
    assert call is not None
    assert call.request == request
    assert event(ws, record.session_id, lost).call is None


def test_lines_that_are_no_events_are_left_out(ws: Workspace, record: SessionRecord) -> None:
    last = record.events.emit(EventName.TRAIN_START, 1).seq
    with record.events.path.open("a") as file:
        file.write(f'{{"seq": {last + 1}, "event": "unknown"}}\nbroken\n')
    record.events.emit(EventName.TRAIN_END, 1)
    assert [one.event for one in events(ws, record.session_id, last - 1).events] == ["train.start", "train.end"]


def test_what_is_out_of_range_or_not_there_is_refused(ws: Workspace, record: SessionRecord) -> None:
    for after, limit in ((-1, 10), (0, 0), (0, 1001)):
        with pytest.raises(InvalidInput, match="limit lies in"):
            events(ws, record.session_id, after, limit)
    for seq in (-1, 0, 10**6):
        with pytest.raises(UnknownName, match="event"):
            event(ws, record.session_id, seq)
    with pytest.raises(UnknownName, match="session"):
        events(ws, "nobody")
