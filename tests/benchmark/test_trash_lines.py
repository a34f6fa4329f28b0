"""The trash on a few lines: what lies there, what it takes, and that nothing else goes with it."""

from pathlib import Path

import pytest
from made_up_suites import begun, end, suite_of

from p2p.contracts.errors import Busy, InvalidInput, UnknownName
from p2p.contracts.job import JobSpec
from p2p.contracts.session import MetadataChange, NewSession, SessionStatus
from p2p.contracts.trash import TrashKind
from p2p.service.judging.closing import close
from p2p.service.sessions.keeping import delete_session, edit_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.suites.keeping import delete_suite_run, edit_suite_run, restore_suite_run
from p2p.service.suites.trash import empty_whole_trash, kind_in_trash, purge, trash_lines
from p2p.service.workspace import Workspace

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")


def ended(ws: Workspace) -> str:
    name = create_session(ws, POLE).session_id
    close(ws, name, SessionStatus.MAX_ITERATIONS)
    return name


def a_run(ws: Workspace) -> list[str]:
    """A run of a suite of two cases, which both have ended; the ids of their sessions."""
    suite = suite_of(2)
    _, run = begun(ws, suite)
    return [end(ws, suite, run, f"case-{number}", SessionStatus.MAX_ITERATIONS) for number in range(2)]


def length(*places: Path) -> int:
    return sum(path.lstat().st_size for place in places for path in place.rglob("*") if not path.is_dir())


def test_sessions_and_runs_lie_there_with_their_sizes(ws: Workspace) -> None:
    single, kept = ended(ws), ended(ws)
    sessions = a_run(ws)
    edit_session(ws, single, MetadataChange(alias="old"))
    edit_suite_run(ws, "poles", MetadataChange(alias="first"))
    assert trash_lines(ws) == ()
    delete_session(ws, single)
    (ws.runs.path / single / "iter_1" / "videos").mkdir(parents=True)
    (ws.runs.path / single / "iter_1" / "videos" / "a.mp4").write_bytes(bytes(12345))
    (ws.runs.path / single / "link").symlink_to(ws.runs.path / kept / "session.json")
    delete_suite_run(ws, "poles")
    run, session = trash_lines(ws)
    assert (run.kind, run.id, run.title, run.alias, run.sessions) == ("suite_run", "poles", "poles", "first", 2)
    assert (session.kind, session.id, session.title, session.alias) == ("session", single, POLE.prompt, "old")
    assert (session.env_id, session.sessions) == (POLE.env_id, 1)
    assert run.deleted_at >= session.deleted_at
    assert session.bytes == length(ws.runs.path / single) > 12345
    places = [ws.runs.path / "benchmark" / "poles", *(ws.runs.path / name for name in sessions)]
    assert run.bytes == length(*places)


def test_a_session_that_was_deleted_before_its_run_goes_with_it_and_does_not_come_back(ws: Workspace) -> None:
    first, second = a_run(ws)
    delete_session(ws, first)
    assert [line.id for line in trash_lines(ws)] == [first]
    delete_suite_run(ws, "poles")
    assert [(line.id, line.sessions) for line in trash_lines(ws)] == [("poles", 2)]
    restore_suite_run(ws, "poles")
    assert [line.id for line in trash_lines(ws)] == [first]
    ws.record(second)


def test_a_run_of_which_anything_is_at_work_stays_whole(ws: Workspace) -> None:
    first, second = a_run(ws)
    driver = ws.record(second).driver_dir
    ws.backend.submit(JobSpec(argv=("sleep", "60")), driver)
    with pytest.raises(Busy, match=second):
        delete_suite_run(ws, "poles")
    assert trash_lines(ws) == ()
    ws.record(first)
    ws.backend.cancel(driver)
    delete_suite_run(ws, "poles")


def test_things_are_removed_one_by_one_or_all_at_once(ws: Workspace) -> None:
    single, other, kept = ended(ws), ended(ws), ended(ws)
    sessions = a_run(ws)
    for name in (single, other):
        delete_session(ws, name)
    delete_suite_run(ws, "poles")
    assert kind_in_trash(ws, single) is TrashKind.SESSION
    assert kind_in_trash(ws, "poles") is TrashKind.SUITE_RUN
    for name in (kept, "nobody"):
        with pytest.raises(UnknownName, match="trash"):
            kind_in_trash(ws, name)
    with pytest.raises(InvalidInput, match="not in the trash"):
        purge(ws, TrashKind.SESSION, kept)
    purge(ws, TrashKind.SESSION, single)
    assert not (ws.runs.path / single).exists()
    purge(ws, TrashKind.SUITE_RUN, "poles")
    assert not any((ws.runs.path / name).exists() for name in (*sessions, "benchmark/poles"))
    assert [line.id for line in trash_lines(ws)] == [other]
    a_run(ws)
    delete_suite_run(ws, "poles")
    assert set(empty_whole_trash(ws)) == {"poles", other}
    assert trash_lines(ws) == ()
    assert sorted(path.parent.name for path in ws.runs.path.glob("*/session.json")) == [kept]


def test_a_run_whose_suite_is_broken_hides_nothing(ws: Workspace) -> None:
    single = ended(ws)
    sessions = a_run(ws)
    delete_suite_run(ws, "poles")
    delete_session(ws, single)
    (ws.runs.path / "benchmark" / "poles" / "suite.json").write_text("{")
    assert {line.id for line in trash_lines(ws)} == {"poles", single, *sessions}
