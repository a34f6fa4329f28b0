"""No id of any kind leads out of the place where what it names is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput
from p2p.contracts.export import ExportFormat, NewExport
from p2p.contracts.session import NewSession
from p2p.service import Service
from p2p.settings import Settings

HOSTILE = ["..", "../outside", "/etc", "a/b", "a\\b", "a/../b", "a..b/../..", ".", "", "a\0b", "A", "x" * 65]


@pytest.fixture
def service(tmp_path: Path) -> Service:
    service = Service(Settings(runs_dir=tmp_path / "runs"))
    name = service.create_session(NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")).session_id
    service.record(name).iteration(1).save_reward_source("pass")
    return service


def _latest(service: Service) -> str:
    return service.find_session("latest")


def exported(run_id: str) -> NewExport:
    return NewExport(run_id=run_id or "/", formats=(ExportFormat.SB3,))


KINDS: dict[str, Callable[[Service, str], object]] = {
    "session": lambda service, name: service.view_session(name),
    "deleted session": lambda service, name: service.purge_session(name),
    "restored session": lambda service, name: service.restore_session(name),
    "new session": lambda service, name: service.create_session(NewSession(prompt="walk"), session_id=name or "/"),
    "job": lambda service, name: service.get_job(name),
    "cancelled job": lambda service, name: service.cancel_job(name),
    "log": lambda service, name: service.job_log(name),
    "run": lambda service, name: service.export_policy(
        _latest(service), NewExport(run_id=name or "/", formats=(ExportFormat.SB3,))
    ),
    "transcript": lambda service, name: service.find_transcript(name or "/"),
}


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("kind", KINDS)
def test_an_id_that_is_none_is_refused(service: Service, tmp_path: Path, kind: str, name: str) -> None:
    sessions = [record.session_id for record in service.runs.all_sessions()]
    with pytest.raises(InvalidInput):
        KINDS[kind](service, name)
    assert [record.session_id for record in service.runs.all_sessions()] == sessions
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.parametrize("name", ["..", "/etc", "a/b", "a\\b", "A b"])
def test_an_alias_cannot_be_a_path(service: Service, name: str) -> None:
    assert service.session_called(name) == name
