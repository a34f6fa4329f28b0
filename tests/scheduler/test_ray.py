"""What only Ray does: its addresses and tokens, and its faults, tried with a real head."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from job_helpers import is_running, pid_in, shell, until
from ray_lab import PROGRAM, RayLab
from shared_sessions import BALANCE, passed_session

import p2p
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, MissingExtra
from p2p.contracts.job import JobState
from p2p.scheduler import supervisor
from p2p.scheduler.backends.job_table import Ending, Phase
from p2p.scheduler.backends.ray import RayBackend
from p2p.scheduler.ray_head import TOKEN_VARIABLE, RayHead
from p2p.store.clusters import ClusterStore
from p2p.store.placed import PlacedJobRecord

ELSEWHERE = "http://192.0.2.1:8265"
"""Of a network that is kept for documents."""


def cluster(**options: object) -> Cluster:
    return Cluster.model_validate({"name": "ray", "kind": "ray", "options": options, "settle_s": 0.5})


def state(backend: RayBackend, directory: Path) -> JobState:
    return backend.status(directory).state


def name_of(ray: RayLab, before: set[str]) -> str:
    """Name of the only job that Ray did not have before."""
    (name,) = set(ray.states()) - before
    return name


def supervisor_of(directory: Path) -> int:
    pid = supervisor.read(directory / supervisor.HANDLE)["pid"]
    assert isinstance(pid, int)
    return pid


class Page(BaseHTTPRequestHandler):
    """A web server that is no Ray: it answers everything with `answer`, and remembers what it was asked."""

    answer: tuple[int, dict[str, str], bytes]
    asked: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((f"{self.command} {self.path}", self.headers.get("Authorization")))
        status, headers, body = self.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815  its base class names it

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(status: int, body: bytes, **headers: str) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Address of such a server, and what it is asked."""
    page = type("Page", (Page,), {"answer": (status, headers, body), "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", page.asked
        server.shutdown()
        thread.join()


def test_an_address_of_another_machine_is_refused_unless_it_is_guarded_or_allowed(tmp_path: Path, jobs: Path) -> None:
    backend = RayBackend(cluster(address=ELSEWHERE))
    with pytest.raises(EnvironmentProblem, match=r"192\.0\.2\.1.*neither a token nor TLS"):
        backend.capacity()
    with pytest.raises(EnvironmentProblem, match="neither a token nor TLS"):
        backend.submit(shell("true"), jobs / "a")
    assert not PlacedJobRecord(jobs / "a").elsewhere
    (tmp_path / "token").write_text("0123456789abcdef\n")
    guarded = (
        {"address": ELSEWHERE, "token_file": str(tmp_path / "token")},
        {"address": ELSEWHERE.replace("http:", "https:")},
        {"address": ELSEWHERE, "allow_unauthenticated": True},
    )
    for options in guarded:
        assert RayBackend(cluster(**options)).capacity().runs > 1


def test_the_address_is_that_of_the_variables_of_ray_if_it_is_one_of_a_dashboard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    assert RayBackend(cluster()).address == "http://127.0.0.1:8265"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert RayBackend(cluster()).address == "http://127.0.0.1:8265"
    monkeypatch.setenv("RAY_ADDRESS", "http://10.0.0.1:8265")
    assert RayBackend(cluster()).address == "http://10.0.0.1:8265"
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "https://ray.example")
    assert RayBackend(cluster()).address == "https://ray.example"
    assert RayBackend(cluster(address="http://127.0.0.1:9000")).address == "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"address": "10.0.0.1:6379"}, "address"),
        ({"token_file": "token"}, "token_file: .*absolute path"),
        ({"partition": "gpu"}, "Expected some of address"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        RayBackend(cluster(**options))


def test_a_ray_of_this_machine_is_not_started_at_an_address_of_another() -> None:
    with pytest.raises(EnvironmentProblem, match="needs an address of it"):
        RayBackend(cluster(address="https://ray.example", local=True)).capacity()


def test_a_file_without_a_token_or_with_other_things_than_headers_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("\n")
    with pytest.raises(EnvironmentProblem, match="holds no token"):
        RayBackend(cluster(token_file=str(tmp_path / "file"))).capacity()
    with pytest.raises(EnvironmentProblem, match=r"absent"):
        RayBackend(cluster(token_file=str(tmp_path / "absent"))).capacity()
    (tmp_path / "file").write_text("no header\n")
    with pytest.raises(EnvironmentProblem, match="holds no headers"):
        RayBackend(cluster(headers_file=str(tmp_path / "file"))).capacity()


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>"), (200, b"{}"), (404, b"nothing here"), (301, b"")])
def test_a_server_that_is_no_ray_gets_no_job(status: int, body: bytes, jobs: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("0123456789abcdef\n")
    with serving(200, b"[]") as (other, asked), serving(status, body, Location=f"{other}/api/jobs/") as (address, _):
        backend = RayBackend(cluster(address=address, token_file=str(tmp_path / "token")))
        with pytest.raises(EnvironmentProblem, match=address):
            backend.submit(shell("true"), jobs / "a")
    assert not asked, "a redirect takes the token elsewhere"
    assert not PlacedJobRecord(jobs / "a").elsewhere


def test_a_silent_address_leaves_a_job_unreachable_and_its_end_is_wanted_until_ray_answers(jobs: Path) -> None:
    with serving(200, b"[]") as (address, _):
        pass
    backend = RayBackend(cluster(address=address))
    status = backend.submit(shell("true"), jobs / "a")
    assert status.state is JobState.UNREACHABLE
    assert f"{address} does not answer" in (status.error or "")
    assert backend.cancel(jobs / "a").state is JobState.UNREACHABLE
    placed = PlacedJobRecord(jobs / "a").read()
    assert placed is not None
    assert placed.cancelled


def test_the_states_of_all_jobs_are_one_question(tmp_path: Path) -> None:
    (tmp_path / "headers").write_text("Authorization: Basic 0123\nX-Team: robots\n")
    answer = [{"submission_id": f"p2p-{i}", "status": "PENDING", "message": "No room."} for i in range(50)]
    with serving(200, json.dumps(answer).encode()) as (address, asked):
        backend = RayBackend(cluster(address=address, headers_file=str(tmp_path / "headers")))
        assert {backend.report(f"p2p-{i}").reason for i in range(50)} == {"No room."}
    assert asked == [("GET /api/jobs/", "Basic 0123")]


def test_a_head_that_does_not_start_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    program = tmp_path / "ray"
    program.write_text("#!/bin/sh\necho no room for a raylet\nexit 1\n")
    program.chmod(0o755)
    with serving(200, b"[]") as (address, _):
        pass
    head = RayHead(tmp_path / "head", address, str(program))
    with pytest.raises(EnvironmentProblem, match=r"3 tries(.|\n)*no room for a raylet"):
        head.start()
    assert head.token_path.stat().st_mode & 0o077 == 0


def test_a_head_that_is_ended_takes_all_it_started_along_and_leaves_those_who_only_talk_to_it(tmp_path: Path) -> None:
    program = tmp_path / "ray"
    program.write_text(f"#!/bin/sh\nsetsid sleep 60 &\necho $! >> {tmp_path}/workers\nexit 1\n")
    program.chmod(0o755)
    with serving(200, b"[]") as (address, _):
        pass
    head = RayHead(tmp_path / "head", address, str(program))
    with subprocess.Popen(["sleep", "60"], env=os.environ | {TOKEN_VARIABLE: str(head.token_path)}) as driver:
        with pytest.raises(EnvironmentProblem):
            head.start()
        workers = [int(pid) for pid in (tmp_path / "workers").read_text().split()]
        assert workers
        until(lambda: not any(map(is_running, workers)))
        assert driver.poll() is None
        driver.kill()


def test_a_port_that_something_else_has_is_named_before_a_head_is_started(tmp_path: Path) -> None:
    with serving(200, b"<html>") as (address, _), pytest.raises(EnvironmentProblem, match=f"{address} answers, but"):
        RayHead(tmp_path / "head", address, "/bin/false").start()


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"p2p-mcp\[ray\]"):
        RayHead(tmp_path / "head", "http://127.0.0.1:8265").start()


@pytest.mark.parametrize(
    ("error", "node", "ending"),
    [
        ("JOB_SUPERVISOR_ACTOR_START_TIMEOUT", None, Ending.INTERRUPTED),
        ("JOB_SUPERVISOR_ACTOR_DIED", "e70c", Ending.INTERRUPTED),
        ("JOB_SUPERVISOR_ACTOR_DIED", None, Ending.UNKNOWN),
        ("JOB_ENTRYPOINT_COMMAND_ERROR", "e70c", Ending.UNKNOWN),
    ],
)
def test_a_failure_of_the_cluster_is_told_from_one_of_the_job(error: str, node: str | None, ending: Ending) -> None:
    job = {"submission_id": "p2p", "status": "FAILED", "message": "why", "error_type": error, "driver_node_id": node}
    with serving(200, json.dumps([job]).encode()) as (address, _):
        assert RayBackend(cluster(address=address)).report("p2p") == (Phase.OVER, "why", ending)


@pytest.mark.nightly
def test_a_job_without_room_waits_with_rays_reason_and_once_cancelled_it_never_begins(ray: RayLab, jobs: Path) -> None:
    backend = RayBackend(ray.cluster.model_copy(update={"cores": 8}))
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "a")
    pid_in(jobs / "a/pid")
    before = set(ray.states())
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "b")
    waits = until(lambda: (now := backend.status(jobs / "b")).error and now)
    assert waits.state is JobState.QUEUED
    assert "waiting for resources" in (waits.error or "")
    name = name_of(ray, before)
    assert backend.cancel(jobs / "b").state is JobState.CANCELLED
    assert ray.states()[name] == "PENDING"
    backend.cancel(jobs / "a")
    until(lambda: ray.states()[name] not in ("PENDING", "RUNNING"))
    assert not (jobs / "b/pid").exists()
    assert state(backend, jobs / "b") is JobState.CANCELLED


