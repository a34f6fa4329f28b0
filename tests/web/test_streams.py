"""Streams: what waits for a slow reader, how many there are, how they end, and a report that is written."""

import asyncio

import pytest
from asking import EXAMPLES, Asking

from p2p.contracts.state_notice import StateNotice, Topic
from p2p.web import streams as streams_module
from p2p.web.problems import TooMany
from p2p.web.streams import Streams

HERE = f"/api/sessions/{EXAMPLES['session_id']}"


def _notice(name: str, version: str) -> StateNotice:
    return StateNotice(topic=Topic.SESSION, id=name, version=version)


@pytest.mark.anyio
async def test_a_slow_reader_gets_the_newest_version_of_each_thing_once() -> None:
    with Streams().mailbox() as mailbox:
        await asyncio.to_thread(mailbox.put, [_notice("a", "1"), _notice("b", "1")])
        await asyncio.to_thread(mailbox.put, [_notice("a", "2")])
        await asyncio.sleep(0.01)
        assert {(one.id, one.version) for one in await mailbox.take()} == {("a", "2"), ("b", "1")}


@pytest.mark.anyio
async def test_more_streams_than_there_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams_module, "MOST", 1)
    streams = Streams()
    with streams.mailbox(), pytest.raises(TooMany), streams.mailbox():
        pass
    assert streams.open == 0
    with streams.mailbox():
        assert streams.open == 1


@pytest.mark.anyio
async def test_all_streams_are_woken_when_the_server_stops() -> None:
    streams = Streams()
    with streams.mailbox() as mailbox:
        streams.close()
        assert await asyncio.wait_for(mailbox.take(), 10) == []
        assert streams.closing


def test_a_report_is_written_once_and_read_for_nothing(web: Asking) -> None:
    assert web("GET", f"{HERE}/analysis").status == 404
    told = web("POST", f"{HERE}/analyze")
    names = [line.removeprefix("event: ") for line in told.body.decode().splitlines() if line.startswith("event: ")]
    assert names == ["status", "result"]
    assert web("GET", f"{HERE}/analysis").data["written_by"] == "builtin"


def test_a_report_that_cannot_be_written_says_why(web: Asking) -> None:
    body = {"prompt": "keep the pole balanced", "env_id": "InvertedPendulum-v5", "start": False}
    empty = web("POST", "/api/sessions", None, body).data["session_id"]
    told = web("POST", f"/api/sessions/{empty}/analyze").body.decode()
    assert "event: problem" in told
    assert "nothing" in told.lower() or "judged" in told
