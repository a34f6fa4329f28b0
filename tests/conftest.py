import os
import signal
import tempfile

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
_CORES = tempfile.TemporaryDirectory(prefix="p2p-cores-")
os.environ["P2P_CORES_DIR"] = _CORES.name
"""Tests own the cores of this machine among themselves, whoever trains on it besides."""
# a shell starts its background commands with Ctrl-C ignored, and what they start inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches a model provider, and none depends on the variables of whoever runs it."""
    for name in (
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "OPENAI_API_KEY",
        "P2P_RUNS_DIR",
        "P2P_MAX_PARALLEL",
        "P2P_MAX_JOBS",
        "P2P_BACKEND",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("P2P_CONFIG", os.devnull)
    monkeypatch.setenv("P2P_NODES_DIR", os.devnull)
