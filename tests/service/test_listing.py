"""The list of sessions and jobs is the same with an index, without one, and with a broken one."""

import json
import os
import random
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from p2p.contracts.background import JobKind, JobTicket
from p2p.contracts.session import MetadataChange, NewSession, SessionStatus, SessionView
from p2p.service.judging.closing import close
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import extend_session
from p2p.service.sessions.keeping import delete_session, edit_session, purge_session, restore_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import index, layout, session_directories

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)
WRITER = """
import sys; from pathlib import Path; from p2p.service.workspace import Workspace; from p2p.settings import Settings
from p2p.contracts.session import MetadataChange, NewSession, SessionStatus
from p2p.store import session_directories; session_directories.SETTLED_S = 0.0
from p2p.service.judging.closing import close; from p2p.service.progress.listing import list_sessions
from p2p.service.sessions.keeping import edit_session; from p2p.service.sessions.lifecycle import create_session
ws = Workspace(Settings(runs_dir=Path(sys.argv[1]))); number = 0
while sys.argv[2] == "forever" or number < int(sys.argv[2]):
    name = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")).session_id
    close(ws, name, SessionStatus.MAX_ITERATIONS)
    edit_session(ws, name, MetadataChange(add_tags=("kept",)))
    print(name, flush=True)
    list_sessions(ws); number += 1
"""


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(session_directories, "SETTLED_S", 0.0)
    return Workspace(Settings(runs_dir=tmp_path))


def ended(ws: Workspace) -> str:
    name = create_session(ws, POLE).session_id
    close(ws, name, SessionStatus.MAX_ITERATIONS)
    return name


def truth(ws: Workspace) -> list[SessionView]:
    """What the directories say."""
    views = [view_session(ws, record.session_id) for record in ws.runs.sessions()]
    return sorted(views, key=lambda view: (view.session.created_at, view.session.session_id), reverse=True)


def read_from_index(ws: Workspace) -> int:
    return len(index.Index(ws.runs.path).entries("session"))


def test_what_has_ended_is_read_from_the_index_and_every_change_is_seen(ws: Workspace) -> None:
    first, second = ended(ws), ended(ws)
    live = create_session(ws, POLE).session_id
    list_sessions(ws)
    assert read_from_index(ws) == 2
    changes: list[Callable[[], object]] = [
        lambda: edit_session(ws, first, MetadataChange(starred=True)),
        lambda: ws.record(second).set_status(SessionStatus.PENDING),
        lambda: close(ws, second, SessionStatus.ERROR, "something"),
        lambda: extend_session(ws, second, 9),
        lambda: close(ws, live, SessionStatus.PASSED),
        lambda: delete_session(ws, first),
        lambda: restore_session(ws, first),
        lambda: ws.record(first).iteration(1).save_reward_source("pass"),
        lambda: ws.record(first).status_path.write_text("{"),
        lambda: (delete_session(ws, second), purge_session(ws, second)),
        lambda: shutil.rmtree(ws.runs.path / live),
    ]
    for change in changes:
        change()
        assert list(list_sessions(ws)) == truth(ws)
        assert list(list_sessions(ws)) == truth(ws)
    assert read_from_index(ws) <= 1


def test_a_change_that_is_too_young_to_have_a_time_of_its_own_is_not_relied_on(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_directories, "SETTLED_S", 1e6)
    ended(ws)
    assert list(list_sessions(ws)) == truth(ws)
    assert read_from_index(ws) == 0


@pytest.mark.parametrize("content", [b"", b"no database" * 500, b"SQLite format 3\0" + bytes(5000)])
def test_a_broken_index_is_set_aside_named_and_made_anew(
    ws: Workspace, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    name = ended(ws)
    (ws.runs.path / layout.INDEX).write_bytes(content)
    for _ in range(2):
        assert [view.session.session_id for view in list_sessions(ws)] == [name]
    assert read_from_index(ws) == 1
    aside = list(ws.runs.path.glob(f"{layout.INDEX}.broken-*"))
    assert [path.read_bytes() for path in aside] == ([content] if content else [])
    assert all(str(path) in caplog.text for path in aside)


def test_no_broken_byte_changes_the_list(ws: Workspace) -> None:
    for _ in range(5):
        ended(ws)
    for number in range(5):
        name = f"job_{secrets.token_hex(16)}"
        ticket = JobTicket(job_id=name, kind=JobKind.SESSION, session_id=f"s{number}", created_at="2026-01-01T00:00:00")
        ws.jobs.new(name).save_ticket(ticket)
    expected, jobs = list(list_sessions(ws)), ws.jobs.tickets()
    path = ws.runs.path / layout.INDEX
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    whole, chance = path.read_bytes(), random.Random(1)
    for _ in range(60):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 20, 400))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.write_bytes(bytes(broken[: chance.choice((len(broken), len(broken) // 2))]))
        assert list(list_sessions(ws)) == expected
        assert ws.jobs.tickets() == jobs
        assert ws.jobs.tickets("s3") == [job for job in jobs if job.session_id == "s3"]


def test_an_index_that_is_locked_costs_time_and_nothing_else(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BUSY_S", 0.01)
    ended(ws)
    list_sessions(ws)
    ended(ws)
    holder = sqlite3.connect(ws.runs.path / layout.INDEX, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert list(list_sessions(ws)) == truth(ws)
    holder.execute("ROLLBACK")
    holder.close()


def test_two_processes_and_one_that_is_killed_lose_and_double_nothing(ws: Workspace, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    killed = subprocess.Popen([*command, "forever"], stdout=subprocess.PIPE, text=True)
    others = [subprocess.Popen([*command, "6"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert killed.stdout is not None
    told = [killed.stdout.readline().strip() for _ in range(3)]
    os.kill(killed.pid, signal.SIGKILL)
    told += killed.stdout.read().split()
    killed.wait()
    killed.stdout.close()
    for other in others:
        told += other.communicate(timeout=90)[0].split()
        assert other.returncode == 0
    views = list_sessions(ws)
    ids = [view.session.session_id for view in views]
    assert len(ids) == len(set(ids))
    assert set(told) <= set(ids)
    assert all(view.metadata.tags == ("kept",) for view in views if view.session.session_id in told)
    assert list(views) == truth(ws)
    with sqlite3.connect(tmp_path / layout.INDEX) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    assert not list(tmp_path.glob(f"{layout.INDEX}.broken-*"))


def test_jobs_of_a_session_are_found_among_many(ws: Workspace) -> None:
    for number in range(30):
        name = f"job_{number:032x}"
        ticket = JobTicket(job_id=name, kind=JobKind.SESSION, session_id=f"s{number % 3}", created_at="2026-01-01")
        ws.jobs.new(name).save_ticket(ticket)
    assert len(ws.jobs.tickets()) == 30
    assert [int(t.job_id[4:], 16) for t in ws.jobs.tickets("s1")] == list(range(28, 0, -3))
    shutil.rmtree(ws.jobs.new(f"job_{28:032x}").path)
    assert len(ws.jobs.tickets("s1")) == 9
    assert json.loads((ws.jobs.new(f"job_{1:032x}").path / layout.TICKET).read_text())["session_id"] == "s1"
