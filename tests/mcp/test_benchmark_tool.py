from collections.abc import Callable

import pytest
from made_up_suites import begun, end, suite_of
from mcp.client import Client
from tool_caller import Caller, Connect

from p2p.contracts.session import SessionStatus
from p2p.service.workspace import Workspace

pytestmark = pytest.mark.anyio
Calls = Callable[[Client], Caller]


async def test_runs_of_suites_are_told_with_the_outcome_of_each_session(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    suite = suite_of(2)
    _, run = begun(ws, suite)
    async with connect(ws) as client:
        call = caller(client)
        end(ws, suite, run, "case-0", SessionStatus.PASSED)
        shown = await call("run_benchmark", action="show", run="poles")
        assert [(one["outcome"], one["passed_exam"]) for one in shown["sessions"]] == [
            ("passed", False),
            ("open", None),
        ]
        assert shown["next_step"] == 'run_benchmark(action="resume", run="poles")'
        failed = end(ws, suite, run, "case-1", SessionStatus.ERROR)
        listed = await call("run_benchmark")
        (line,) = listed["runs"]
        assert (line["state"], line["ended"], line["passed"], line["passed_exam"]) == ("ended", 2, 1, 0)
        assert listed["sessions"] == []
        shown = await call("run_benchmark", action="show", run="poles")
        assert shown["next_step"] == f'get_session(session_id="{failed}")'


async def test_only_suites_that_come_with_p2p_are_started(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        call = caller(client)
        none = await call("run_benchmark")
        assert "basic" in none["suites"]
        assert none["next_step"].startswith('run_benchmark(action="start"')
        assert "Unknown suite '/etc/secrets.csv'" in await call.error(
            "run_benchmark", action="start", suite="/etc/secrets.csv"
        )
        assert "Unknown run of a suite 'poles'" in await call.error("run_benchmark", action="show", run="poles")