@pytest.mark.slow
def test_a_job_stopped_by_rays_own_command_leaves_no_process_and_counts_as_cancelled(ray: RayLab, jobs: Path) -> None:
    before = set(ray.states())
    backend = RayBackend(ray.cluster)
    backend.submit(shell("setsid sleep 60 & echo $! > other; echo $$ > pid; exec sleep 60"), jobs / "a")
    pids = pid_in(jobs / "a/pid"), pid_in(jobs / "a/other"), supervisor_of(jobs / "a")
    name = name_of(ray, before)
    assert name in ray.command("job", "stop", "--address", ray.address, "--no-wait", name)
    until(lambda: not any(map(is_running, pids)))
    end = until(lambda: (now := backend.status(jobs / "a")).state.finished and now)
    assert (end.state, end.interrupted) == (JobState.CANCELLED, False)
    assert "Ended in ray" in (end.error or "")


@pytest.mark.slow
def test_an_interpreter_without_p2p_is_told_with_what_it_said(ray: RayLab, jobs: Path) -> None:
    backend = RayBackend(ray.cluster.model_copy(update={"python": str(PROGRAM.with_name("python"))}))
    backend.submit(shell("true"), jobs / "a")
    end = until(lambda: (now := backend.status(jobs / "a")).state.finished and now)
    assert (end.state, end.interrupted) == (JobState.LOST, False)
    assert (end.error or "").startswith("ray let it go: exit code 1\n")
    assert "No module named 'p2p'" in (end.error or "")


