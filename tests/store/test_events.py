from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from p2p.contracts.session import EventName
from p2p.store.events import EventLog


def _emit_some(path: Path) -> None:
    log = EventLog(path)
    for _ in range(20):
        log.emit(EventName.GUARDRAIL, 1, warning="x")


def test_sequence_numbers_are_unique_and_gapless_over_processes(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with ProcessPoolExecutor(3) as pool:
        list(pool.map(_emit_some, [path] * 3))
    assert [event.seq for event in EventLog(path).read()] == list(range(1, 61))


def test_a_reopened_log_continues_its_numbers(tmp_path: Path) -> None:
    EventLog(tmp_path / "events.jsonl").emit(EventName.SESSION_STARTED, prompt="run")
    event = EventLog(tmp_path / "events.jsonl").emit(EventName.SESSION_RESUMED)
    assert event.seq == 2


def test_a_span_has_a_duration_and_a_failed_one_has_no_end(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    with log.span(EventName.TRAIN_START, EventName.TRAIN_END, 1):
        pass
    with pytest.raises(RuntimeError), log.span(EventName.JUDGE_START, EventName.JUDGE_END, 1):
        raise RuntimeError("no")
    events = log.read()
    assert [event.event for event in events] == ["train.start", "train.end", "judge.start"]
    assert events[1].duration_ms is not None
