import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import HERE, INSPECTOR, INSTALLED, NODE, Trained, environment


@pytest.fixture
def inspector_web(trained: Trained, tmp_path: Path) -> Iterator[str]:
    """Address of the Inspector's web interface, with our server on stdio in its list."""
    config = tmp_path / "servers.json"
    server = {"command": sys.executable, "args": ["-m", "p2p_mcp"], "env": {"P2P_RUNS_DIR": str(trained.runs_dir)}}
    config.write_text(json.dumps({"mcpServers": {"p2p": server}}))
    token = secrets.token_hex(8)
    variables = environment() | {
        "HOME": str(tmp_path),
        "MCP_AUTO_OPEN_ENABLED": "false",
        "MCP_INSPECTOR_API_TOKEN": token,
        "MCP_INSPECTOR_SECRET_STORE": "memory",
        "CLIENT_PORT": "6397",
        "MCP_SANDBOX_PORT": "6398",
    }
    command = [str(NODE), str(INSTALLED / "node_modules" / INSPECTOR), "--web", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables, text=True) as web:
        assert web.stdout is not None
        for line in web.stdout:
            if "MCP_INSPECTOR_API_TOKEN=" in line:
                break
        else:
            raise AssertionError("the Inspector did not start")
        threading.Thread(target=web.stdout.read, daemon=True).start()
        try:
            yield line.strip()
        finally:
            web.terminate()


def test_the_inspector_lists_the_tools_and_shows_the_dashboard(
    inspector_web: str, trained: Trained, tmp_path: Path, browser_environment: dict[str, str]
) -> None:
    script = INSTALLED / "open_dashboard.mjs"  # modules are looked up from where a script lies
    script.write_text((HERE / "open_dashboard.mjs").read_text())
    screenshot = Path(os.environ.get("P2P_SCREENSHOTS", tmp_path)) / "dashboard.png"
    result = subprocess.run(
        [str(NODE), str(script), inspector_web, trained.session_id, str(screenshot)],
        capture_output=True,
        text=True,
        timeout=120,
        env=browser_environment,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    shown = json.loads(result.stdout.strip().splitlines()[-1])
    assert "Create a session" in shown["tools"] or "create_session" in shown["tools"]
    assert shown["sentence"] == trained.sentence
    assert shown["status"] in ("passed", "max_iterations")
    assert shown["runs"] == 2
    assert shown["terms"] >= 1
    assert "at least" in shown["criteria"] or "at most" in shown["criteria"]
    assert shown["problems"] == []
    assert screenshot.stat().st_size > 20_000
