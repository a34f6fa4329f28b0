"""This machine at a glance: who owns which core, who waits in which place."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from p2p.contracts.node import Node
from p2p.scheduler import machine_queue
from p2p.scheduler.cores import usable_cores
from p2p.scheduler.machine_queue import QueueEntry
from p2p.service.machines.nodes import add_node
from p2p.service.machines.overview import machine
from p2p.service.workspace import Workspace
from p2p.settings import Settings


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "cores"))
    return Workspace(Settings(runs_dir=tmp_path / "runs", nodes_dir=tmp_path / "nodes"))


@pytest.fixture
def held() -> Iterator[list[int]]:
    """Locks that the test holds."""
    locks: list[int] = []
    yield locks
    for lock in locks:
        os.close(lock)


def hold(held: list[int], path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(lock, text.encode())
    held.append(lock)


def session(ws: Workspace, name: str) -> Path:
    path = ws.runs.session(name).path
    path.mkdir(parents=True)
    (path / "session.json").write_text("{}")
    return path


def test_cores_have_their_owners_and_those_who_wait_their_places(
    ws: Workspace, tmp_path: Path, held: list[int]
) -> None:
    one, two = session(ws, "one"), session(ws, "two")
    run = one / "iter_1" / "baseline_seed_10"
    hold(held, tmp_path / "cores" / "core_0", f"{run}\n{one}")
    (tmp_path / "cores" / "core_1").write_text(f"{run}\n{one}")  # of a dead process: nobody holds it
    entries = [
        QueueEntry(str(two / "iter_1" / "baseline_seed_10"), cores=1),
        QueueEntry(str(one / "film"), owns=False, line="film", places=1),
        QueueEntry(str(two / "driver"), cores=1, reserves=True),
        QueueEntry(str(two / "iter_1" / "baseline_seed_11"), cores=2),
    ]
    hold(held, tmp_path / "cores" / "film_0", str(two / "film"))
    for number, entry in enumerate(entries):
        hold(held, tmp_path / "cores" / "queue" / f"{number:020d}_1", json.dumps(entry._asdict()))
    found = machine(ws)
    owners = {core.number: core.owner for core in found.cores if core.owner is not None}
    assert owners.keys() == {0}
    assert (owners[0].session_id, owners[0].job, owners[0].runs_dir) == ("one", str(run), str(ws.runs.path))
    assert {core.number for core in found.cores} == {0, *usable_cores()}
    assert found.cores[0].since is not None
    assert found.cores[0].since.endswith("+00:00")
    assert [(job.holder.session_id, job.waits_for, job.place, job.cores) for job in found.queue] == [
        ("two", "cores", 1, 1),
        ("one", "film", 1, 0),
        ("two", "cores", 2, 2),
    ]
    assert machine_queue.place_of(entries[3].holder) == found.queue[2].place
    assert found.problem == ""


def test_an_idle_machine_and_its_nodes(ws: Workspace) -> None:
    pytest.importorskip("paramiko")
    add_node(ws, Node(name="attic", host="attic.example"))
    found = machine(ws)
    assert all(core.owner is None and core.since is None for core in found.cores)
    assert found.queue == ()
    assert [view.node.name for view in found.nodes] == ["attic"]
    assert found.disk_free_mb > 0
    assert found.memory_free_mb is None or found.memory_mb is None or found.memory_free_mb <= found.memory_mb


def test_locks_that_cannot_be_read_are_a_problem_and_no_error(ws: Workspace, tmp_path: Path) -> None:
    (tmp_path / "cores").write_text("a file")
    found = machine(ws)
    assert str(tmp_path / "cores") in found.problem
    assert (found.queue, {core.owner for core in found.cores}) == ((), {None})
