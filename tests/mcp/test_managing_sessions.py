"""Sessions named, thrown away, brought back and extended by a client."""

from collections.abc import Callable

import pytest
from finished_iterations import judgment, leave_training
from mcp.client import Client
from pole import EYES, GOOD
from tool_caller import Caller, Connect

from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace

pytestmark = pytest.mark.anyio
Calls = Callable[[Client], Caller]
POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)


async def test_a_session_goes_into_the_trash_and_comes_back(connect: Connect, ws: Workspace, caller: Calls) -> None:
    name = create_session(ws, POLE).session_id
    async with connect(ws) as client:
        call = caller(client)
        gone = await call("manage_session", session_id=name, action="delete")
        assert gone["deleted_at"]
        assert (await call("list_sessions"))["sessions"] == []
        assert [line["session_id"] for line in (await call("list_sessions", deleted=True))["sessions"]] == [name]
        assert 'action="restore"' in await call.error("get_session", session_id=name)
        back = await call("manage_session", session_id=name, action="restore")
        assert back["deleted_at"] is None
        assert (await call("get_session", session_id=name))["status"] == "pending"


async def test_an_alias_is_good_wherever_an_id_is(connect: Connect, ws: Workspace, caller: Calls) -> None:
    name = create_session(ws, POLE).session_id
    async with connect(ws) as client:
        call = caller(client)
        await call("manage_session", session_id=name, action="rename", value="pole")
        await call("manage_session", session_id="pole", action="tag", value="paper")
        starred = await call("manage_session", session_id="pole", action="star")
        assert (starred["session_id"], starred["alias"], starred["tags"]) == (name, "pole", ["paper"])
        assert (await call("steer_session", session_id="pole", wish="stand still"))["session_id"] == name
        for choice in ({"starred": True}, {"tag": "paper"}):
            assert [line["alias"] for line in (await call("list_sessions", **choice))["sessions"]] == ["pole"]
        assert (await call("list_sessions", tag="other"))["sessions"] == []
        assert "Name the tag" in await call.error("manage_session", session_id="pole", action="tag")


async def test_a_session_that_is_used_up_is_allowed_more(connect: Connect, ws: Workspace, caller: Calls) -> None:
    name = create_session(ws, POLE).session_id
    ws.record(name).set_status(SessionStatus.MAX_ITERATIONS)
    async with connect(ws) as client:
        extended = await caller(client)("extend_session", session_id=name, iterations=7)
    assert (extended["max_iterations"], extended["status"]) == (7, "pending")


async def test_a_session_whose_driver_is_gone_is_told_as_interrupted(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    name = create_session(ws, POLE).session_id
    ws.record(name).set_status(SessionStatus.RUNNING)
    async with connect(ws) as client:
        shown = await caller(client)("get_session", session_id=name)
    assert shown["status"] == "interrupted"
    assert f'run_session(session_id="{name}")' in shown["next_step"]


async def test_a_session_that_passed_goes_on_as_a_linked_one_ready_to_train(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    old = ws.record(create_session(ws, POLE).session_id)
    run_id = leave_training(old, 1, RewardDraft(source=GOOD, config_changes={"total_timesteps": 20_000}))
    old.iteration(1).save_judgment(judgment(run_id, 0.9, 20_000, passed=True))
    old.set_status(SessionStatus.PASSED)
    async with connect(ws) as client:
        call = caller(client)
        refused = await call.error("steer_session", session_id=old.session_id, wish="softer")
        assert f'extend_session(session_id="{old.session_id}", wish="...")' in refused
        assert "p2p " not in await call.error("extend_session", session_id=old.session_id)
        assert "extend_session" in (await call("get_session", session_id=old.session_id))["next_step"]
        new = await call("extend_session", session_id=old.session_id, wish="land softer", criteria=[EYES])
        assert new["extends"] == {"session_id": old.session_id, "iteration": 1}
        assert [criterion["key"] for criterion in new["criteria"]][-1] == EYES["key"]
        assert (new["wishes"], new["iteration"], new["status"]) == (["land softer"], 1, "pending")
        assert new["next_step"] == f'train_iteration(session_id="{new["session_id"]}")'
        lines = {line["session_id"]: line["extends"] for line in (await call("list_sessions"))["sessions"]}
    assert lines == {old.session_id: None, new["session_id"]: new["extends"]}
    draft = ws.record(new["session_id"]).iteration(1).read_draft()
    assert draft is not None
    assert (draft.source, draft.config_changes) == (GOOD, {"total_timesteps": 20_000})
