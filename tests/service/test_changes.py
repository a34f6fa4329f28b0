"""Notices of changed state: whoever listens hears of every change, and nobody looks while nobody listens."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from p2p.contracts.session import EventName, MetadataChange, NewSession
from p2p.contracts.state_notice import StateNotice, Topic
from p2p.service.progress import changes as module
from p2p.service.progress.changes import StateWatcher, changes
from p2p.service.sessions.keeping import delete_session, edit_session, purge_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import session_directories, versions

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
PATIENCE_S = 20.0


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self, watcher: StateWatcher) -> None:
        self.notices: list[StateNotice] = []
        self.stop = watcher.subscribe(self.hear)

    def hear(self, notices: Sequence[StateNotice]) -> None:
        assert notices
        self.notices += notices

    def versions(self, topic: Topic, name: str) -> list[str]:
        return [one.version for one in self.notices if (one.topic, one.id) == (topic, name)]


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.005)


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(session_directories, "SETTLED_S", 0.0)
    return Workspace(Settings(runs_dir=tmp_path))


@pytest.fixture
def watcher(ws: Workspace) -> StateWatcher:
    return StateWatcher(ws, at_work_s=0.01, others_s=0.02)


@pytest.fixture
def heard(watcher: StateWatcher) -> Iterator[Heard]:
    listener = Heard(watcher)
    yield listener
    listener.stop()
    wait_until(lambda: not watcher.looking)


def test_each_change_of_a_session_brings_another_version(ws: Workspace, heard: Heard) -> None:
    name = create_session(ws, POLE).session_id
    wait_until(lambda: heard.versions(Topic.SESSION, name))
    acts: list[Callable[[], object]] = [
        lambda: edit_session(ws, name, MetadataChange(starred=True)),
        lambda: ws.record(name).events.emit(EventName.TRAIN_START, 1),
        lambda: edit_session(ws, name, MetadataChange(starred=False)),
        lambda: delete_session(ws, name),
    ]
    for act in acts:
        before = heard.versions(Topic.SESSION, name)[-1]
        act()
        wait_until(lambda before=before: heard.versions(Topic.SESSION, name)[-1] != before)
    purge_session(ws, name)
    wait_until(lambda: heard.versions(Topic.SESSION, name)[-1] == "")


def test_who_comes_later_hears_the_present_versions_at_once(ws: Workspace, watcher: StateWatcher, heard: Heard) -> None:
    names = [create_session(ws, POLE).session_id for _ in range(3)]
    wait_until(lambda: all(heard.versions(Topic.SESSION, name) for name in names))
    late = Heard(watcher)
    for name in names:
        assert late.versions(Topic.SESSION, name)[-1] == heard.versions(Topic.SESSION, name)[-1]
    assert late.versions(Topic.MACHINE, module.HERE)
    late.stop()
    count = len(late.notices)
    edit_session(ws, names[0], MetadataChange(starred=True))
    known = len(heard.versions(Topic.SESSION, names[0]))
    wait_until(lambda: len(heard.versions(Topic.SESSION, names[0])) > known)
    assert len(late.notices) == count


def test_what_rests_is_told_once(ws: Workspace, heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    name = create_session(ws, POLE).session_id
    looks = []
    look = versions.listing
    monkeypatch.setattr(versions, "listing", lambda root: (looks.append(1), look(root))[1])
    wait_until(lambda: heard.versions(Topic.SESSION, name))
    begun = len(looks)
    wait_until(lambda: len(looks) > begun + 6)
    assert len(set(heard.versions(Topic.SESSION, name))) == len(heard.versions(Topic.SESSION, name))
    told = len(heard.notices)
    begun = len(looks)
    wait_until(lambda: len(looks) > begun + 6)
    assert len(heard.notices) == told


def test_nothing_is_looked_at_while_nobody_listens(
    ws: Workspace, watcher: StateWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not watcher.looking
    listener = Heard(watcher)
    wait_until(lambda: listener.notices)
    listener.stop()
    listener.stop()
    wait_until(lambda: not watcher.looking)
    monkeypatch.setattr(module, "known_sessions", lambda *_: pytest.fail("somebody looks"))
    create_session(ws, POLE)
    assert not watcher.looking
    monkeypatch.undo()
    again = Heard(watcher)
    wait_until(lambda: again.notices)
    again.stop()
    wait_until(lambda: not watcher.looking)


def test_a_runs_directory_that_cannot_be_read_ends_nothing(
    ws: Workspace, heard: Heard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wait_until(lambda: heard.notices)
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise OSError("no")

        broken.setattr(module, "known_sessions", fail)
        wait_until(lambda: "cannot be watched" in caplog.text)
    name = create_session(ws, POLE).session_id
    wait_until(lambda: heard.versions(Topic.SESSION, name))


def test_a_workspace_has_one_watcher(ws: Workspace, tmp_path: Path) -> None:
    assert changes(ws) is changes(ws)
    assert changes(ws) is not changes(Workspace(Settings(runs_dir=tmp_path / "other")))


def test_versions_of_runs_jobs_and_suites_follow_their_files(ws: Workspace, tmp_path: Path) -> None:
    run = ws.runs.session("s1").iteration(2).run("baseline", 10)
    run.scalars_path.parent.mkdir(parents=True)
    run.scalars_path.write_text("1\n")
    (run.path.parent / "report").mkdir()
    first = versions.run_versions(tmp_path, "s1", 2)
    assert first.keys() == {"baseline_seed_10"}
    with run.scalars_path.open("a") as file:
        file.write("2\n")
    second = versions.run_versions(tmp_path, "s1", 2)
    run.trajectories_dir.mkdir()
    third = versions.run_versions(tmp_path, "s1", 2)
    assert len({first["baseline_seed_10"], second["baseline_seed_10"], third["baseline_seed_10"]}) == 3
    assert versions.run_versions(tmp_path, "s1", 3) == {}
    job = tmp_path / "jobs" / f"job_{'0' * 32}"
    job.mkdir(parents=True)
    (tmp_path / "jobs" / "keys").mkdir()
    before = versions.job_versions(tmp_path)
    assert before.keys() == {job.name}
    (job / "end.json").write_text("{}")
    assert versions.job_versions(tmp_path) != before
    suite = tmp_path / "benchmark" / "whole"
    suite.mkdir(parents=True)
    before = versions.suite_run_versions(tmp_path)
    (suite / "results.jsonl").write_text("")
    assert versions.suite_run_versions(tmp_path).keys() == before.keys() == {"whole"}
    assert versions.suite_run_versions(tmp_path) != before
