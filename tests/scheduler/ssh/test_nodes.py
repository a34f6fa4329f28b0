"""Nodes: whom p2p talks to, what it brings there, and what it never does."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from job_helpers import shell, until
from ssh_lab import Lab, make_key

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, NodeUnreachable
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.node import Node, NodeState, RemoteJob
from p2p.contracts.remedies import Remedy
from p2p.scheduler.backends.by_directory import open_backend
from p2p.scheduler.backends.ssh import SSHBackend
from p2p.scheduler.nodes import environments, transfer
from p2p.scheduler.nodes.links import links
from p2p.scheduler.nodes.package_bundle import Bundle, bundle, locks
from p2p.scheduler.nodes.ssh_connection import MAX_CHANNELS, Connection
from p2p.scheduler.nodes.transfer import checked_path
from p2p.service.machines.nodes import add_node, check_node, check_nodes, host_key, trust_node
from p2p.service.workspace import Workspace
from p2p.settings import Settings

CANARY = "sk-canary-5e1f"


@pytest.fixture
def ws(lab: Lab, tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path / "runs", nodes_dir=lab.store.path))


def other_name(lab: Lab, name: str, **fields: object) -> Node:
    """The same machine under another name; it is not looked at."""
    node = lab.node.model_copy(update={"name": name, "facts": None, **fields})
    lab.store.remove(name)
    lab.store.add(node)
    return node


def test_a_host_key_is_trusted_only_explicitly_and_only_the_one_that_was_looked_at(lab: Lab, tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", nodes_dir=tmp_path / "config"))
    add_node(ws, lab.node.model_copy(update={"facts": None}))
    view = check_node(ws, "attic")
    assert view.state is NodeState.UNREACHABLE
    assert "not trusted yet" in view.problem
    assert Remedy.TRUST_NODE.of(node="attic") in view.problem
    key = host_key(ws, "attic")
    printed = subprocess.check_output(["ssh-keygen", "-lf", lab.sshd.folder / "host_key.pub"], text=True)
    assert key.fingerprint in printed
    assert not key.trusted
    with pytest.raises(NodeUnreachable, match="The key was not trusted"):
        trust_node(ws, "attic", "SHA256:another")
    assert trust_node(ws, "attic", key.fingerprint).trusted
    assert check_node(ws, "attic").state is NodeState.READY
    add_node(ws, lab.node.model_copy(update={"name": "barn", "host": "127.0.0.2", "port": 1, "facts": None}))
    assert [view.state for view in check_nodes(ws)] == [NodeState.READY, NodeState.UNREACHABLE]


def test_a_host_key_that_changed_is_refused_until_it_is_trusted_again(lab: Lab, ws: Workspace) -> None:
    place = lab.sshd.folder / "host_key"
    for name in ("host_key", "host_key.pub"):
        shutil.move(lab.sshd.folder / name, lab.sshd.folder / f"old_{name}")
    make_key(place)
    lab.sshd.stop()
    lab.make_good()
    try:
        view = check_node(ws, "attic")
        assert view.state is NodeState.UNREACHABLE
        assert "a different host key from the trusted one" in view.problem
        key = host_key(ws, "attic")
        assert not key.trusted
        trust_node(ws, "attic", key.fingerprint)
        assert check_node(ws, "attic").state is NodeState.READY
    finally:
        for name in ("host_key", "host_key.pub"):
            shutil.move(lab.sshd.folder / f"old_{name}", lab.sshd.folder / name)
        lab.sshd.stop()
        lab.make_good()
        trust_node(ws, "attic", host_key(ws, "attic").fingerprint)


def test_a_node_that_knows_another_key_says_so(lab: Lab, tmp_path: Path) -> None:
    make_key(tmp_path / "stranger")
    node = lab.node.model_copy(update={"key_file": str(tmp_path / "stranger")})
    link = Connection(node, lab.store.known_hosts_path)
    with pytest.raises(NodeUnreachable, match="refuses the login"), link.files():
        pass
    link.close()


def test_a_node_says_what_it_has(ws: Workspace) -> None:
    facts = check_node(ws, "attic").node.facts
    assert facts is not None
    assert facts.cores >= 1
    assert facts.memory_mb is None or facts.memory_mb > 100
    assert facts.disk_free_mb > 0
    assert facts.python_version == ".".join(map(str, sys.version_info[:3]))
    assert facts.architecture == os.uname().machine


def test_a_node_without_a_python_that_will_do_says_where_p2p_looked(lab: Lab) -> None:
    node = other_name(lab, "bare", python="/no/such/python")
    link = Connection(node, lab.store.known_hosts_path)
    with pytest.raises(EnvironmentProblem, match=r"bare .* has no Python 3.11 or newer(.|\n)*/no/such/python"):
        environments.probe(link)
    link.close()


@pytest.mark.slow
def test_an_environment_is_built_once_also_when_two_ask_for_it(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, wheel = "p2p/scheduler/nodes/locks/train.lock", tiny_wheel(tmp_path)
    hashed = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(environments, "bundle", lambda: with_file(bundle(), name, f"{wheel} --hash=sha256:{hashed}\n"))
    node = other_name(lab, "empty", python=None, directory=str(tmp_path / "node"))
    first, second = (Connection(node, lab.store.known_hosts_path) for _ in range(2))
    prepared = node.model_copy(update={"facts": environments.probe(first)})
    first.node = second.node = prepared
    with pytest.raises(EnvironmentProblem, match="not installed there yet"):
        environments.environment(first)
    found: list[str] = []
    callers = [
        threading.Thread(target=lambda link=link: found.append(environments.environment(link, install=True)))
        for link in (first, second)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found[0] == found[1]
    assert len(list((tmp_path / "node/environments").glob("*/ready"))) == 1
    assert len(list((tmp_path / "node/packages").glob("*/ready"))) == 1
    question = "import p2p, tiny; print(p2p.__file__, tiny.__file__)"
    said = subprocess.check_output([found[0], "-I", "-c", question], text=True)
    assert said.count(str(tmp_path / "node")) == 2
    first.close()
    second.close()


def test_a_package_with_another_hash_is_not_installed(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, wheel = "p2p/scheduler/nodes/locks/train.lock", tiny_wheel(tmp_path)
    monkeypatch.setattr(
        environments, "bundle", lambda: with_file(bundle(), name, f"{wheel} --hash=sha256:{'0' * 64}\n")
    )
    link = Connection(
        other_name(lab, "empty", python=None, directory=str(tmp_path / "node")), lab.store.known_hosts_path
    )
    link.node = link.node.model_copy(update={"facts": environments.probe(link)})
    with pytest.raises(EnvironmentProblem, match=r"(?s)pip could not install.*HASHES"):
        environments.environment(link, install=True)
    assert not list((tmp_path / "node/packages").glob("*/ready"))
    link.close()


def test_only_code_and_data_of_the_package_are_sent() -> None:
    with zipfile.ZipFile(BytesIO(bundle().data)) as archive:
        names = set(archive.namelist())
    assert "p2p/worker/__main__.py" in names
    assert not [name for name in names if name != "__main__.py" and not name.startswith("p2p/")]
    assert not [name for name in names if Path(name).suffix in ("", ".env", ".toml", ".pem", ".key")]
    assert {*locks(("train", "sb3")), *locks(("onnx",))} <= names


def test_a_node_installs_what_a_worker_needs_and_nothing_of_the_front_ends() -> None:
    def named(extras: tuple[str, ...]) -> set[str]:
        with zipfile.ZipFile(BytesIO(bundle().data)) as archive:
            texts = [archive.read(name).decode() for name in locks(extras)]
        return {line.partition("==")[0] for text in texts for line in text.splitlines() if "==" in line}

    assert {"mujoco", "numpy", "pydantic"} <= named(("train",))
    assert not {"mcp", "typer", "torch"} & named(("train",))
    assert "torch" in named(("train", "sb3"))
    with pytest.raises(InvalidInput, match="cannot have the extra 'anthropic'; expected one of onnx, sb3, train"):
        locks(("anthropic",))


def test_no_key_leaves_this_machine(lab: Lab, jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("P2P_CANARY", CANARY)
    backend = SSHBackend("attic", lab.store)
    (jobs / "a").mkdir(parents=True)
    (jobs / "a/.env").write_text(f"ANTHROPIC_API_KEY={CANARY}")
    with pytest.raises(InvalidInput, match="gets no keys"):
        backend.submit(JobSpec(argv=("true",), secrets=("ANTHROPIC_API_KEY",)), jobs / "a")
    backend.submit(shell("env; ls -a; echo agent=$SSH_AUTH_SOCK; sleep 1; exit 3"), jobs / "a")
    until(lambda: backend.status(jobs / "a").state is JobState.FAILED)
    log = backend.logs(jobs / "a")[0]
    assert "agent=\n" in log
    assert ".env" not in log
    sent = [path for path in lab.root.rglob("*") if path.is_file()]
    assert sent
    assert not [path for path in sent if CANARY.encode() in path.read_bytes()]
    assert b"PRIVATE KEY" not in (jobs / "a/output.log").read_bytes()


@pytest.mark.parametrize(
    "name",
    ["../out", "/etc/passwd", "a//b", "a/./b", "", "x\ny", "a\\b", "status.json", "remote.json", "a.part", "link/file"],
)
def test_a_name_that_leads_out_of_the_directory_is_not_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/tmp")
    with pytest.raises(EnvironmentProblem):
        checked_path(tmp_path, name)


def test_links_that_a_job_makes_are_not_followed(lab: Lab, jobs: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(CANARY)
    backend = SSHBackend("attic", lab.store)
    backend.submit(shell(f"ln -s {tmp_path}/secret stolen; ln -s {tmp_path} folder; echo mine > result"), jobs / "a")
    until(lambda: backend.status(jobs / "a").state is JobState.COMPLETED)
    assert (jobs / "a/result").read_text() == "mine\n"
    assert not (jobs / "a/stolen").exists()
    assert not (jobs / "a/folder").exists()


def test_a_file_that_arrives_damaged_is_asked_for_again(tmp_path: Path) -> None:
    arrivals = transfer.Arrivals(tmp_path)
    arrivals.begin({"sent": [{"name": "a/b", "begin": 0, "size": 4}, {"name": "empty", "begin": 0, "size": 0}]})
    arrivals.take(b"da")
    arrivals.take(b"ta")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    sent = [{"name": "a/b"}, {"name": "empty"}]
    assert not transfer.settle(tmp_path, sent, {"a/b": {"sha256": "0" * 64}, "empty": {"sha256": empty}})
    assert not (tmp_path / "a/b").exists()
    assert not (tmp_path / "a/b.part").exists()
    assert (tmp_path / "empty").read_bytes() == b""


def test_more_commands_than_channels_wait_for_one_another(lab: Lab) -> None:
    with links(lab.store).to("attic") as link:
        said: list[bytes] = []
        callers = [
            threading.Thread(target=link.run, args=(["echo", f"it's {index}; $HOME"], said.append))
            for index in range(3 * MAX_CHANNELS)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert sorted(said) == sorted(f"it's {index}; $HOME\n".encode() for index in range(3 * MAX_CHANNELS))


def test_a_command_that_says_much_is_heard_to_its_end(lab: Lab) -> None:
    with links(lab.store).to("attic") as link:
        pieces: list[bytes] = []
        code, stderr = link.run(["sh", "-c", "head -c 5000000 /dev/zero; echo bad >&2; exit 3"], pieces.append)
    assert (len(b"".join(pieces)), code, stderr) == (5_000_000, 3, "bad\n")


def test_a_job_whose_directory_on_the_node_is_gone_is_lost(lab: Lab, jobs: Path) -> None:
    backend = SSHBackend("attic", lab.store)
    backend.submit(shell("sleep 100"), jobs / "a")
    remote_directory = lab.remote_directory(jobs / "a")
    shutil.rmtree(remote_directory)
    status = until(lambda: (now := backend.status(jobs / "a")).state.finished and now)
    assert status.state is JobState.LOST
    assert "gone" in (status.error or "")


@pytest.mark.parametrize("submitted", [True, False])
def test_a_job_that_a_copied_session_puts_on_a_node_is_left_alone(
    lab: Lab, jobs: Path, tmp_path: Path, submitted: bool
) -> None:
    """It may name any directory there, and a command: a look at it would have uploaded and started it."""
    backend = open_backend("ssh:attic", lab.store)
    (home := tmp_path / "home/.ssh").mkdir(parents=True)
    (home / "id").write_text("a key")
    (jobs / "a").mkdir(parents=True)
    (jobs / "a/authorized_keys").write_text("the attacker's")
    (jobs / "a/job.json").write_text(shell("touch run").model_dump_json())
    forged = RemoteJob(node="attic", path=str(home), submitted=submitted, seal="0" * 64)
    (jobs / "a/remote.json").write_text(forged.model_dump_json())
    status = backend.status(jobs / "a")
    assert status.state is JobState.UNREACHABLE
    assert "was not written by this installation of p2p" in (status.error or "")
    with pytest.raises(InvalidInput, match="Delete the file to give the job up"):
        backend.submit(shell("true"), jobs / "a")
    (jobs / "a/status.json").write_text(JobStatus(state=JobState.FAILED).model_dump_json())
    with pytest.raises(InvalidInput, match="Delete the file to give the job up"):
        backend.submit(shell("true"), jobs / "a")
    backend.cancel(jobs / "a")
    assert sorted(path.name for path in home.iterdir()) == ["id"]
    assert not (jobs / "a/id").exists()


def test_broken_files_here_start_nothing_again(lab: Lab, jobs: Path) -> None:
    backend = open_backend("ssh:attic", lab.store)
    job = shell("echo run >> count")
    backend.submit(job, jobs / "a")
    end = until(lambda: (now := backend.status(jobs / "a")).state.finished and now)
    (jobs / "a/status.json").write_text("{")  # and its remote directory is gone by now
    assert backend.status(jobs / "a") == end
    assert backend.submit(job, jobs / "a") == end
    (jobs / "a/status.json").write_text("{")
    (jobs / "a/remote.json").write_text("{")
    assert backend.submit(job, jobs / "a").state is JobState.UNREACHABLE
    assert "remote.json" in (backend.status(jobs / "a").error or "")
    assert open_backend("local", lab.store).submit(job, jobs / "a").state is JobState.UNREACHABLE
    assert (jobs / "a/count").read_text() == "run\n"


@pytest.mark.slow
def test_a_supervisor_killed_on_the_node_is_noticed(lab: Lab, jobs: Path) -> None:
    backend = SSHBackend("attic", lab.store)
    backend.submit(shell("echo run >> count; exec sleep 100"), jobs / "a")
    handle = (lab.remote_directory(jobs / "a") / "handle.json").read_text()
    os.kill(int(handle.split('"pid":')[1].split(",")[0]), 9)
    status = until(lambda: (now := backend.status(jobs / "a")).state.finished and now)
    assert status.state is JobState.LOST
    assert (jobs / "a/count").read_text() == "run\n"


def with_file(ours: Bundle, name: str, text: str) -> Bundle:
    """The same bundle with one file of it written anew."""
    packed = BytesIO()
    with zipfile.ZipFile(BytesIO(ours.data)) as old, zipfile.ZipFile(packed, "w") as new:
        for kept in old.namelist():
            same_time = zipfile.ZipInfo(kept)  # the digest of two bundles made one after the other is the same
            new.writestr(same_time, text if kept == name else old.read(kept))
    return Bundle(data=packed.getvalue(), digest=hashlib.sha256(packed.getvalue()).hexdigest()[:16])


def tiny_wheel(folder: Path) -> Path:
    """A package for pip that needs no index."""
    path = folder / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path
