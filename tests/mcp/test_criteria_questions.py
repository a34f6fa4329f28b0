from collections.abc import Callable
from typing import Any

import pytest
from mcp.client import Client
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from tool_caller import Caller, Connect

from p2p.service.progress.listing import list_sessions
from p2p.service.workspace import Workspace

pytestmark = pytest.mark.anyio
Calls = Callable[[Client], Caller]


class User:
    """A person whose client shows forms."""

    def __init__(self, result: ElicitResult) -> None:
        self.result, self.asked = result, list[ElicitRequestFormParams]()

    async def __call__(self, _context: Any, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params)
        return self.result


async def test_the_user_corrects_a_threshold(connect: Connect, ws: Workspace, caller: Calls) -> None:
    user = User(ElicitResult(action="accept", content={"moves_forward": 1.5}))
    async with connect(ws, elicitation_callback=user) as client:
        new = await caller(client)("create_session", intent="run forward")
    [asked] = user.asked
    assert "run forward" in asked.message
    assert asked.requested_schema["properties"]["moves_forward"]["default"] == 3.0
    assert asked.requested_schema["properties"]["moves_forward"]["type"] == "number"
    thresholds = {one["key"]: one["predicate"]["threshold"] for one in new["criteria"] if one["predicate"]}
    assert thresholds["moves_forward"] == 1.5


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_who_does_not_answer_gets_the_derived_criteria(
    connect: Connect, ws: Workspace, caller: Calls, action: Any
) -> None:
    user = User(ElicitResult(action=action))
    async with connect(ws, elicitation_callback=user) as client:
        new = await caller(client)("create_session", intent="run forward")
    assert len(user.asked) == 1
    assert new["criteria"][0]["predicate"]["threshold"] == 3.0


@pytest.mark.parametrize(
    "arguments",
    [
        {"intent": "run forward", "confirm_criteria": False},
        {"intent": "dance like a swan"},
        {
            "intent": "run forward",
            "criteria": [
                {"key": "a", "title": "A", "description": "a", "category": "gait", "predicate": None},
            ],
        },
    ],
)
async def test_nobody_is_asked_where_nothing_is_to_be_decided(
    connect: Connect, ws: Workspace, caller: Calls, arguments: dict[str, Any]
) -> None:
    user = User(ElicitResult(action="cancel"))
    async with connect(ws, elicitation_callback=user) as client:
        await caller(client)("create_session", **arguments)
    assert user.asked == []


async def test_a_failure_of_the_question_is_told_like_any_other(connect: Connect, ws: Workspace, caller: Calls) -> None:
    user = User(ElicitResult(action="decline"))
    async with connect(ws, elicitation_callback=user) as client:
        words = await caller(client).error("create_session", intent="run forward", environment="Nope-v1")
    assert "Unknown environment 'Nope-v1'" in words
    assert list_sessions(ws) == ()