@pytest.mark.nightly
def test_a_lost_head_is_unreachable_and_each_job_goes_on_or_ends_as_its_own_processes_did(
    ray: RayLab, jobs: Path
) -> None:
    """One head is killed for all of them: to start another takes 15 s of a processor."""
    backend = RayBackend(ray.cluster)
    no_room = RayBackend(ray.cluster.model_copy(update={"cores": 100}))
    goes_on, waits, cancelled, dies = (jobs / name for name in ("goes_on", "waits", "cancelled", "dies"))
    backend.submit(shell("echo $$ > pid; until [ -e go ]; do sleep 0.1; done"), goes_on)
    no_room.submit(shell("true"), waits)
    backend.submit(shell("echo $$ > pid; exec sleep 60"), cancelled)
    backend.submit(shell("echo $$ >> pids; [ -e again ] || exec sleep 60"), dies)
    pid, ended, dead = pid_in(goes_on / "pid"), pid_in(cancelled / "pid"), pid_in(dies / "pids")
    for directory in (goes_on, dies):
        until(lambda directory=directory: state(backend, directory) is JobState.RUNNING)
    supervisor.send({supervisor_of(dies), *ray.head.processes()}, supervisor.signal.SIGKILL)
    until(lambda: not ray.head.processes() and not is_running(dead))
    silent = until(lambda: (now := no_room.status(waits)).state is JobState.UNREACHABLE and now)
    assert f"{ray.address} does not answer" in (silent.error or "")
    assert state(backend, goes_on) is JobState.RUNNING

    ray.make_good()
    end = until(lambda: (now := no_room.status(waits)).state.finished and now)
    assert (end.state, end.interrupted, end.started_at) == (JobState.LOST, True, None)
    for _ in range(3):  # for longer than a cluster's disk may be late
        assert state(backend, goes_on) is JobState.RUNNING
        time.sleep(ray.cluster.settle_s / 2)
    assert backend.submit(shell("echo twice > twice"), goes_on).state is JobState.RUNNING
    assert is_running(pid)
    (goes_on / "go").touch()
    until(lambda: state(backend, goes_on).finished)
    assert state(backend, goes_on) is JobState.COMPLETED
    assert not (goes_on / "twice").exists()

    assert backend.cancel(cancelled).state is JobState.CANCELLED
    assert not is_running(ended)

    end = until(lambda: (now := backend.status(dies)).state.finished and now)
    assert (end.state, end.interrupted) == (JobState.LOST, True)
    (dies / "again").touch()
    backend.submit(shell("echo $$ >> pids; [ -e again ] || exec sleep 60"), dies)
    assert until(lambda: state(backend, dies) is JobState.COMPLETED)
    assert len((dies / "pids").read_text().split()) == 2


