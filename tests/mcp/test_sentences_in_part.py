"""What is understood of a sentence is kept, and the rest is told to the client's model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.client import Client
from tool_caller import Caller, Connect

from p2p.service.progress.listing import list_sessions
from p2p.service.workspace import Workspace

pytestmark = pytest.mark.anyio
PONY = Path(__file__).parents[2] / "examples" / "pony.xml"
Calls = Callable[[Client], Caller]


async def test_what_is_understood_is_kept_and_the_rest_is_left_to_eyes(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    async with connect(ws) as client:
        new = await caller(client)("create_session", intent="walk forward slowly with quick steps")
    by_key = {criterion["key"]: criterion for criterion in new["criteria"]}
    assert by_key["moves_forward"]["predicate"] is not None
    assert by_key["also_asked"]["predicate"] is None
    assert "with quick steps" in by_key["also_asked"]["title"]
    assert "'with quick steps'" in new["note"]
    assert "also_asked" in new["note"]


async def test_predicates_for_the_rest_replace_its_eyes_alone(connect: Connect, ws: Workspace, caller: Calls) -> None:
    mine = {
        "key": "also_asked",
        "title": "Quick steps",
        "description": "low feet",
        "category": "gait",
        "predicate": {
            "statistic": "max", "feature": "clearance", "comparison": "at_most", "threshold": 0.1, "unit": "m",
            "margin": 0.1,
        },
    }  # fmt: skip
    async with connect(ws) as client:
        call = caller(client)
        new = await call("create_session", intent="walk forward slowly with quick steps")
        steered = await call("steer_session", session_id=new["session_id"], criteria=[mine])
    assert {c["key"] for c in steered["criteria"]} == {c["key"] for c in new["criteria"]}
    assert all(criterion["predicate"] is not None for criterion in steered["criteria"])


async def test_a_sentence_of_which_nothing_is_understood_is_judged_by_eyes_and_says_why(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    async with connect(ws) as client:
        new = await caller(client)("create_session", intent="frobnicate the quux")
    assert [criterion["key"] for criterion in new["criteria"]] == ["does_what_was_asked"]
    assert "'frobnicate the quux'" in new["note"]


async def test_the_ground_of_a_sentence_is_laid_and_told(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        asked = {"intent": "trot forward over rough ground", "environment": str(PONY)}
        shown = await caller(client)("create_session", **asked, dry_run=True)
        new = await caller(client)("create_session", **asked)
    assert "The ground is not level: rough" in shown["reward_rules"]
    assert "The ground is not level: rough" in new["reward_rules"]
    assert ws.record(new["session_id"]).read_session().config["terrain"]["kind"] == "rough"


async def test_a_dry_run_begins_nothing(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        shown = await caller(client)("create_session", intent="run at least 4 m/s", dry_run=True)
    assert shown["session_id"] == ""
    assert shown["status"] == "dry run"
    assert shown["criteria"][0]["predicate"]["threshold"] == 4.0
    assert shown["preview"]["total_timesteps"] > 0
    assert shown["preview"]["config"]["env_id"] == "HalfCheetah-v5"
    assert list_sessions(ws) == ()
