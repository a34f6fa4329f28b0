"""No id of any kind leads out of the place where what it names is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession
from p2p.contracts.work import ExportFormat, NewExport
from p2p.service.progress.job_views import get_job, job_log
from p2p.service.progress.listing import find_session
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.background import cancel_job
from p2p.service.sessions.export import export_policy
from p2p.service.sessions.keeping import purge_session, restore_session, session_called
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.transcripts import find_transcript
from p2p.service.workspace import Workspace
from p2p.settings import Settings

HOSTILE = ["..", "../outside", "/etc", "a/b", "a\\b", "a/../b", "a..b/../..", ".", "", "a\0b", "A", "x" * 65]


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    name = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")).session_id
    ws.record(name).iteration(1).save_reward_source("pass")
    return ws


def _latest(ws: Workspace) -> str:
    return find_session(ws, "latest")


def exported(run_id: str) -> NewExport:
    return NewExport(run_id=run_id or "/", formats=(ExportFormat.SB3,))


KINDS: dict[str, Callable[[Workspace, str], object]] = {
    "session": lambda ws, name: view_session(ws, name),
    "deleted session": lambda ws, name: purge_session(ws, name),
    "restored session": lambda ws, name: restore_session(ws, name),
    "new session": lambda ws, name: create_session(ws, NewSession(prompt="walk"), session_id=name or "/"),
    "job": lambda ws, name: get_job(ws, name),
    "cancelled job": lambda ws, name: cancel_job(ws, name),
    "log": lambda ws, name: job_log(ws, name),
    "run": lambda ws, name: export_policy(ws, _latest(ws), NewExport(run_id=name or "/", formats=(ExportFormat.SB3,))),
    "transcript": lambda ws, name: find_transcript(ws, name or "/"),
}


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("kind", KINDS)
def test_an_id_that_is_none_is_refused(ws: Workspace, tmp_path: Path, kind: str, name: str) -> None:
    sessions = [record.session_id for record in ws.runs.all_sessions()]
    with pytest.raises(InvalidInput):
        KINDS[kind](ws, name)
    assert [record.session_id for record in ws.runs.all_sessions()] == sessions
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.parametrize("name", ["..", "/etc", "a/b", "a\\b", "A b"])
def test_an_alias_cannot_be_a_path(ws: Workspace, name: str) -> None:
    assert session_called(ws, name) == name
