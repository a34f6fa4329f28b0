"""Aliases, stars and tags of sessions; the trash; resuming interrupted sessions."""

import re
from collections.abc import Sequence

from p2p.contracts.background import JobKind, JobView, StartTraining
from p2p.contracts.errors import Busy, InvalidInput, P2PError, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import MetadataChange, SessionStatus, SessionView
from p2p.service.jobs.ending import end_film, end_job
from p2p.service.jobs.processes import is_live
from p2p.service.progress.job_views import get_job, list_jobs
from p2p.service.progress.listing import list_rows
from p2p.service.progress.session_view import view, view_session
from p2p.service.sessions.background import start_training
from p2p.service.sessions.driving import is_driven, resume_session
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.iterations import all_runs
from p2p.store.sessions import SessionRecord

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MAX_TAGS = 20
MAX_TAG = 40


def edit_session(ws: Workspace, session_id: str, change: MetadataChange) -> SessionView:
    """Change the alias, star or tags of a session.

    Raises:
        InvalidInput: an alias or a tag is not one, or another session is called so.
    """
    record = ws.record(session_id)
    changes: dict[str, object] = {}
    if change.starred is not None:
        changes["starred"] = change.starred
    with ws.runs.naming():
        if change.add_tags or change.remove_tags:
            changes["tags"] = changed_tags(record.read_metadata().tags, change)
        if change.alias is not None:
            # Refuse an alias that is malformed or used by another session.
            require_alias(change.alias)
            other = ws.runs.called(change.alias) if change.alias else None
            if change.alias and ws.runs.session(change.alias).exists:
                other = ws.runs.session(change.alias)
            if other is not None and other.session_id != record.session_id:
                raise InvalidInput(
                    f"Another session is called {change.alias}: {other.session_id}. Choose another alias."
                )
            changes["alias"] = change.alias
        record.update_metadata(**changes)
    return view(record, ws.backend)


def changed_tags(present: Sequence[str], change: MetadataChange) -> tuple[str, ...]:
    """Tags after a change.

    Raises:
        InvalidInput: one of them is too long or empty, or there are too many.
    """
    added = [" ".join(tag.split()) for tag in change.add_tags]
    if wrong := [tag for tag in added if not 0 < len(tag) <= MAX_TAG]:
        raise InvalidInput(f"A tag has 1 … {MAX_TAG} characters, got {wrong[0][:80]!r}.")
    found = tuple(dict.fromkeys(tag for tag in (*present, *added) if tag not in change.remove_tags))
    if len(found) > MAX_TAGS:
        raise InvalidInput(f"There are at most {MAX_TAGS} tags, got {len(found)}.")
    return found


def require_alias(alias: str) -> None:
    """Refuse what cannot be an alias; an empty one removes it.

    Raises:
        InvalidInput: it is none.
    """
    if alias and (not NAME.fullmatch(alias) or alias == "latest"):
        raise InvalidInput(
            f"{alias[:80]!r} is not an alias: expected lower-case letters, digits, '_' and '-', at most 64, and not "
            "latest."
        )


def session_called(ws: Workspace, text: str) -> str:
    """Session id for an id or alias; any other name is returned unchanged."""
    known = NAME.fullmatch(text) is not None and not ws.runs.session(text).exists
    named = ws.runs.called(text) if known else None
    return named.session_id if named is not None else text


def delete_session(ws: Workspace, session_id: str) -> SessionView:
    """Move a session to the trash, hidden from all lists; its files stay.

    Raises:
        Busy: something of it is running, or waits for its turn.
    """
    with ws.jobs.starting():
        record = ws.record(session_id)
        if (busy := busy_with(ws, record)) is not None:
            raise Busy(f"{session_id} cannot be deleted: {busy}. To end it first: {Remedy.STOP.of(session=session_id)}")
        end_job(ws, record.logging_dir)
        record.update_metadata(deleted_at=now())
    return view(record, ws.backend)


def list_trash(ws: Workspace) -> tuple[SessionView, ...]:
    """Sessions in the trash, last deleted first."""
    return tuple(view(record, ws.backend) for record in ws.runs.trash())


def find_deleted(ws: Workspace, text: str) -> str:
    """Resolve an id, an alias, the start or end of an id, or "latest" to a session in the trash.

    Raises:
        UnknownName: none, or more than one, is meant.
    """
    return ws.runs.find(text, trash=True).session_id


