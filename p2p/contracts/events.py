"""The event log of a session: one JSON object per line in `events.jsonl`."""

from enum import StrEnum

from p2p.contracts.base import Contract


class EventName(StrEnum):
    """What happened."""

    SESSION_STARTED = "session.started"
    SESSION_RESUMED = "session.resumed"
    SESSION_COMPLETED = "session.completed"
    SESSION_ERROR = "session.error"
    SETTINGS_CHANGED = "settings.changed"
    INTENT_ELICITED = "intent.elicited"
    ITERATION_STARTED = "iteration.started"
    REWARD_START = "reward.generate.start"
    REWARD_END = "reward.generate.end"
    REWARD_ERROR = "reward.generate.error"
    CANDIDATES_START = "candidates.start"
    CANDIDATES_END = "candidates.end"
    """Several rewards have had their short trainings, and one is chosen."""
    TRAIN_START = "train.start"
    TRAIN_END = "train.end"
    CHECKPOINT_JUDGED = "checkpoint.judged"
    """A run has measured a checkpoint on its selection rollouts."""
    JUDGE_START = "judge.start"
    JUDGE_END = "judge.end"
    GUARDRAIL = "guardrail.warning"
    ITERATION_COMPLETED = "iteration.completed"
    REVISE_START = "revise.start"
    REVISE_END = "revise.end"
    LLM_CALL = "llm.call"
    """A language model has answered, or failed to; `number` leads to the whole of it."""


class Event(Contract):
    """One line of the log."""

    seq: int
    """Gapless, from 1; continues when the log is opened again."""
    timestamp: str
    """UTC, ISO 8601."""
    event: EventName
    iteration: int | None = None
    data: dict[str, object] = {}
    duration_ms: int | None = None