@pytest.mark.slow
def test_a_job_that_another_process_submitted_is_not_lost_to_one_that_asked_before(
    ray: RayLab, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.job_table.ASK_S", (600.0, 600.0))
    backend = RayBackend(ray.cluster.model_copy(update={"settle_s": 1.0}))
    backend.submit(shell("true"), jobs / "a")
    backend.status(jobs / "a")
    words = (sys.executable, "-c", SUBMIT, ray.cluster.model_dump_json(), str(jobs / "b"))
    subprocess.run(words, check=True)
    while not (jobs / "b/pid").exists():
        assert not state(backend, jobs / "b").finished
        time.sleep(0.1)
    backend.cancel(jobs / "b")


SUBMIT = """
import sys
from pathlib import Path
from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobSpec
from p2p.scheduler.backends.ray import RayBackend

RayBackend(Cluster.model_validate_json(sys.argv[1])).submit(
    JobSpec(argv=("/bin/sh", "-c", "echo $$ > pid; exec sleep 60")), Path(sys.argv[2])
)
"""

SUBMIT_AND_DIE = """
import json, os, sys
from pathlib import Path
from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobSpec
from p2p.scheduler.backends.job_table import Ending, Phase
from p2p.scheduler.backends.ray import RayBackend

class Killed(RayBackend):
    def enqueue(self, placement):
        if sys.argv[3] == "after":
            super().enqueue(placement)
        os.kill(os.getpid(), 9)

Killed(Cluster.model_validate_json(sys.argv[1])).submit(
    JobSpec(argv=("/bin/sh", "-c", "echo once >> runs")), Path(sys.argv[2])
)
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.nightly), "after"])
def test_a_submitter_killed_before_it_has_noted_its_submission_submits_once(ray: RayLab, jobs: Path, when: str) -> None:
    words = (sys.executable, "-c", SUBMIT_AND_DIE, ray.cluster.model_dump_json(), str(jobs / "a"), when)
    assert subprocess.run(words, check=False).returncode == -9
    placed = PlacedJobRecord(jobs / "a").read()
    assert placed is not None
    assert not placed.submitted
    backend = RayBackend(ray.cluster)
    assert until(lambda: state(backend, jobs / "a") is JobState.COMPLETED)
    assert (jobs / "a/runs").read_text() == "once\n"


@pytest.mark.slow
def test_a_refused_token_is_said_at_submission_and_later_ends_no_job(ray: RayLab, jobs: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("f" * 64)
    changed = ray.cluster.model_copy(update={"options": {"address": ray.address, "token_file": str(token)}})
    backend = RayBackend(changed)
    with pytest.raises(EnvironmentProblem, match=r"refuses us: .*token_file"):
        backend.submit(shell("true"), jobs / "a")
    token.write_text(ray.head.token_path.read_text())
    backend = RayBackend(changed.model_copy(update={"cores": 100}))
    backend.submit(shell("true"), jobs / "a")
    token.unlink()
    unreadable = until(lambda: (now := backend.status(jobs / "a")).state is JobState.UNREACHABLE and now)
    assert str(token) in (unreadable.error or "")
    token.write_text(ray.head.token_path.read_text())
    assert until(lambda: state(backend, jobs / "a") is JobState.QUEUED)


@pytest.mark.slow
@pytest.mark.nightly
def test_a_session_trained_on_ray_equals_a_local_one_to_the_bit(
    ray: RayLab, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ClusterStore(tmp_path / "nodes").add(ray.cluster.model_copy(update={"name": "lab"}))
    monkeypatch.setenv("P2P_NODES_DIR", str(tmp_path / "nodes"))
    monkeypatch.setenv("P2P_BACKEND", "ray:lab")
    runs = tmp_path / "runs"
    session = p2p.run(BALANCE, env="InvertedPendulum-v5", n_seeds=1, n_report_rollouts=10, runs_dir=runs).wait()
    assert session.passed, session.error
    (placed,) = session.path.glob("iter_1/*/placed.json")
    assert json.loads(placed.read_text())["backend"] == "ray:lab"
    monkeypatch.delenv("P2P_BACKEND")
    (local,) = passed_session(tmp_path_factory).glob("session_*")
    assert policies(session.path) == policies(local)


def policies(session: Path) -> dict[str, bytes]:
    found = {path.parent.name: path.read_bytes() for path in session.glob("iter_1/*/checkpoints/*/policy.npz")}
    assert found
    return found
