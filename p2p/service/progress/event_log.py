"""The event log of a session, for those who follow it."""

from typing import Any

from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.event_summary import EventDetail, EventPage, EventSummary
from p2p.contracts.session import Event, EventName
from p2p.service.workspace import Workspace
from p2p.store.calls import CallLedger
from p2p.store.log_reader import log_after

MAX_EVENTS = 1000
LETTERS = 300
"""Longest text in the data of a summary."""
ITEMS = 20
"""Longest list there."""
DEPTH = 4
"""Deepest nesting there."""
SAME = 8
"""Lines of one number that are looked at: an event of another version of p2p is none here, and its number is reused."""


def events(ws: Workspace, session_id: str, after: int = 0, limit: int = 200) -> EventPage:
    """Events after number `after`, oldest first, with long texts cut.

    Args:
        session_id: Whose.
        after: Number of the last event that is known; 0 for all.
        limit: Most events, 1 … 1000.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: `after` or `limit` is out of range.
    """
    if after < 0 or not 1 <= limit <= MAX_EVENTS:
        raise InvalidInput(f"after is at least 0 and limit lies in 1 … {MAX_EVENTS}, got {after} and {limit}.")
    lines, last = log_after(ws.record(session_id).events.path, after, limit)
    found = [event for line in lines if (event := _event(line)) is not None]
    return EventPage(events=tuple(_summary(event) for event in found), last=last)


def event(ws: Workspace, session_id: str, seq: int) -> EventDetail:
    """One event whole, with the call of a model behind it.

    Raises:
        UnknownName: there is no such session, or no event of this number.
    """
    record = ws.record(session_id)
    lines, last = log_after(record.events.path, seq - 1, SAME)
    found = next((one for line in lines if (one := _event(line)) is not None and one.seq == seq), None)
    if found is None:
        raise UnknownName("event", str(seq), [f"1 … {last}"] if last else [])
    number = _call_number(found)
    return EventDetail(event=found, call=CallLedger(record.path).read(number) if number is not None else None)


def _event(line: Any) -> Event | None:
    try:
        return Event.model_validate(line)
    except ValidationError:
        return None


def _call_number(event: Event) -> int | None:
    number = event.data.get("number")
    return number if event.event is EventName.LLM_CALL and isinstance(number, int) else None


def _summary(event: Event) -> EventSummary:
    data, whole = _cut(event.data, DEPTH)
    return EventSummary(
        **event.model_dump(exclude={"data"}),
        data=data,
        has_full_content=not whole or _call_number(event) is not None,
    )


def _cut(value: Any, depth: int) -> tuple[Any, bool]:
    """A JSON value with long texts and lists cut, and whether it is whole."""
    if isinstance(value, str):
        return (value, True) if len(value) <= LETTERS else (value[: LETTERS - 1] + "…", False)
    if not isinstance(value, dict | list):
        return value, True
    if not depth:
        return (value, True) if not value else ("…", False)
    if isinstance(value, list):
        cut = [_cut(item, depth - 1) for item in value[:ITEMS]]
        return [item for item, _ in cut], len(value) <= ITEMS and all(whole for _, whole in cut)
    found = {key: _cut(item, depth - 1) for key, item in value.items()}
    return {key: item for key, (item, _) in found.items()}, all(whole for _, whole in found.values())
