"""Checkpoints are told of as they appear, each once."""

import json
from pathlib import Path

from p2p.contracts.session import EventName
from p2p.service.training.checkpoint_events import CheckpointJudgments
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


def _evaluated(run: IterationRecord, step: int, share: float) -> None:
    row = {"type": "eval", "global_step": step, "intent_score": share, "success_rate": share, "criteria": {"up": 0.3}}
    path = run.path / "metrics" / "scalars.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps({**row, "criteria_met": {"up": share}}) + "\n")


def test_each_checkpoint_is_told_of_once_also_by_another_driver(tmp_path: Path) -> None:
    record = SessionRecord(tmp_path / "session_a")
    run = record.iteration(1).run("baseline", 10)
    looks: list[str] = []
    first = CheckpointJudgments(record, 1, [run], lambda: looks.append("look"))
    first.look()
    _evaluated(run, 1000, 0.5)
    first.look()
    first.look()
    _evaluated(run, 2000, 0.9)
    again = CheckpointJudgments(record, 1, [run], lambda: looks.append("look"))
    again.look()
    told = [event for event in record.events.read() if event.event is EventName.CHECKPOINT_JUDGED]
    assert [(event.iteration, event.data["run_id"], event.data["step"]) for event in told] == [
        (1, run.iteration_id, 1000),
        (1, run.iteration_id, 2000),
    ]
    assert [event.data["failure_tags"] for event in told] == [["up_not_met"], []]
    assert [event.data["success_rate"] for event in told] == [0.5, 0.9]
    assert len(looks) == 4
