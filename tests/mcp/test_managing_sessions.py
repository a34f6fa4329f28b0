"""Sessions named, thrown away, brought back and extended by a client."""

from collections.abc import Callable

import pytest
from mcp.client import Client
from tool_caller import Caller, Connect

from p2p.contracts.session import NewSession, SessionStatus
from p2p.service import Service

pytestmark = pytest.mark.anyio
Calls = Callable[[Client], Caller]
POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)


async def test_a_session_goes_into_the_trash_and_comes_back(connect: Connect, service: Service, caller: Calls) -> None:
    name = service.create_session(POLE).session_id
    async with connect(service) as client:
        call = caller(client)
        gone = await call("manage_session", session_id=name, action="delete")
        assert gone["deleted_at"]
        assert (await call("list_sessions"))["sessions"] == []
        assert [line["session_id"] for line in (await call("list_sessions", deleted=True))["sessions"]] == [name]
        assert 'action="restore"' in await call.error("get_session", session_id=name)
        back = await call("manage_session", session_id=name, action="restore")
        assert back["deleted_at"] is None
        assert (await call("get_session", session_id=name))["status"] == "pending"


async def test_an_alias_is_good_wherever_an_id_is(connect: Connect, service: Service, caller: Calls) -> None:
    name = service.create_session(POLE).session_id
    async with connect(service) as client:
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


async def test_a_session_that_is_used_up_is_allowed_more(connect: Connect, service: Service, caller: Calls) -> None:
    name = service.create_session(POLE).session_id
    service.record(name).set_status(SessionStatus.MAX_ITERATIONS)
    async with connect(service) as client:
        extended = await caller(client)("extend_session", session_id=name, iterations=7)
    assert (extended["max_iterations"], extended["status"]) == (7, "pending")


async def test_a_session_whose_driver_is_gone_is_told_as_interrupted(
    connect: Connect, service: Service, caller: Calls
) -> None:
    name = service.create_session(POLE).session_id
    service.record(name).set_status(SessionStatus.RUNNING)
    async with connect(service) as client:
        shown = await caller(client)("get_session", session_id=name)
    assert shown["status"] == "interrupted"
    assert f'run_session(session_id="{name}")' in shown["next_step"]
