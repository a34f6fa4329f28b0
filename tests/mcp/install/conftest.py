import os
from pathlib import Path

import pytest

from p2p_mcp.install.machine import Machine


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of a user who has no client, nor any program on the search path but the system's."""
    for name in ("XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "P2P_RUNS_DIR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home of a [user]"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", os.defpath)
    return home


@pytest.fixture
def machine(home: Path) -> Machine:
    """This machine as that user sees it."""
    return Machine.this().model_copy(update={"home": home})
