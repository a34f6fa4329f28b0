"""Sessions kept and thrown away: their names, stars and tags, the trash, and those that nobody drives any more."""

import re
from collections.abc import Sequence

from p2p.contracts.background import JobKind, JobView, StartTraining
from p2p.contracts.errors import InvalidInput, P2PError, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.session import MetadataChange, SessionStatus, SessionView
from p2p.service.jobs.ending import end_job
from p2p.service.jobs.queue import is_live
from p2p.service.progress.job_views import get_job, list_jobs
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view, view_session
from p2p.service.sessions.background import start_training
from p2p.service.sessions.driving import is_driven, resume_session
from p2p.service.workspace import Workspace
from p2p.store.candidates import all_runs
from p2p.store.clock import now
from p2p.store.sessions import SessionRecord

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MAX_TAGS, MAX_TAG = 20, 40


def edit_session(ws: Workspace, session_id: str, change: MetadataChange) -> SessionView:
    """Change a session's alias, star or tags.

    Raises:
        InvalidInput: an alias or a tag is not one, or another session is called so.
    """
    record = ws.record(session_id)
    changes: dict[str, object] = {}
    if change.starred is not None:
        changes["starred"] = change.starred
    with ws.runs.naming():
        if change.add_tags or change.remove_tags:
            changes["tags"] = _tags(record, change)
        if change.alias is not None:
            _require_free(ws, record, change.alias)
            changes["alias"] = change.alias
        record.update_metadata(**changes)
    return view(record, ws.backend)


def session_called(ws: Workspace, text: str) -> str:
    """Id of the session that an id or an alias means; what names none comes back as it is."""
    known = NAME.fullmatch(text) is not None and not ws.runs.session(text).exists
    named = ws.runs.called(text) if known else None
    return named.session_id if named is not None else text


def delete_session(ws: Workspace, session_id: str) -> SessionView:
    """Put a session into the trash, where no list shows it; nothing of it is removed.

    Raises:
        InvalidInput: something of it is running, or waits for its turn.
    """
    with ws.jobs.starting():
        record = ws.record(session_id)
        if (busy := _busy_with(ws, record)) is not None:
            raise InvalidInput(f"{session_id} cannot be deleted: {busy}. To end it first: p2p stop {session_id}")
        record.update_metadata(deleted_at=now())
    return view(record, ws.backend)


def list_trash(ws: Workspace) -> tuple[SessionView, ...]:
    """The sessions in the trash, the one deleted last first."""
    return tuple(view(record, ws.backend) for record in ws.runs.trash())


def find_deleted(ws: Workspace, text: str) -> str:
    """Id of the session in the trash meant by an id, an alias, the start or end of an id, or "latest".

    Raises:
        UnknownName: none, or more than one, is meant.
    """
    return ws.runs.find(text, trash=True).session_id


def restore_session(ws: Workspace, session_id: str) -> SessionView:
    """Take a session out of the trash.

    Raises:
        InvalidInput: it is not there.
    """
    record = _deleted(ws, session_id)
    record.update_metadata(deleted_at=None)
    return view(record, ws.backend)


def purge_session(ws: Workspace, session_id: str) -> None:
    """Remove a session in the trash for good, with its policies, videos and jobs.

    Raises:
        InvalidInput: it is not in the trash.
        StorageProblem: its directory cannot be removed.
    """
    with ws.jobs.starting():
        record = _deleted(ws, session_id)
        if (busy := _busy_with(ws, record)) is not None:  # deleted by hand, or by an earlier version
            raise InvalidInput(f"{session_id} cannot be removed: {busy}.")
        end_job(ws, record.film_dir)
        jobs = [ticket.job_id for ticket in ws.jobs.tickets(session_id)]
        ws.runs.remove(record)
        for job_id in jobs:
            ws.jobs.remove(job_id)


