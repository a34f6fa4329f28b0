import json
import re
import sys
from pathlib import Path

import pytest

import p2p
from p2p.contracts.errors import EnvironmentProblem
from p2p_mcp.cli import main
from p2p_mcp.install import server_probe
from p2p_mcp.install.entry import this_installation

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def _without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    """No renderer is probed."""
    monkeypatch.setitem(sys.modules, "mujoco", None)


def test_this_server_answers_as_clients_start_it(tmp_path: Path) -> None:
    entry = this_installation(tmp_path, {})
    answer = server_probe.ask(entry.command, list(entry.args), entry.env, timeout_s=120)
    assert answer.problem == ""
    assert answer.version == p2p.__version__
    assert answer.tools >= 10
    assert 0 < answer.seconds < 120


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit('no numpy here')", "did not answer.*It said: no numpy here"),
        ("print('hello')", "did not answer"),
        ("import time; time.sleep(60)", "did not answer within 1 s"),
    ],
)
def test_a_program_that_is_no_server_is_told_of_in_words(code: str, message: str) -> None:
    answer = server_probe.ask(sys.executable, ["-c", code], {}, timeout_s=1)
    assert re.search(message, answer.problem)


def test_a_program_that_is_not_there_is_told_of_in_words() -> None:
    assert "does not start" in server_probe.ask("/nowhere/p2p-mcp", [], {}).problem


def test_doctor_tells_of_each_client(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    runs = ["--runs-dir", str(tmp_path / "runs")]
    for folder in (".cursor", ".gemini", ".config/Code/User"):
        (home / folder).mkdir(parents=True)
    assert main(["install", "cursor", *runs]) == 0
    gone = {"command": "/gone/bin/p2p-mcp", "args": []}
    (home / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": {"lab": gone, "files": {}}}))
    (home / ".claude.json").write_text("{")
    capsys.readouterr()

    assert main(["doctor", "--json", *runs]) == EnvironmentProblem.exit_code

    shown = capsys.readouterr().out
    assert KEY not in shown
    report = json.loads(shown)
    checks = {check["name"]: check for check in report["checks"]}
    assert report["usable"] is False
    assert checks["p2p-mcp"]["level"] == "ok"
    assert checks["claude-desktop"]["found"] == "Claude Desktop is not here"
    assert checks["cursor"]["found"] == "Cursor starts this very server"
    assert checks["vscode"]["remedy"] == "Run: p2p-mcp install vscode"
    assert checks["gemini"]["found"] == "/gone/bin/p2p-mcp is no longer there"
    assert checks["gemini"]["remedy"] == "Run: p2p-mcp install gemini --name lab"
    assert "not valid JSON" in checks["claude-code"]["found"]
    assert checks["GEMINI_API_KEY"]["found"] == "set"
