import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from made_up_suites import begun, end, suite_of
from mcp.client import Client
from mcp.types import ImageContent
from suite_runs import LONG, SHORT, pole_runs
from tool_caller import Caller, Connect

from p2p.contracts.session import SessionStatus
from p2p.service.workspace import Workspace
from p2p.settings import Settings

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


async def test_what_is_measured_is_chosen_by_the_arguments_of_a_session(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    async with connect(ws) as client:
        call = caller(client)
        start = {"action": "start", "suite": "basic", "only": {"case": ["pendulum-balance"]}}
        assert "Unknown option of a session 'iterations'" in await call.error(
            "run_benchmark", **start, options={"iterations": 1}
        )
        assert "max_iterations" in await call.error("run_benchmark", **start, options={"max_iterations": 0})


@pytest.mark.parametrize(
    ("only", "told"),
    [
        ({"robot": ["Ant-v5"]}, "robot"),
        ({"case": ["pendulum-fly"]}, "Unknown case 'pendulum-fly'"),
        ({"from_stage": "third"}, "Unknown stage 'third'"),
        ({"flat": True, "difficulty": ["impossible"]}, "impossible"),
    ],
    ids=str,
)
async def test_a_part_of_a_suite_that_it_has_not_is_refused(
    connect: Connect, ws: Workspace, caller: Calls, only: dict[str, object], told: str
) -> None:
    async with connect(ws) as client:
        call = caller(client)
        assert told in await call.error("run_benchmark", action="start", suite="basic", only=only)
        assert (await call("run_benchmark"))["runs"] == []


@pytest.mark.slow
async def test_only_the_sessions_asked_for_are_run_and_a_corrected_exam_scores_them_again(
    connect: Connect,
    caller: Calls,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = pole_runs(tmp_path_factory)
    shutil.copytree(made / "runs", tmp_path / "runs")
    shutil.copytree(made / "suite", tmp_path / "shipped" / "suites")
    monkeypatch.setattr("p2p.store.suite_files.SHIPPED", tmp_path / "shipped")
    ws = Workspace(Settings.from_environment(tmp_path / "runs"))
    async with connect(ws) as client:
        call = caller(client)

        async def ended(name: str) -> dict[str, Any]:
            with anyio.fail_after(120):
                while (told := await call("run_benchmark", action="show", run=name))["runs"][0]["state"] == "running":
                    await anyio.sleep(0.2)
            return told

        only = {"category": ["pose"], "flat": True}
        await call("run_benchmark", action="start", suite="poles", run=LONG, only=only)
        outcomes = {one["session_id"]: one["outcome"] for one in (await ended(LONG))["sessions"]}
        assert outcomes == {f"{LONG}-strict-seed-1": "passed"}
        await call("run_benchmark", action="start", suite="poles", run=LONG)
        assert (await ended(LONG))["runs"][0]["passed_exam"] == 1
        exams = tmp_path / "shipped" / "suites" / "exams"
        shutil.copy(exams / "strict.json", exams / "balance.json")
        assert "erratum" in await call.error("run_benchmark", action="start", suite="poles", run=LONG)
        await call("run_benchmark", action="rescore", run=LONG)
        assert (await ended(LONG))["runs"][0]["passed_exam"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.nightly)], indirect=True)
async def test_runs_are_compared_shown_and_verified_by_tools(
    connect: Connect, caller: Calls, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shutil.copytree(pole_runs(tmp_path_factory) / "runs", tmp_path / "runs")
    ws = Workspace(Settings.from_environment(tmp_path / "runs"))
    async with connect(ws) as client:
        call = caller(client)
        result = await call.result("compare_benchmarks", runs=[SHORT, LONG])
        assert isinstance(result.content[1], ImageContent)
        found = result.structured_content or {}
        metrics = {one["metric"]: one for one in found["comparison"]["metrics"]}
        assert metrics["exam"]["differences"][0]["mean"] == 0.5
        assert found["summary"].startswith(f"No difference between {LONG} and {SHORT} can be told from chance")
        assert (ws.runs.path / found["comparison"]["chart"]).exists()
        judges = (await call("compare_benchmarks", runs=[LONG]))["judges"]["judges"]
        assert {one["judge"] for one in judges} == {"own verdict", "measured", "exam criteria"}
        assert "do not compare" not in await call.error("compare_benchmarks", runs=[LONG, "nobody"])
        page = await call("run_benchmark", action="page", run=LONG)
        assert (ws.runs.path / page["written"]).read_text().startswith("<!doctype html>")
        for _ in range(2):  # the entry of a run takes the place of an earlier one
            entry = (await call("run_benchmark", action="export", run=LONG))["written"]
        checked = await call("verify_benchmark", entry=entry)
        assert checked["verified"]
        assert (checked["report"]["simulated"], checked["report"]["same"]) == (2, 2)
        policies = sorted((ws.runs.path / entry / "sessions").glob("*/policy.npz"))
        policies[1].write_bytes(policies[0].read_bytes() + b" ")
        checked = await call("verify_benchmark", entry=entry)
        assert not checked["verified"]
        assert "the file was changed" in {problem["what"] for problem in checked["report"]["problems"]}


async def test_entries_are_verified_below_the_runs_directory_alone(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    (ws.runs.path / "benchmark").mkdir(parents=True)
    (ws.runs.path / "benchmark" / "link").symlink_to("/etc")
    async with connect(ws) as client:
        call = caller(client)
        for outside in ("/etc", "../elsewhere", "benchmark/link"):
            assert "outside the runs directory" in await call.error("verify_benchmark", entry=outside)
        assert "holds no readable entry" in await call.error("verify_benchmark", entry="benchmark")
        assert "Unknown suite '/etc/secrets.csv'" in await call.error(
            "verify_benchmark", entry="benchmark", suite="/etc/secrets.csv"
        )
