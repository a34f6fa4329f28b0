import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches a model provider, and none depends on the variables of whoever runs it."""
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "P2P_RUNS_DIR", "P2P_MAX_PARALLEL"):
        monkeypatch.delenv(name, raising=False)
