import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ENVIRONMENT, INSPECTOR, TINY, Node, Trained
from shared_sessions import BALANCE
from suite_runs import LONG, SHORT, pole_runs

CLI = ("--cli", "-q", "--connect-timeout", "60000")
Inspect = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inspect(node: Node, trained: Trained) -> Inspect:
    """Runs the Inspector's command line against our server on stdio."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        runs_dir = f"P2P_RUNS_DIR={trained.runs_dir}"
        return node(INSPECTOR, *CLI, "-e", runs_dir, sys.executable, "-m", "p2p_mcp", *arguments)

    return run


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_schemas_of_all_tools_are_portable(inspect: Inspect, era: str) -> None:
    result = inspect("--method", "tools/list", "--strict", "--protocol-era", era, "--format", "json")
    assert result.returncode == 0, result.stderr
    tools = _result(result)["tools"]
    assert {"create_session", "write_reward", "train_iteration", "judge_videos"} <= {tool["name"] for tool in tools}


def test_the_dashboard_is_seen_as_an_app(inspect: Inspect) -> None:
    result = inspect("--method", "tools/list", "--app-info")
    apps = [json.loads(line) for line in result.stdout.splitlines() if line.strip()]
    assert [app["toolName"] for app in apps if app.get("hasApp")] == ["show_dashboard"]


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "prompts/list"])
def test_what_else_the_server_offers_is_listed(inspect: Inspect, method: str) -> None:
    result = inspect("--method", method, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert any(len(part) > 0 for part in _result(result).values() if isinstance(part, list))


class Caller:
    """Calls tools through the Inspector's command line, in the older protocol and the newer one by turns."""

    def __init__(self, node: Node, url: str) -> None:
        self._node, self._server, self.called = node, (*CLI, "--server-url", url), set[str]()

    def names(self) -> set[str]:
        listed = self._node(INSPECTOR, *self._server, "--method", "tools/list", "--format", "json")
        return {tool["name"] for tool in _result(listed)["tools"]}

    def __call__(self, name: str, **arguments: object) -> dict[str, Any]:
        era = ("legacy", "modern")[len(self.called) % 2]
        self.called.add(name)
        call = ("--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments))
        result = self._node(INSPECTOR, *self._server, "--protocol-era", era, *call, "--format", "json")
        assert result.returncode == 0, (name, era, result.stdout[-2000:], result.stderr[-2000:])
        structured: dict[str, Any] = _result(result)["structuredContent"]
        assert structured.get("next_step"), name
        return structured


@pytest.mark.nightly  # a Node for each call: 95 s of processor time
def test_every_tool_can_be_called_in_the_order_of_the_loop(
    node: Node, p2p_url: str, trained: Trained, tmp_path_factory: pytest.TempPathFactory
) -> None:
    call, done = Caller(node, p2p_url), trained.session_id
    source = (trained.runs_dir / done / "iter_1" / "reward_fn.py").read_text()
    call("list_environments")
    call("list_nodes")
    call("describe_environment", env_id=ENVIRONMENT)
    call("check_setup")
    new = {"intent": BALANCE, "environment": ENVIRONMENT, "n_seeds": 1, "max_iterations": 3, "config": TINY}
    mine = call("create_session", **new, confirm_criteria=False)["session_id"]
    call("steer_session", session_id=mine, wish="move less")
    call("check_reward", session_id=mine, source=source)
    call("write_reward", session_id=mine, source=source)
    job_id = call("train_iteration", session_id=mine, wait_seconds=45, idempotency_key="once")["job_id"]
    assert call("get_job", job_id=job_id, wait_seconds=45)["state"] == "completed"
    call("list_jobs", session_id=mine)
    call("get_metrics", session_id=mine, view="terms", plot=True)
    call("judge_videos", session_id=mine)
    call("submit_judgment", session_id=mine, is_what_was_meant=False, score=0.2, diagnosis="It trembles.")
    call("revise_reward", session_id=mine, source=f"{source}\n# calmer\n", lesson="less force")
    call("compare_iterations", session_id=mine, first=1, second=2)
    call("get_session", session_id=mine)
    call("write_judge_code", session_id=mine)
    step = min(int(path.name) for path in (trained.runs_dir / done / "iter_1").glob("*/checkpoints/*"))
    call("compare_videos", session_id=done, first=1, second=1, first_checkpoint=step)
    call("view_rollout", session_id=done)
    call("export_policy", session_id=done)
    call("show_dashboard", session_id=done)
    call("read_dashboard", session_id=done, pictures=True)
    loop = call("create_session", **new, confirm_criteria=False)["session_id"]
    job_id = call("run_session", session_id=loop)["job_id"]
    call("cancel_job", job_id=job_id)
    call("list_sessions")
    call("label_rollout", session_id=done, score=0.9, annotator="Ada")
    call("analyze_session", session_id=done)
    call("extend_session", session_id=mine, iterations=5)
    call("manage_session", session_id=mine, action="star")
    call(
        "run_benchmark", action="start", suite="basic", only={"case": ["pendulum-balance"]}, run="inspected", seeds=[1]
    )
    call("run_benchmark", action="stop", run="inspected")
    shutil.copytree(pole_runs(tmp_path_factory) / "runs", trained.runs_dir, dirs_exist_ok=True)
    call("compare_benchmarks", runs=[SHORT, LONG])
    call("run_benchmark", action="page", run=LONG)
    entry = call("run_benchmark", action="export", run=LONG)["written"]
    assert call("verify_benchmark", entry=entry)["verified"]
    assert call.called == call.names()


@pytest.mark.parametrize("seconds", ["1", pytest.param("5", marks=pytest.mark.nightly)])
def test_a_tool_answers_under_load(node: Node, p2p_url: str, seconds: str) -> None:
    call = ("--method", "tools/call", "--tool-name", "list_sessions")
    load = ("--load", "--load-concurrency", "4", "--load-duration", seconds)
    result = node(INSPECTOR, *CLI, "--server-url", p2p_url, *call, *load, "--format", "json")
    assert result.returncode == 0, result.stderr
    summary = _result(result)
    assert summary["errors"] == summary["toolErrors"] == 0, summary
    assert summary["requests"] > 0


def _result(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What the server answered."""
    assert finished.stdout, finished.stderr
    result: dict[str, Any] = json.loads(finished.stdout)["result"]
    return result
