from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from agent_sittings import Sittings

from p2p.service import Service
from p2p.settings import Settings
from p2p_mcp.agent import claude


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(Settings(runs_dir=tmp_path / "runs"))


@pytest.fixture
def agent(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sittings]:
    async def at_once(_: float) -> None:
        pass

    monkeypatch.setattr(claude.Claude.__init__, "__defaults__", (at_once,))
    with ExitStack() as stack:
        yield Sittings(service, monkeypatch, stack)
