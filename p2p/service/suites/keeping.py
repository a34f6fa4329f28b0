"""Aliases, stars and tags of runs of suites; the trash, where their sessions follow them."""

from p2p.contracts.errors import Busy, InvalidInput, UnknownName
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import MetadataChange
from p2p.contracts.suite import SuiteRunView
from p2p.service.jobs.processes import is_live
from p2p.service.sessions.keeping import (
    busy_with,
    changed_tags,
    delete_session,
    purge_session,
    require_alias,
    restore_session,
)
from p2p.service.suites.plan import stages_of
from p2p.service.suites.results import opened, view_of
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.sessions import SessionRecord
from p2p.store.suites import SuiteRunRecord, SuiteRuns


def suite_run_metadata(ws: Workspace, name: str) -> EntityMetadata:
    """What a person added to a run.

    Raises:
        UnknownName: there is no such run.
    """
    return SuiteRuns(ws.runs.path).known(name).read_metadata()


def edit_suite_run(ws: Workspace, name: str, change: MetadataChange) -> EntityMetadata:
    """Change the alias, star or tags of a run.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: an alias or a tag is not one.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    changes: dict[str, object] = {}
    if change.starred is not None:
        changes["starred"] = change.starred
    if change.alias is not None:
        require_alias(change.alias)
        changes["alias"] = change.alias
    if change.add_tags or change.remove_tags:
        changes["tags"] = changed_tags(record.read_metadata().tags, change)
    return record.update_metadata(**changes)


def delete_suite_run(ws: Workspace, name: str) -> None:
    """Move a run to the trash with its sessions; their files stay.

    Raises:
        UnknownName: there is no such run.
        Busy: it is running, or one of its sessions is.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    if is_live(ws, record.driver_dir):
        raise Busy(f"{name} cannot be deleted: it is running. To end it: {Remedy.STOP_RUN.of(run=name)}")
    stamp = now()
    kept = [session for session in sessions_of(ws, record) if session.read_metadata().deleted_at is None]
    for session in kept:  # all of them first: none is thrown away where one is still at work
        if (busy := busy_with(ws, session)) is not None:
            stop = Remedy.STOP_RUN.of(run=name)
            raise Busy(f"{name} cannot be deleted: of {session.session_id} {busy}. To end it: {stop}")
    for session in kept:
        delete_session(ws, session.session_id)
    record.update_metadata(deleted_at=stamp)


def restore_suite_run(ws: Workspace, name: str) -> SuiteRunView:
    """Restore a run from the trash, with the sessions that were deleted with it.

    Raises:
        InvalidInput: it is not there.
    """
    record = _deleted(ws, name)
    stamp = record.read_metadata().deleted_at or ""
    record.update_metadata(deleted_at=None)
    for session in sessions_of(ws, record):
        if (session.read_metadata().deleted_at or "") >= stamp:
            restore_session(ws, session.session_id)
    return view_of(ws, record)


def deleted_suite_runs(ws: Workspace) -> dict[str, str]:
    """Runs in the trash: name -> when it was deleted (UTC, ISO 8601)."""
    return {record.name: record.read_metadata().deleted_at or "" for record in SuiteRuns(ws.runs.path).trash()}


def purge_suite_run(ws: Workspace, name: str) -> None:
    """Delete a run in the trash for good, with those of its sessions that are there too.

    Raises:
        InvalidInput: it is not in the trash.
        StorageProblem: its directory cannot be removed.
    """
    record = _deleted(ws, name)
    for session in sessions_of(ws, record):
        if session.read_metadata().deleted_at is not None:
            purge_session(ws, session.session_id)
    record.discard()


def sessions_of(ws: Workspace, record: SuiteRunRecord) -> list[SessionRecord]:
    """Those of its sessions that were begun."""
    suite, run = opened(record)
    names = [sitting.session_id for stage in stages_of(suite, run) for sitting in stage.sittings]
    return [session for session in map(ws.runs.session, names) if session.exists]


def _deleted(ws: Workspace, name: str) -> SuiteRunRecord:
    runs = SuiteRuns(ws.runs.path)
    record = runs.run(name)
    if record.read_run() is None:
        raise UnknownName("run of a suite in the trash", name, [one.name for one in runs.trash()])
    if record.read_metadata().deleted_at is None:
        raise InvalidInput(f"The run {name} is not in the trash. To put it there: {Remedy.DELETE_RUN.of(run=name)}")
    return record
