"""`p2p clusters stop`, tried with the real Ray that p2p starts for a cluster."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from job_helpers import is_running, pid_in, shell, until
from ray_lab import HAS_RAY, NO_RAY, PROGRAM

from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import Busy, UnknownName
from p2p.contracts.job import JobState
from p2p.scheduler import supervisor
from p2p.scheduler.backends.ray import RayBackend
from p2p.scheduler.ray_head import HEAD_VARIABLE
from p2p.service.machines.clusters import add_cluster, remove_cluster, stop_cluster
from p2p.service.workspace import Workspace
from p2p.settings import Settings


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("P2P_NODES_DIR", str(tmp_path / "config"))
    return Workspace(Settings.from_environment(tmp_path / "runs"))


@pytest.fixture
def here(ws: Workspace) -> Iterator[RayBackend]:
    """A cluster "here" with a Ray that p2p has started; nothing of it survives the test."""
    if not HAS_RAY:
        pytest.skip(NO_RAY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    options = {"local": True, "address": address, "program": str(PROGRAM)}
    cluster = Cluster.model_validate({"name": "here", "kind": "ray", "options": options, "settle_s": 1.0})
    add_cluster(ws, cluster)
    backend = RayBackend(cluster)
    backend.capacity()
    yield backend
    backend.head().stop()


def p2p(ws: Workspace, *words: str) -> subprocess.CompletedProcess[str]:
    """What a command does."""
    command = [sys.executable, "-m", "p2p.cli", *words, "--runs-dir", str(ws.runs.path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_nothing_is_stopped_that_p2p_did_not_start(ws: Workspace) -> None:
    add_cluster(ws, Cluster(name="lab", kind="ray", options={"address": "http://127.0.0.1:9"}))
    add_cluster(ws, Cluster(name="idle", kind="ray", options={"address": "http://127.0.0.1:9", "local": True}))
    for name in ("lab", "idle", "slurm"):
        assert stop_cluster(ws, name, interrupt=True).stopped == ""
    with pytest.raises(UnknownName, match="absent"):
        stop_cluster(ws, "absent")
    done = p2p(ws, "clusters", "stop", "lab")
    assert (done.returncode, done.stdout.strip()) == (0, "Nothing that p2p has started runs for lab.")


@pytest.mark.nightly
def test_a_ray_that_p2p_started_is_stopped_unless_trainings_run_there(
    ws: Workspace, here: RayBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One Ray for the whole of it: to start one takes 15 s of a processor."""
    own = ws.runs.path / "session_1/iter_1/a"
    others = tmp_path / "other_runs/session_1/iter_1/a"
    for directory in (own, others):
        here.submit(shell("echo $$ >> pids; [ -e again ] || exec sleep 300"), directory)
    pids = [pid_in(directory / "pids") for directory in (own, others)]
    until(lambda: all(here.status(directory).state is JobState.RUNNING for directory in (own, others)))
    processes = here.head().processes()
    with subprocess.Popen(["sleep", "300"], env=os.environ) as stranger:
        refused = p2p(ws, "clusters", "stop", "here")
        assert refused.returncode == Busy.exit_code
        assert "1 trainings have not ended on here" in refused.stderr
        assert "p2p stop session_1" in refused.stderr
        assert "p2p clusters stop here --interrupt" in refused.stderr
        with pytest.raises(Busy, match="1 jobs have not ended"):
            remove_cluster(ws, "here")
        here.cancel(own)
        with pytest.raises(Busy, match=r"jobs that were not started from .* have not ended on here"):
            stop_cluster(ws, "here")
        with pytest.raises(Busy, match="stop_cluster cluster=here"):
            remove_cluster(ws, "here")
        assert is_running(pids[1])

        done = p2p(ws, "clusters", "stop", "here", "--interrupt", "--json")
        end = json.loads(done.stdout)
        assert end["stopped"].startswith(f"a Ray of this machine at {here.address} (")
        assert end["interrupted"] == []
        assert not any(map(is_running, (*pids, *processes)))
        assert here.status(others).state is JobState.UNREACHABLE
        assert stranger.poll() is None
        stranger.kill()

    here.capacity()  # it is started again, and what was interrupted goes on
    until(lambda: here.status(others).interrupted)
    assert here.status(others).state is JobState.LOST
    (others / "again").touch()
    here.submit(shell("echo $$ >> pids; [ -e again ] || exec sleep 300"), others)
    until(lambda: here.status(others).state is JobState.COMPLETED)
    assert len((others / "pids").read_text().split()) == 2

    monkeypatch.setattr("p2p.scheduler.ray_jobs.SILENT_S", 1.0)
    monkeypatch.setattr("p2p.scheduler.ray_head.STOP_S", 1.0)
    processes = here.head().processes()
    assert any(supervisor.variable(pid, HEAD_VARIABLE) is None for pid in processes), "none has lost its environment"
    supervisor.send(processes, signal.SIGSTOP)  # one that does not answer
    with pytest.raises(Busy, match="is not known"):
        stop_cluster(ws, "here")
    assert stop_cluster(ws, "here", interrupt=True).stopped
    until(lambda: not any(map(is_running, processes)))
    remove_cluster(ws, "here")
