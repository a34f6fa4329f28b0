"""Resources, prompts and completions."""

import json
import re
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents
from tool_caller import Connect

from p2p.contracts.session import NewSession
from p2p.service.rewards.submission import submit_reward
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def session_id(ws: Workspace) -> str:
    return create_session(ws, NewSession(prompt="run forward", env_id="HalfCheetah-v5")).session_id


async def _text(client: Client, uri: str) -> str:
    contents = (await client.read_resource(uri)).contents[0]
    assert isinstance(contents, TextResourceContents)
    return contents.text


async def test_what_is_listed_can_be_read(connect: Connect, ws: Workspace, session_id: str) -> None:
    async with connect(ws) as client:
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert f"p2p://sessions/{session_id}" in listed
        assert "p2p://environments/Ant-v5" in listed
        for uri in listed:
            assert await _text(client, uri)
        assert json.loads(await _text(client, f"p2p://sessions/{session_id}"))["status"] == "pending"


async def test_what_can_be_read_is_told_by_its_form(connect: Connect, ws: Workspace) -> None:
    async with connect(ws) as client:
        templates = {one.uri_template: one for one in (await client.list_resource_templates()).resource_templates}
    iteration = "p2p://sessions/{session_id}/iterations/{iteration}"
    assert {*templates} == {
        "p2p://environments/{env_id}",
        "p2p://sessions/{session_id}",
        *(f"{iteration}{end}" for end in ("", "/judgment", "/reward.py", "/metrics.csv")),
        *(f"{iteration}/{kind}/{{name}}" for kind in ("videos", "frames")),
        "p2p://jobs/{job_id}",
        "p2p://jobs/{job_id}/log",
    }
    assert all(one.title and one.description for one in templates.values())


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("p2p://environments/Nope-v1", "Known: Ant-v5"),
        ("p2p://sessions/nothing", "Unknown session 'nothing'"),
        ("p2p://sessions/{}/iterations/1", "Unknown iteration '1'"),
        ("p2p://sessions/{}/iterations/first", "not the number of an iteration"),
        ("p2p://sessions/{}/iterations/1/reward.py", "Unknown iteration '1'"),
        ("p2p://jobs/job_0", "Unknown job 'job_0'"),
        ("p2p://nothing", "Unknown resource"),
    ],
)
async def test_what_cannot_be_read_is_said(
    connect: Connect, ws: Workspace, session_id: str, uri: str, words: str
) -> None:
    async with connect(ws) as client:
        with pytest.raises(MCPError, match=re.escape(words)):
            await client.read_resource(uri.replace("{}", session_id))


async def test_prompts_hold_what_they_were_given(connect: Connect, ws: Workspace, session_id: str) -> None:
    given: dict[str, dict[str, str]] = {
        "train_behaviour": {"behaviour": "hop on one leg", "environment": "Hopper-v5"},
        "debug_reward": {"session_id": session_id},
        "explain_result": {"session_id": session_id},
    }
    async with connect(ws) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {*prompts} == {*given}
        for name, arguments in given.items():
            content = (await client.get_prompt(name, arguments)).messages[0].content
            assert isinstance(content, TextContent)
            assert all(value in content.text for value in arguments.values())
            assert "$" not in content.text
            assert any(tool in content.text for tool in tools)
            assert all(argument.description for argument in prompts[name].arguments or ())


@pytest.mark.parametrize(
    ("argument", "typed", "expected"),
    [("session_id", "session_", 1), ("session_id", "other", 0), ("environment", "half", 1), ("nothing", "", 0)],
)
async def test_ids_are_completed_while_they_are_typed(
    connect: Connect, ws: Workspace, session_id: str, argument: str, typed: str, expected: int
) -> None:
    reference = PromptReference(type="ref/prompt", name="debug_reward")
    async with connect(ws) as client:
        found = (await client.complete(reference, {"name": argument, "value": typed})).completion
    assert len(found.values) == expected
    assert found.total == expected
    assert session_id in found.values or argument != "session_id" or not expected


async def test_iterations_are_completed_for_the_session_that_is_chosen(
    connect: Connect, ws: Workspace, session_id: str
) -> None:
    submit_reward(ws, session_id)
    reference = ResourceTemplateReference(
        type="ref/resource", uri="p2p://sessions/{session_id}/iterations/{iteration}/frames/{name}"
    )
    async with connect(ws) as client:

        async def values(name: str, **given: str) -> list[str]:
            argument: dict[str, Any] = {"name": name, "value": ""}
            return (await client.complete(reference, argument, context_arguments=given)).completion.values

        assert await values("iteration", session_id=session_id) == ["1"]
        assert await values("iteration", session_id="nothing") == []
        assert await values("iteration") == []
        assert await values("name", session_id=session_id, iteration="1") == []
        assert await values("name", session_id=session_id, iteration="x") == []
