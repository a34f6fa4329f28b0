from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from agent_sittings import Sittings

from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.agent import claude


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path / "runs"))


@pytest.fixture
def agent(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sittings]:
    async def at_once(_: float) -> None:
        pass

    monkeypatch.setattr(claude.Claude.__init__, "__defaults__", (at_once,))
    with ExitStack() as stack:
        yield Sittings(ws, monkeypatch, stack)
