"""Runs of suites: marked, thrown away with their sessions, and brought back."""

import pytest
from made_up_suites import begun, end, suite_of

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import MetadataChange, SessionStatus
from p2p.service.sessions.keeping import delete_session, list_trash
from p2p.service.suites.keeping import (
    delete_suite_run,
    deleted_suite_runs,
    edit_suite_run,
    purge_suite_run,
    restore_suite_run,
    suite_run_metadata,
)
from p2p.service.suites.results import list_suite_runs, view_suite_run
from p2p.service.suites.running import start_suite_run
from p2p.service.workspace import Workspace


@pytest.fixture
def sessions(ws: Workspace) -> list[str]:
    """A run of two cases that have ended; ids of their sessions."""
    suite = suite_of(2)
    _, run = begun(ws, suite)
    return [end(ws, suite, run, case.name, SessionStatus.MAX_ITERATIONS) for case in suite.cases]


def _in_trash(ws: Workspace) -> set[str]:
    return {view.session.session_id for view in list_trash(ws)}


@pytest.mark.usefixtures("sessions")
def test_marks_are_kept_and_wrong_ones_refused(ws: Workspace) -> None:
    edit_suite_run(ws, "poles", MetadataChange(alias="first-try", starred=True, add_tags=("paper", "pole")))
    edit_suite_run(ws, "poles", MetadataChange(remove_tags=("pole",)))
    kept = suite_run_metadata(ws, "poles")
    assert (kept.alias, kept.starred, kept.tags) == ("first-try", True, ("paper",))
    with pytest.raises(InvalidInput, match="is not an alias"):
        edit_suite_run(ws, "poles", MetadataChange(alias="../x"))


def test_a_deleted_run_is_hidden_with_its_sessions_and_comes_back_with_them(ws: Workspace, sessions: list[str]) -> None:
    delete_suite_run(ws, "poles")
    assert list_suite_runs(ws) == ()
    assert set(deleted_suite_runs(ws)) == {"poles"}
    assert _in_trash(ws) == set(sessions)
    with pytest.raises(InvalidInput, match="is in the trash"):
        view_suite_run(ws, "poles")
    assert [result.session_id for result in restore_suite_run(ws, "poles").results] == sessions
    assert _in_trash(ws) == set()
    assert [view.run.name for view in list_suite_runs(ws)] == ["poles"]


def test_a_session_that_was_deleted_before_its_run_stays_in_the_trash(ws: Workspace, sessions: list[str]) -> None:
    delete_session(ws, sessions[0])
    delete_suite_run(ws, "poles")
    restore_suite_run(ws, "poles")
    assert _in_trash(ws) == {sessions[0]}


def test_a_run_is_removed_for_good_with_its_sessions(ws: Workspace, sessions: list[str]) -> None:
    with pytest.raises(InvalidInput, match="is not in the trash"):
        purge_suite_run(ws, "poles")
    delete_suite_run(ws, "poles")
    purge_suite_run(ws, "poles")
    assert deleted_suite_runs(ws) == {}
    assert not any(ws.runs.session(name).exists for name in sessions)
    with pytest.raises(UnknownName):
        restore_suite_run(ws, "poles")


def test_a_run_in_the_trash_is_not_begun_anew_by_its_name(ws: Workspace) -> None:
    suite = suite_of(1, name="basic")
    begun(ws, suite)
    delete_suite_run(ws, "basic")
    with pytest.raises(InvalidInput, match="is in the trash"):
        start_suite_run(ws, "basic")
