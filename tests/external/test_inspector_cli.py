import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from conftest import INSPECTOR, Node, Trained

Inspect = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inspect(node: Node, trained: Trained) -> Inspect:
    """Runs the Inspector's command line against our server on stdio."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        runs_dir = f"P2P_RUNS_DIR={trained.runs_dir}"
        return node(INSPECTOR, "--cli", "-q", "-e", runs_dir, sys.executable, "-m", "p2p_mcp", *arguments)

    return run


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_schemas_of_all_tools_are_portable(inspect: Inspect, era: str) -> None:
    result = inspect("--method", "tools/list", "--strict", "--protocol-era", era, "--format", "json")
    assert result.returncode == 0, result.stderr
    tools = json.loads(result.stdout)["tools"]
    assert {"create_session", "write_reward", "train_iteration", "judge_videos"} <= {tool["name"] for tool in tools}


def test_the_dashboard_is_seen_as_an_app(inspect: Inspect) -> None:
    result = inspect("--method", "tools/list", "--app-info")
    apps = [json.loads(line) for line in result.stdout.splitlines() if line.strip()]
    assert [app["toolName"] for app in apps if app.get("hasApp")] == ["show_dashboard"]


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "prompts/list"])
def test_what_else_the_server_offers_is_listed(inspect: Inspect, method: str) -> None:
    result = inspect("--method", method, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert all(json.loads(result.stdout).values())


def test_every_tool_can_be_called(node: Node, p2p_url: str, trained: Trained) -> None:
    listed = node(INSPECTOR, "--cli", "-q", "--server-url", p2p_url, "--method", "tools/list", "--format", "json")
    names = [tool["name"] for tool in json.loads(listed.stdout)["tools"]]
    arguments = _arguments(trained)
    assert set(names) == set(arguments)
    for index, name in enumerate(arguments):  # in this order: some need what others made
        era = ("legacy", "modern")[index % 2]
        call = ("--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments[name]))
        result = node(
            INSPECTOR, "--cli", "-q", "--server-url", p2p_url, "--protocol-era", era, *call, "--format", "json"
        )
        assert result.returncode == 0, (name, era, result.stdout[-2000:], result.stderr[-2000:])


def test_a_tool_answers_under_load(node: Node, p2p_url: str) -> None:
    call = ("--method", "tools/call", "--tool-name", "list_sessions")
    load = ("--load", "--load-concurrency", "4", "--load-duration", "5")
    result = node(INSPECTOR, "--cli", "-q", "--server-url", p2p_url, *call, *load, "--format", "json")
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert _errors(summary) == 0, summary


def _errors(summary: dict[str, Any]) -> int:
    return int(summary["errors"])


def _arguments(trained: Trained) -> dict[str, dict[str, Any]]:
    """What every tool is called with; it fails when a tool is missing here."""
    session = {"session_id": trained.session_id}
    return {"list_sessions": {}, "get_session": session}
