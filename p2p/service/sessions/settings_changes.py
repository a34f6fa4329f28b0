"""Changes of session settings after the start."""

from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import EventName, Session, SessionSettings, SessionStatus, SettingsChange, SettingsRequest
from p2p.service.progress.session_view import live_training
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.iterations import all_runs
from p2p.store.sessions import SessionRecord

OVER = (SessionStatus.PASSED, SessionStatus.COMPLETED)
"""Ends after which a session trains nothing more."""


def change_settings(ws: Workspace, session_id: str, request: SettingsRequest, by: str) -> Session:
    """Change settings of a session for trainings that have not begun yet.

    An iteration that is being trained, or has been, keeps the settings it began with.

    Args:
        session_id: Which session.
        request: The settings to change.
        by: Who asks for it.

    Raises:
        InvalidInput: nothing would change; the session has ended; the score would be lowered after a policy has
            been measured; or trainings are to end by criteria that there are not.
    """
    record = ws.record(session_id)
    with record.exclusive():
        session = record.read_session()
        before = SessionSettings(**{name: getattr(session, name) for name in SessionSettings.model_fields})
        after = before.model_copy(update=request.model_dump(exclude_none=True))
        if (refusal := _refusal(record, before, after)) is not None:
            raise InvalidInput(refusal)
        iterations = record.iteration_records()
        begun = bool(iterations) and (bool(all_runs(iterations[-1])) or live_training(record, ws.backend) is not None)
        number = len(iterations) + 1 if begun or not iterations else len(iterations)
        try:
            change = SettingsChange(from_iteration=number, by=by, before=before, after=after, at=now())
        except ValidationError as error:
            raise InvalidInput(f"Say who changes the settings, in 1 … 100 characters; got {by!r}.") from error
        record.append_settings_change(change)
        changed = session.model_copy(update=after.model_dump())
        record.save_session(changed)
        record.events.emit(EventName.SETTINGS_CHANGED, change.from_iteration, changes=list(change.words), by=change.by)
    return changed


def _refusal(record: SessionRecord, before: SessionSettings, after: SessionSettings) -> str | None:
    """Reason why the settings cannot change; None if they can."""
    name = record.session_id
    status = record.read_status()
    if after == before:
        present = ", ".join(f"{key}={value}" for key, value in before.model_dump().items())
        return f"Nothing would change: {name} has {present} already."
    if status is not None and status.status in OVER:
        return (
            f"{name} has ended as {status.status} and trains nothing more, so its settings stay as they are. "
            "Create another session with the settings you want, or extend this one first."
        )
    if after.stop_when_clear and not record.read_session().prompt:
        return (
            f"{name} has no sentence, so there are no criteria by which a verdict could be clear: its trainings run "
            "to their end."
        )
    runs = [run for iteration in record.iteration_records() for run in all_runs(iteration)]
    measured = record.read_session().extends is not None or any(run.measured for run in runs)
    if after.pass_threshold < before.pass_threshold and measured:
        return (
            f"A policy of {name} has been measured, so its pass_threshold may be raised and not lowered: "
            f"{before.pass_threshold:g} is needed, {after.pass_threshold:g} was asked for. To ask for less, create "
            "another session."
        )
    return None