def restore_session(ws: Workspace, session_id: str) -> SessionView:
    """Restore a session from the trash.

    Raises:
        InvalidInput: it is not there.
    """
    record = _deleted(ws, session_id)
    record.update_metadata(deleted_at=None)
    return view(record, ws.backend)


def purge_session(ws: Workspace, session_id: str) -> None:
    """Delete a session in the trash for good, with its policies, videos and jobs.

    Raises:
        InvalidInput: it is not in the trash.
        StorageProblem: its directory cannot be removed.
    """
    with ws.jobs.starting():
        record = _deleted(ws, session_id)
        if (busy := busy_with(ws, record)) is not None:  # deleted by hand, or by an earlier version
            stop = Remedy.STOP.of(session=session_id)
            raise Busy(f"{session_id} cannot be removed: {busy}. To end it first: {stop}")
        end_film(ws, record)
        end_job(ws, record.logging_dir)
        jobs = [ticket.job_id for ticket in ws.jobs.tickets(session_id)]
        ws.runs.remove(record)
        for job_id in jobs:
            ws.jobs.remove(job_id)


def empty_trash(ws: Workspace, session_ids: Sequence[str] | None = None) -> tuple[str, ...]:
    """Delete all or some sessions in the trash for good; return their ids."""
    deleted = tuple(record.session_id for record in ws.runs.trash()) if session_ids is None else session_ids
    for session_id in deleted:
        purge_session(ws, session_id)
    return tuple(deleted)


def interrupted_sessions(ws: Workspace) -> tuple[str, ...]:
    """Ids of interrupted sessions, newest first."""
    return tuple(row.session_id for row in list_rows(ws) if row.status is SessionStatus.INTERRUPTED)


def resume_interrupted(ws: Workspace, backend: str | None = None) -> tuple[SessionView, ...]:
    """Resume all interrupted sessions and killed training jobs, adopting their live trainings.

    Args:
        backend: Where they are trained from now on; None leaves each where it was.

    Raises:
        P2PError: that of the first which cannot go on, after all that can.
    """
    resumed = list[str]()
    failures = list[P2PError]()
    lost = tuple(job.session_id for job in lost_trainings(ws))
    for session_id in dict.fromkeys((*interrupted_sessions(ws), *lost)):
        try:
            if session_id in lost:
                start_training(ws, session_id, StartTraining(backend=backend))
            else:
                resume_session(ws, session_id, backend=backend)
            resumed.append(session_id)
        except P2PError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return tuple(view_session(ws, session_id) for session_id in resumed)


def lost_trainings(ws: Workspace) -> tuple[JobView, ...]:
    """Jobs killed while training an iteration that is still untrained, newest first."""
    lost = []
    for job in list_jobs(ws):
        if job.kind is not JobKind.TRAINING or job.state is not JobState.LOST:
            continue
        record = ws.runs.session(job.session_id)
        iterations = record.iteration_records()
        status = record.read_status()
        request = iterations[-1].read_training_request() if iterations else None
        waits = status is not None and status.status is SessionStatus.PENDING
        newest = request is not None and request.job_id == job.job_id  # nothing was asked for since
        if waits and newest and not is_driven(ws, record):
            lost.append(job)
    return tuple(lost)


def _deleted(ws: Workspace, session_id: str) -> SessionRecord:
    record = ws.runs.session(session_id)
    if not record.exists:
        raise UnknownName("session in the trash", session_id, [r.session_id for r in ws.runs.trash()[:10]])
    if record.read_metadata().deleted_at is None:
        raise InvalidInput(f"{session_id} is not in the trash. To put it there: {Remedy.DELETE.of(session=session_id)}")
    return record


def busy_with(ws: Workspace, record: SessionRecord) -> str | None:
    """Running or queued work of a session; None if there is none."""
    if is_driven(ws, record):
        return "it is running"
    for ticket in ws.jobs.tickets(record.session_id):
        if not (state := get_job(ws, ticket.job_id).state).finished:
            return f"{ticket.job_id} is {state}"
    runs = [run for iteration in record.iteration_records() for run in all_runs(iteration)]
    return next((f"{run.iteration_id} still trains" for run in runs if is_live(ws, run.path)), None)
