"""Runs spread over this machine and two nodes, one of which is lost."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from job_helpers import shell, until
from ssh_lab import Lab, Proxy

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.job import Capacity, JobState
from p2p.contracts.protocols import Backend
from p2p.scheduler.backends.by_directory import ByDirectory, open_backend
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.backends.pool import PoolBackend
from p2p.scheduler.backends.ssh import SSHBackend
from p2p.scheduler.nodes.links import links
from p2p.service.machines.nodes import remove_node
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord
from p2p.store.remote import RemoteJobRecord
from p2p.training.trainer import Trainer

WAIT = "echo run >> count; until [ -e {go} ]; do sleep 0.05; done; echo done > result"


@pytest.fixture
def cellar(lab: Lab, tmp_path: Path) -> Iterator[Proxy]:
    """The link to a second node."""
    link = Proxy(lab.sshd.port)
    lab.add("cellar", port=link.port, directory=str(tmp_path / "cellar"), max_runs=1)
    yield link
    lab.store.remove("cellar")
    link.close()


def places(runs: list[IterationRecord]) -> list[str]:
    found = [RemoteJobRecord(run.path).read() for run in runs]
    return sorted(remote.node if remote is not None else "local" for remote in found)


def train(backend: Backend, runs: list[IterationRecord], go: Path, tick: Callable[[], None]) -> threading.Thread:
    job = shell(WAIT.format(go=go))
    trainer = Trainer(backend, job, backend.capacity(500).runs, tick)
    thread = threading.Thread(target=trainer.train, args=(runs,))
    thread.start()
    return thread


def test_the_room_of_a_pool_is_that_of_its_machines(lab: Lab, cellar: Proxy) -> None:
    here, there = LocalBackend().capacity(), SSHBackend("attic", lab.store).capacity()
    pool = PoolBackend(None, lab.store).capacity()
    assert pool.runs == here.runs + there.runs + 1
    assert pool.cores == here.cores + 2 * there.cores
    assert SSHBackend("cellar", lab.store).capacity() == Capacity(
        runs=1, cores=there.cores, cores_per_run=there.cores_per_run
    )
    assert cellar.port


def test_names_of_backends_are_checked(lab: Lab) -> None:
    for name in ("lsf", "k8s:nowhere", "local:attic", "ssh:nowhere", "pool:nowhere"):
        with pytest.raises(UnknownName):
            open_backend(name, lab.store).capacity(500)
    lab.store.add(lab.node.model_copy(update={"name": "other"}))
    with pytest.raises(InvalidInput, match=r"Which node.*attic, other"):
        open_backend("ssh", lab.store).capacity(500)
    lab.store.remove("other")
    assert open_backend("ssh", lab.store).capacity(500).runs >= 1


@pytest.mark.slow
def test_runs_go_to_every_machine_and_a_lost_node_keeps_only_its_own(
    lab: Lab, cellar: Proxy, jobs: Path, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    pool = ByDirectory(PoolBackend("cellar,local,attic", lab.store), lab.store)
    n_runs = pool.capacity(500).runs + 1
    runs = [IterationRecord(jobs / f"baseline_seed_{seed}") for seed in range(n_runs)]
    looks = threading.Semaphore(0)
    training = train(pool, runs, go, looks.release)
    until(lambda: {"attic", "cellar", "local"} <= set(places([run for run in runs if run.path.exists()])))
    (lost,) = (run for run in runs if places([run]) == ["cellar"])
    cellar.refuse()
    until(lambda: pool.status(lost.path).state is JobState.UNREACHABLE)
    since = pool.status(lost.path).updated_at
    go.touch()
    others = [run for run in runs if run is not lost]
    until(lambda: all((run.path / "result").exists() for run in others))
    assert training.is_alive()  # it waits for a person
    assert pool.status(lost.path).state is JobState.UNREACHABLE
    assert pool.status(lost.path).updated_at == since

    ws = Workspace(Settings(runs_dir=jobs, nodes_dir=lab.store.path))
    with pytest.raises(InvalidInput, match="1 jobs have not ended on cellar"):
        remove_node(ws, "cellar")
    (ended,) = remove_node(ws, "cellar", abandon=True)
    assert ended.state is JobState.LOST
    training.join(60)
    assert not training.is_alive()
    assert places([lost]) != ["cellar"]
    assert all((run.path / "count").read_text() == "run\n" for run in runs)
    assert pool.status(lost.path).state is JobState.COMPLETED


@pytest.mark.slow
def test_a_node_that_comes_back_goes_on(lab: Lab, cellar: Proxy, jobs: Path, tmp_path: Path) -> None:
    backend = SSHBackend("cellar", lab.store)
    backend.submit(shell(WAIT.format(go=tmp_path / "go")), jobs / "a")
    cellar.refuse()
    links(lab.store).close()
    until(lambda: backend.status(jobs / "a").state is JobState.UNREACHABLE)
    (tmp_path / "go").touch()
    cellar.mend()
    until(lambda: backend.status(jobs / "a").state is JobState.COMPLETED)
    assert (jobs / "a/count").read_text() == "run\n"


@pytest.mark.slow
def test_a_cancellation_reaches_a_node_when_it_is_back(lab: Lab, cellar: Proxy, jobs: Path) -> None:
    backend = SSHBackend("cellar", lab.store)
    backend.submit(shell("echo run >> count; exec sleep 100"), jobs / "a")
    cellar.refuse()
    assert backend.cancel(jobs / "a").state is JobState.UNREACHABLE
    cellar.mend()
    until(lambda: SSHBackend(None, lab.store).status(jobs / "a").state is JobState.CANCELLED)


@pytest.mark.slow
def test_a_job_that_lives_on_a_node_is_not_started_here(lab: Lab, jobs: Path) -> None:
    SSHBackend("attic", lab.store).submit(shell("echo run >> count; exec sleep 100"), jobs / "a")
    here = open_backend("local", lab.store)
    assert here.submit(shell("echo again >> count"), jobs / "a").state is JobState.RUNNING
    assert here.cancel(jobs / "a").state is JobState.CANCELLED
    assert (jobs / "a/count").read_text() == "run\n"
    here.submit(shell("echo here >> count"), jobs / "a")
    until(lambda: here.status(jobs / "a").state is JobState.COMPLETED)
    assert (jobs / "a/count").read_text() == "run\nhere\n"
    assert RemoteJobRecord(jobs / "a").read() is None


@pytest.mark.slow
def test_a_job_that_lives_here_is_not_started_on_a_node(lab: Lab, jobs: Path) -> None:
    LocalBackend().submit(shell("echo run >> count; exec sleep 100"), jobs / "a")
    there = open_backend("ssh:attic", lab.store)
    assert there.submit(shell("echo again >> count"), jobs / "a").state is JobState.RUNNING
    assert there.cancel(jobs / "a").state is JobState.CANCELLED
    there.submit(shell("cat count; echo there >> count"), jobs / "a")
    until(lambda: there.status(jobs / "a").state is JobState.COMPLETED)
    assert (jobs / "a/count").read_text() == "run\nthere\n"  # what was here went along and came back
