from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from agent_runs import AgentRuns

from p2p.inference.retry import Patience
from p2p.service.models import agent_model
from p2p.service.workspace import Workspace


@pytest.fixture
def agent(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentRuns]:
    monkeypatch.setattr(agent_model, "PATIENCE", Patience(attempts=4, first_pause_s=0))
    with ExitStack() as stack:
        yield AgentRuns(ws, monkeypatch, stack)
