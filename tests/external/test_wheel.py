"""The wheel, installed where nothing else is, does what the checkout does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shared_sessions import BALANCE

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without what leads Python to the checkout."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run([*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True, timeout=550)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own, with the wheel and its extra `train` in it; its folder of programs."""
    place = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", place, ROOT, cwd=place)
    assert built.returncode == 0, built.stderr
    [wheel] = place.glob("p2p_mcp-*.whl")
    made = run(sys.executable, "-m", "venv", place / "venv", cwd=place)
    assert made.returncode == 0, made.stderr
    programs = place / "venv" / "bin"
    answer = run(programs / "python", *PIP, "install", "--only-binary", ":all:", f"{wheel}[train]", cwd=place)
    assert answer.returncode == 0, answer.stderr
    return programs


def test_a_sentence_passes_with_the_installed_wheel(installed: Path, tmp_path: Path) -> None:
    options = ("--env", "InvertedPendulum-v5", "--timesteps", "60000", "--seeds", "1", "--json")
    answer = run(installed / "p2p", "run", BALANCE, *options, cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert json.loads(answer.stdout)
    assert list(tmp_path.glob("runs/*/iter_1/report/videos/*.mp4"))


def test_the_server_of_the_installed_wheel_answers_with_its_tools(installed: Path, tmp_path: Path) -> None:
    lines = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "wheel", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        [installed / "p2p-mcp"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        server.stdin.flush()
        replies = {}
        while 2 not in replies:
            reply = json.loads(server.stdout.readline())
            replies[reply.get("id")] = reply
        server.stdin.close()
    assert "create_session" in {tool["name"] for tool in replies[2]["result"]["tools"]}


def test_an_install_without_training_names_the_line_that_brings_it(installed: Path, tmp_path: Path) -> None:
    """Last in the file: it takes a package of the shared environment away."""
    removed = run(installed / "python", *PIP, "uninstall", "--yes", "gymnasium", cwd=tmp_path)
    assert removed.returncode == 0, removed.stderr
    answer = run(installed / "p2p", "run", "keep the pole balanced", "--env", "InvertedPendulum-v5", cwd=tmp_path)
    assert answer.returncode == 4
    assert "pip install 'p2p-mcp[train]'" in answer.stderr
