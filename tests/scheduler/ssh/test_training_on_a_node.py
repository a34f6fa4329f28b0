"""One sentence, trained on a node behind a real sshd, up to its verdict, by the commands a person would type."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shared_sessions import BALANCE
from ssh_lab import Lab

from p2p.cli import main

CANARY = "sk-canary-77aa"


class Person:
    """Types commands."""

    def __init__(self, nodes_dir: Path, runs_dir: Path) -> None:
        self.env = {
            **os.environ,
            "P2P_NODES_DIR": str(nodes_dir),
            "P2P_RUNS_DIR": str(runs_dir),
            "ANTHROPIC_API_KEY": CANARY,
        }

    def types(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "p2p.cli", *words]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=500)


def address(lab: Lab) -> list[str]:
    login = ["--key", str(lab.sshd.folder / "user_key"), "--dir", str(lab.root), "--python", sys.executable]
    return [f"127.0.0.1:{lab.link.port}", *login]


@pytest.mark.slow
def test_from_an_unknown_machine_to_a_verdict(lab: Lab, tmp_path: Path) -> None:
    person = Person(tmp_path / "config", tmp_path / "runs")
    assert "No nodes" in person.types("nodes", "list").stdout
    assert "p2p nodes trust attic" in person.types("nodes", "add", "attic", *address(lab)).stdout
    assert person.types("nodes", "add", "attic", *address(lab)).returncode == 2
    refused = person.types("nodes", "bootstrap", "attic")
    assert refused.returncode == 4
    assert "not trusted yet" in refused.stderr
    fingerprint = json.loads(person.types("nodes", "trust", "attic", "--json").stdout)["error"]["message"].split()[-1]
    assert person.types("nodes", "trust", "attic", "--fingerprint", fingerprint).returncode == 0
    assert "--backend ssh:attic" in person.types("nodes", "bootstrap", "attic").stdout
    assert person.types("nodes", "check", "attic").returncode == 0

    sentence = [BALANCE, "--env", "InvertedPendulum-v5", "--timesteps", "3000"]
    options = ["--seeds", "1", "--iterations", "1", "--rollouts", "10", "--backend", "ssh:attic", "--json"]
    done = person.types("run", *sentence, *options)
    assert done.returncode in (0, 3), done.stderr
    view = json.loads(done.stdout)
    assert view["judgment"], (view["error"], view["runs"])
    assert view["judgment"]["verdict"] in ("passed", "failed")
    (run,) = (tmp_path / "runs").glob("*/iter_1/*_seed_*")
    remote = json.loads((run / "remote.json").read_text())
    assert remote["node"] == "attic"
    assert json.loads((run / "status.json").read_text())["state"] == "completed"
    assert (run / "summary.json").exists()
    deadline = time.monotonic() + 20
    while (remote_directory := Path(remote["path"])).exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not remote_directory.exists()  # what has come back is not kept there
    found = subprocess.run(
        ["grep", "--recursive", "--files-with-matches", CANARY, lab.root, tmp_path / "runs"],  # its films still change
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.stdout
    listed = json.loads(person.types("nodes", "list", "--json").stdout)["nodes"]
    assert [(node["node"]["name"], node["jobs"]) for node in listed] == [("attic", 0)]
    assert "Removed attic" in person.types("nodes", "remove", "attic").stdout
    assert person.types("nodes", "check", "attic").returncode == 2


def test_an_address_or_name_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("P2P_NODES_DIR", str(tmp_path))
    for words in (("Attic!", "host"), ("attic", "a b"), ("local", "host"), ("attic", "host", "--key", "/no/such/key")):
        assert main(["nodes", "add", *words]) == 2, words
        assert capsys.readouterr().err.startswith("Error: ")
    assert not (tmp_path / "nodes.json").exists()


def test_what_cannot_train_there_is_said_before_anything_starts(tmp_path: Path) -> None:
    person = Person(tmp_path / "config", tmp_path / "runs")
    run = ["run", "keep the pole balanced", "--env", "InvertedPendulum-v5", "--backend"]
    assert "Did you mean 'ssh'?" in person.types(*run, "shh").stderr
    assert "Which node?" in person.types(*run, "ssh").stderr
    assert person.types("nodes", "add", "attic", "nowhere.invalid").returncode == 0
    refused = person.types(*run, "ssh:attic")
    assert (refused.returncode, "p2p nodes bootstrap attic" in refused.stderr) == (4, True)
    assert not (tmp_path / "runs").exists()
    without = "import sys; sys.modules['paramiko'] = None; from p2p.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", without, "nodes", "check", "attic"]
    lacking = subprocess.run(command, env=person.env, capture_output=True, text=True)
    assert lacking.returncode == 4
    assert "pip install 'p2p-mcp[ssh]'" in lacking.stderr


@pytest.mark.slow
@pytest.mark.nightly
def test_the_example_of_another_machine_runs_to_its_assertion(lab: Lab, tmp_path: Path) -> None:
    person = Person(tmp_path / "config", tmp_path / "runs")
    printed = subprocess.check_output(["ssh-keygen", "-lf", lab.sshd.folder / "host_key.pub"], text=True)
    node = [f"127.0.0.1:{lab.link.port}", str(lab.sshd.folder / "user_key"), printed.split()[1], sys.executable]
    example = Path(__file__).parents[3] / "examples" / "08_train_on_another_machine.py"
    command = [sys.executable, str(example), str(tmp_path / "runs"), *node]
    done = subprocess.run(command, env=person.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"attic"' in done.stdout
