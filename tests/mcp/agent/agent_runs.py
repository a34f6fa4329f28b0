from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from scripted_claude import ScriptedClaude, Step

from p2p.contracts.agent import AgentEvent, AgentReport, AgentRequest
from p2p.service.workspace import Workspace
from p2p_mcp.agent import agent_run

KEY = "sk-ant-decoy-0123456789"


class AgentRuns:
    """Starts agents against scripts."""

    def __init__(self, ws: Workspace, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.ws, self._monkeypatch, self._stack = ws, monkeypatch, stack
        self.events: list[AgentEvent] = []
        self.claude = ScriptedClaude([])

    def script(self, *steps: Step) -> ScriptedClaude:
        """A provider that answers with these steps from now on."""
        self.claude = self._stack.enter_context(ScriptedClaude(steps).serving())
        self._monkeypatch.setenv("ANTHROPIC_BASE_URL", self.claude.url)
        self._monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        return self.claude

    def run(self, *steps: Step, lines: Any = None, **request: Any) -> AgentReport:
        """One run of the agent, to its end."""
        self.script(*steps)
        fields = {"sentence": "hop", "model": "claude-opus-5-5", **request}
        return agent_run.converse(self.ws, AgentRequest(**fields), self.events.append, lines)

    def texts(self, kind: str) -> Sequence[str]:
        """What events of one kind said."""
        return [event.text for event in self.events if event.kind == kind]
