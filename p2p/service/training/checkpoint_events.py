"""Events for checkpoints that a run evaluates during training."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from p2p.contracts.judgment import MET_SHARE_NEEDED
from p2p.contracts.session import EventName
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


class CheckpointJudgments:
    """Emit one event per checkpoint of an iteration, also after a restart of the driver.

    They are measured on selection rollouts: they tell how a training goes, and are no verdict.

    Args:
        record: The session.
        number: Of the iteration.
        runs: Of the iteration.
        tick: Called at every look, before.
    """

    def __init__(
        self, record: SessionRecord, number: int, runs: Sequence[IterationRecord], tick: Callable[[], None]
    ) -> None:
        self._record = record
        self._number = number
        self._runs = runs
        self._tick = tick
        self._read: dict[str, int] = {}
        self._told = {
            (str(event.data.get("run_id")), event.data.get("step"))
            for event in record.events.read()
            if event.event is EventName.CHECKPOINT_JUDGED and event.iteration == number
        }

    def look(self) -> None:
        """Emit events for new checkpoints."""
        self._tick()
        for run in self._runs:
            size = files.size(run.scalars_path)
            if size == self._read.get(run.iteration_id):
                continue
            self._read[run.iteration_id] = size
            for row in run.parse_scalars()[1]:
                place = run.iteration_id, row.get("global_step")
                if row.get("intent_score") is not None and place not in self._told:
                    self._told.add(place)
                    self._record.events.emit(EventName.CHECKPOINT_JUDGED, self._number, run_id=place[0], **judged(row))


def judged(row: Mapping[str, Any]) -> dict[str, Any]:
    """Judgment of a checkpoint's evaluation, with the tags used by the judge of the report rollouts."""
    shares = row.get("criteria_met") or {}
    return {
        "step": row.get("global_step"),
        "intent_score": row.get("intent_score"),
        "success_rate": row.get("success_rate"),
        "criteria": row.get("criteria") or {},
        **({"clear": row["clear"]} if "clear" in row else {}),
        "failure_tags": [f"{key}_not_met" for key, share in shares.items() if share < MET_SHARE_NEEDED],
    }
