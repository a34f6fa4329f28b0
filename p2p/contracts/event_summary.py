"""The event log of a session as it is shown: short lines, and one event whole."""

from p2p.contracts.base import Contract
from p2p.contracts.inference import CallRecord
from p2p.contracts.session import Event


class EventSummary(Event):
    """One event of the log; long texts and lists in `data` are cut."""

    has_full_content: bool = False
    """Whether there is more: something was cut, or the call of a model stands behind it."""


class EventPage(Contract):
    """Events after a number."""

    events: tuple[EventSummary, ...]
    """Oldest first."""
    last: int
    """Number of the newest event of the log; 0 where there is none. Where it is larger than that of the last one
    here, there are more."""


class EventDetail(Contract):
    """One event, whole."""

    event: Event
    call: CallRecord | None = None
    """What a model was asked and what it answered; None where no call stands behind it, or nothing was kept."""
