"""A client that has no model behind its server: it writes rewards, looks at pictures and judges, all over stdio."""

import json
import sys
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.types import ImageContent
from pole import CALMER, GOOD, SESSION, STEPS
from tool_caller import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("pictures")]


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.nightly)])
def mode(request: pytest.FixtureRequest) -> Literal["auto", "legacy"]:
    """Both eras of the protocol, which the tests of single tools try at every change."""
    chosen: Literal["auto", "legacy"] = request.param
    return chosen


def _server(runs_dir: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "p2p_mcp", "--runs-dir", str(runs_dir)])


async def _wait(call: Caller, job: dict[str, Any]) -> None:
    with anyio.fail_after(180):
        while job["poll_after_s"] is not None:
            job = await call("get_job", job_id=job["job_id"], wait_seconds=45)
    assert job["state"] == "completed"


async def _judge(call: Caller, session_id: str, content: bool) -> dict[str, Any]:
    result = await call.result("judge_videos", session_id=session_id)
    assert any(isinstance(block, ImageContent) for block in result.content)
    evidence = result.structured_content or {}
    return await call(
        "submit_judgment",
        session_id=session_id,
        iteration=evidence["iteration"],
        is_what_was_meant=content,
        score=0.9 if content else 0.2,
        diagnosis="It stands." if content else "It shakes all the time.",
        criteria=dict.fromkeys(evidence["only_eyes_can_judge"], content),
    )


async def test_the_whole_loop_needs_no_key_and_survives_a_new_server(tmp_path: Path, mode: Any) -> None:
    runs_dir = tmp_path / "runs"
    async with Client(_server(runs_dir), mode=mode) as client:
        call = Caller(client)
        session_id = (await call("create_session", **SESSION))["session_id"]
        refused = await call("write_reward", session_id=session_id, source=GOOD.replace("np.exp", "np.expp"))
        assert not refused["accepted"]
        assert (await call("write_reward", session_id=session_id, source=GOOD))["accepted"]
        start = {"session_id": session_id, "timesteps": STEPS, "idempotency_key": "first"}
        job = await call("train_iteration", **start)
    async with Client(_server(runs_dir), mode=mode) as client:
        call = Caller(client)
        assert (await call("train_iteration", **start))["job_id"] == job["job_id"]
        await _wait(call, job)
        terms = await call("get_metrics", session_id=session_id, view="terms")
        assert json.dumps(terms["terms"])
        assert not (await _judge(call, session_id, content=False))["passed"]
        brief = (await call("revise_reward", session_id=session_id))["brief"]
        assert brief["source"] == GOOD
        revised = await call("revise_reward", session_id=session_id, source=CALMER, reasoning="Force costs more.")
        assert revised["reward"]["iteration"] == 2
        await _wait(call, await call("train_iteration", session_id=session_id, timesteps=STEPS))
        assert (await _judge(call, session_id, content=True))["passed"]
        compared = await call("compare_iterations", session_id=session_id, first=1, second=2)
        assert compared["better"] == 2
        assert "calm" in [change["name"] for change in compared["changes"]]
        two = await call.result("compare_videos", session_id=session_id, first=1, second=2)
        assert sum(isinstance(block, ImageContent) for block in two.content) == 2
        looks = [{"above": "It stands.", "below": "It stands too.", "better": "same"}] * 2
        tie = await call("compare_videos", session_id=session_id, first=1, second=2, looks=looks)
        assert (tie["preference"]["better"], tie["preference"]["agreed"]) == (None, True)
        compared = await call("compare_iterations", session_id=session_id, first=1, second=2)
        assert compared["preferences"] == [tie["preference"]]
        side_by_side = await call("get_metrics", session_id=session_id, view="compare")
        assert side_by_side["comparison"]["second"]["verdict"] == "passed"
        assert [line["state"] for line in (await call("list_jobs", session_id=session_id))["jobs"]] == ["completed"] * 2
        ended = await call("get_session", session_id=session_id)
        assert (ended["status"], ended["best_iteration"]) == ("passed", 2)
        assert "export_policy" in ended["next_step"]
