"""One moment of a rollout that is shown."""

from p2p.contracts.base import Contract, RelativePath


class FrameNote(Contract):
    """One moment of a rollout that was chosen to be shown."""

    index: int
    """From 1, as the number on the contact sheet."""
    t_s: float
    """Time since the start of the episode [s]."""
    step: int
    """Control step, from 1."""
    event: str
    """"start", "take-off", "apex", "landing", "end" …; empty for a moment between two events."""
    path: RelativePath | None = None
    """The moment as a picture of its own, relative to the runs directory; None where only the sheet shows it."""
