"""What lies in the trash."""

from enum import StrEnum

from p2p.contracts.base import Contract


class TrashKind(StrEnum):
    """What was deleted."""

    SESSION = "session"
    SUITE_RUN = "suite_run"
    """With its sessions."""


class TrashLine(Contract):
    """Something in the trash."""

    kind: TrashKind
    id: str
    """Of the session, or name of the run of a suite."""
    title: str
    """First words of the session's sentence; of a run its suite."""
    alias: str
    env_id: str
    """Of a session; empty for a run."""
    deleted_at: str
    """UTC, ISO 8601."""
    sessions: int
    """That go with it when it is removed: 1 for a session."""
    bytes: int
    """Disk space that is free then, as the lengths of its files say."""