def empty_trash(ws: Workspace, session_ids: Sequence[str] | None = None) -> tuple[str, ...]:
    """Remove what lies in the trash for good, or some of it; returns the ids of what was removed."""
    deleted = tuple(record.session_id for record in ws.runs.trash()) if session_ids is None else session_ids
    for session_id in deleted:
        purge_session(ws, session_id)
    return tuple(deleted)


def interrupted_sessions(ws: Workspace) -> tuple[str, ...]:
    """Ids of the sessions that were being worked on when that ended, newest first."""
    views = list_sessions(ws)
    return tuple(v.session.session_id for v in views if v.status is SessionStatus.INTERRUPTED)


def resume_interrupted(ws: Workspace, backend: str | None = None) -> tuple[SessionView, ...]:
    """Go on with all of them, and with trainings whose job was killed; what still runs of them is adopted.

    Args:
        backend: Where they are trained from now on; None leaves each where it was.

    Raises:
        P2PError: that of the first which cannot go on, after all that can.
    """
    resumed, failures = list[str](), list[P2PError]()
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
    """The jobs that were killed while they trained an iteration that nobody has trained since, newest first."""
    lost = [job for job in list_jobs(ws) if job.kind is JobKind.TRAINING and job.state is JobState.LOST]
    return tuple(job for job in lost if _is_latest_word(ws, job))


def _is_latest_word(ws: Workspace, job: JobView) -> bool:
    """Whether nothing has happened since to the iteration that a job was to train."""
    record = ws.runs.session(job.session_id)
    iterations, status = record.iteration_records(), record.read_status()
    request = iterations[-1].read_training_request() if iterations else None
    waits = status is not None and status.status is SessionStatus.PENDING
    return waits and request is not None and request.job_id == job.job_id and not is_driven(ws, record)


def _deleted(ws: Workspace, session_id: str) -> SessionRecord:
    record = ws.runs.session(session_id)
    if not record.exists:
        raise UnknownName("session in the trash", session_id, [r.session_id for r in ws.runs.trash()[:10]])
    if record.read_metadata().deleted_at is None:
        raise InvalidInput(f"{session_id} is not in the trash. To put it there: p2p delete {session_id}")
    return record


def _busy_with(ws: Workspace, record: SessionRecord) -> str | None:
    """What is running of a session, or waits for its turn; None when nothing is."""
    if is_driven(ws, record):
        return "it is running"
    for ticket in ws.jobs.tickets(record.session_id):
        if not (state := get_job(ws, ticket.job_id).state).finished:
            return f"{ticket.job_id} is {state}"
    runs = [run for iteration in record.iteration_records() for run in all_runs(iteration)]
    return next((f"{run.iteration_id} still trains" for run in runs if is_live(ws, run.path)), None)


def _require_free(ws: Workspace, record: SessionRecord, alias: str) -> None:
    """Refuse an alias that is none, or that means another session."""
    if alias and (not NAME.fullmatch(alias) or alias == "latest"):
        raise InvalidInput(
            f"{alias[:80]!r} is not an alias: expected lower-case letters, digits, '_' and '-', at most 64, "
            "and not latest."
        )
    other = ws.runs.called(alias) if alias else None
    if alias and ws.runs.session(alias).exists:
        other = ws.runs.session(alias)
    if other is not None and other.session_id != record.session_id:
        raise InvalidInput(f"Another session is called {alias}: {other.session_id}. Choose another alias.")


def _tags(record: SessionRecord, change: MetadataChange) -> tuple[str, ...]:
    tags = [" ".join(tag.split()) for tag in change.add_tags]
    if wrong := [tag for tag in tags if not 0 < len(tag) <= MAX_TAG]:
        raise InvalidInput(f"A tag has 1 … {MAX_TAG} characters, got {wrong[0][:80]!r}.")
    kept = [tag for tag in (*record.read_metadata().tags, *tags) if tag not in change.remove_tags]
    found = tuple(dict.fromkeys(kept))
    if len(found) > MAX_TAGS:
        raise InvalidInput(f"A session has at most {MAX_TAGS} tags, got {len(found)}.")
    return found
