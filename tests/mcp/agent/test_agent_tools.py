import base64
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from replacing import replace_function

from p2p.contracts.agent import AgentEvent, AgentLimits, JobProgress
from p2p.contracts.inference import ImagePart, Message, ModelRequest, TextPart, ToolCall, ToolResult
from p2p.service.models.agent_model import tokens_to_read
from p2p.service.sessions.background import cancel_job
from p2p.service.workspace import Workspace
from p2p_mcp.agent.agent_budget import AgentBudget
from p2p_mcp.agent.calling import LOOP, ToolCaller
from p2p_mcp.agent.converter import CLEARED, MAX_TEXT, holds_pictures, tool_result, without_pictures

CALL = ToolCall(call_id="t", name="view_rollout")
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0").decode()


def test_every_kind_of_content_becomes_what_a_model_takes() -> None:
    result = CallToolResult(
        content=[
            TextContent(type="text", text="words"),
            ImageContent(type="image", data=JPEG, mime_type="image/jpeg"),
            ImageContent(type="image", data=JPEG, mime_type="image/tiff"),
            ImageContent(type="image", data="not base64!", mime_type="image/png"),
            AudioContent(type="audio", data=JPEG, mime_type="audio/wav"),
            ResourceLink(type="resource_link", name="rollout.mp4", uri="p2p://x/rollout.mp4", mime_type="video/mp4"),
            EmbeddedResource(type="resource", resource=TextResourceContents(uri="p2p://a", text="inner")),
            EmbeddedResource(type="resource", resource=BlobResourceContents(uri="p2p://b", blob=JPEG)),
        ]
    )
    made = tool_result(CALL, result)
    assert made.images == (ImagePart(media_type="image/jpeg", data=JPEG),)
    lines = made.text.splitlines()
    assert len(lines) == 7
    assert lines[0] == "words"
    assert "image/tiff" in lines[1]
    assert "p2p://x/rollout.mp4" in lines[4]
    assert lines[5] == "inner"


def test_structured_content_stands_in_where_there_is_no_text() -> None:
    picture = ImageContent(type="image", data=JPEG, mime_type="image/png")
    made = tool_result(CALL, CallToolResult(content=[picture], structured_content={"score": 0.5}))
    assert made.text == '{"score": 0.5}'
    assert len(made.images) == 1


def test_an_empty_result_is_said_to_be_empty_and_a_long_one_is_cut() -> None:
    assert tool_result(CALL, CallToolResult(content=[])).text == "(nothing)"
    long = tool_result(CALL, CallToolResult(content=[TextContent(type="text", text="x" * (MAX_TEXT + 7))]))
    assert long.text.endswith("[cut: 7 more characters]")


def test_pictures_are_cleared_and_everything_else_stays() -> None:
    image = ImagePart(media_type="image/png", data=JPEG * 10_000)
    inner = ToolResult(call_id="t", name="view_rollout", text="a", images=(image,))
    messages = [Message(role="user", parts=(inner, TextPart(text="b")))]
    cleared = without_pictures(messages)
    assert holds_pictures(messages)
    assert not holds_pictures(cleared)
    first, second = cleared[0].parts
    assert isinstance(first, ToolResult)
    assert first.text == f"a\n{CLEARED}"
    assert second == TextPart(text="b")
    assert 1600 < tokens_to_read(ModelRequest(messages=tuple(messages))) < 1800


class Trainings:
    """A server whose trainings move by 100 steps with each look."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        self.step, self.total = 0, 300
        self.server: MCPServer[None] = MCPServer("trainings")
        self.server.tool(structured_output=True)(self.train_iteration)
        self.server.tool(structured_output=True)(self.get_job)
        self.server.tool()(self.crash)

    def train_iteration(self, session_id: str, idempotency_key: str | None = None) -> dict[str, Any]:
        """Train."""
        self.keys.append(idempotency_key)
        return self._job(session_id)

    def get_job(self, job_id: str, wait_seconds: float) -> dict[str, Any]:
        """Look."""
        assert wait_seconds < 10
        self.step = min(self.step + 100, self.total)
        return self._job(job_id)

    def crash(self) -> str:
        """Fail."""
        raise RuntimeError

    def _job(self, _: str) -> dict[str, Any]:
        state = "completed" if self.step >= self.total else "running"
        return {"job_id": "job_1", "state": state, "step": self.step, "total": self.total, "next_step": "..."}


@pytest.fixture
def trainings() -> Trainings:
    return Trainings()


def call(trainings: Trainings, ws: Any, budget: AgentBudget, wanted: ToolCall) -> tuple[ToolResult, list[AgentEvent]]:
    events: list[AgentEvent] = []

    async def run() -> ToolResult:
        async with Client(trainings.server) as client:
            caller = ToolCaller(client, ws, budget, events.append, lambda _: None)
            await caller.open((*LOOP, "crash"))
            return await caller.call(wanted)

    return anyio.run(run), events


def test_a_training_is_waited_for_in_code_and_its_steps_are_counted(trainings: Trainings, ws: Workspace) -> None:
    budget = AgentBudget(AgentLimits(), None)
    result, events = call(
        trainings, ws, budget, ToolCall(call_id="t1", name="train_iteration", arguments={"session_id": "s"})
    )
    assert '"completed"' in result.text
    assert [event.job.step for event in events if isinstance(event.job, JobProgress)] == [0, 100, 200, 300]
    assert budget.spending.environment_steps == 300


def test_a_start_carries_the_id_of_its_call_as_key(trainings: Trainings, ws: Workspace) -> None:
    budget = AgentBudget(AgentLimits(), None)
    call(trainings, ws, budget, ToolCall(call_id="t1", name="train_iteration", arguments={"session_id": "s"}))
    call(
        trainings,
        ws,
        budget,
        ToolCall(call_id="t2", name="train_iteration", arguments={"session_id": "s", "idempotency_key": "k"}),
    )
    assert trainings.keys == ["t1", "k"]


def test_a_training_over_the_cap_on_steps_is_stopped_at_once(
    trainings: Trainings, ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[str] = []
    replace_function(monkeypatch, cancel_job, lambda _ws, job_id: cancelled.append(job_id))
    budget = AgentBudget(AgentLimits(environment_steps=299), None)
    result, _ = call(
        trainings, ws, budget, ToolCall(call_id="t1", name="train_iteration", arguments={"session_id": "s"})
    )
    assert cancelled == ["job_1"]
    assert result.is_error
    assert "299 are left" in result.text


def test_wrong_arguments_and_a_crash_are_answers_and_no_end(trainings: Trainings, ws: Workspace) -> None:
    budget = AgentBudget(AgentLimits(), None)
    wrong, _ = call(trainings, ws, budget, ToolCall(call_id="t1", name="train_iteration", arguments={"session": 3}))
    crashed, _ = call(trainings, ws, budget, ToolCall(call_id="t2", name="crash", arguments={}))
    assert wrong.is_error
    assert "session_id" in wrong.text
    assert crashed.is_error
