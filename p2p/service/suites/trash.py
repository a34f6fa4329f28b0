"""The trash: sessions and runs of suites, and what they take."""

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.trash import TrashKind, TrashLine
from p2p.service.progress.session_lines import known_sessions
from p2p.service.sessions.keeping import empty_trash, purge_session
from p2p.service.suites.keeping import purge_suite_run, sessions_of
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.suites import SuiteRunRecord, SuiteRuns


def trash_lines(ws: Workspace) -> tuple[TrashLine, ...]:
    """What lies in the trash, last deleted first; sessions of a run that lies there too are a part of the run."""
    deleted = {known.line.session_id: known for known in known_sessions(ws) if known.deleted_at is not None}
    lines = []
    for record in SuiteRuns(ws.runs.path).trash():
        names = [name for name in _names(ws, record) if name in deleted]
        lines.append(_run(ws, record, names))
        for name in names:
            del deleted[name]
    for name, known in deleted.items():
        lines.append(
            TrashLine(
                kind=TrashKind.SESSION,
                id=name,
                title=known.line.prompt,
                alias=known.line.alias,
                env_id=known.line.env_id,
                deleted_at=known.deleted_at or "",
                sessions=1,
                bytes=files.tree_size(ws.runs.session(name).path),
            )
        )
    return tuple(sorted(lines, key=lambda line: (line.deleted_at, line.id), reverse=True))


def purge(ws: Workspace, kind: TrashKind, name: str) -> None:
    """Delete something in the trash for good; a run of a suite with those of its sessions that are there.

    Raises:
        UnknownName: there is no such thing.
        InvalidInput: it is not in the trash, or runs.
        StorageProblem: its directory cannot be removed.
    """
    if kind is TrashKind.SUITE_RUN:
        purge_suite_run(ws, name)
    else:
        purge_session(ws, name)


def kind_in_trash(ws: Workspace, name: str) -> TrashKind:
    """What of this name lies in the trash; a session before a run of a suite.

    Raises:
        UnknownName: nothing does.
    """
    sessions = [record.session_id for record in ws.runs.trash()]
    runs = [record.name for record in SuiteRuns(ws.runs.path).trash()]
    if name not in (*sessions, *runs):
        raise UnknownName("session or run of a suite in the trash", name, (*sessions, *runs))
    return TrashKind.SESSION if name in sessions else TrashKind.SUITE_RUN


def empty_whole_trash(ws: Workspace) -> tuple[str, ...]:
    """Delete everything in the trash for good; return names of runs and ids of sessions."""
    runs = [record.name for record in SuiteRuns(ws.runs.path).trash()]
    for name in runs:
        purge_suite_run(ws, name)
    return (*runs, *empty_trash(ws))


def _run(ws: Workspace, record: SuiteRunRecord, names: list[str]) -> TrashLine:
    run = record.read_run()
    metadata = record.read_metadata()
    own = files.tree_size(record.path)
    return TrashLine(
        kind=TrashKind.SUITE_RUN,
        id=record.name,
        title=run.suite if run is not None else "",
        alias=metadata.alias,
        env_id="",
        deleted_at=metadata.deleted_at or "",
        sessions=len(names),
        bytes=own + sum(files.tree_size(ws.runs.session(name).path) for name in names),
    )


def _names(ws: Workspace, record: SuiteRunRecord) -> list[str]:
    """Ids of its sessions; none where its suite cannot be read."""
    try:
        return [session.session_id for session in sessions_of(ws, record)]
    except InvalidInput:
        return []
