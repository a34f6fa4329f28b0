import re
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp.client import Client
from mcp.types import CallToolResult, ImageContent, TextResourceContents
from shared_sessions import BALANCE, passed_session

from p2p.contracts.session import NewSession
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.apps.data import Dashboard
from p2p_mcp.apps.page import DASHBOARD
from p2p_mcp.server import build_server

pytestmark = pytest.mark.anyio
TINY = {"total_timesteps": 4_000, "num_evals": 2, "n_eval_episodes": 3}
REQUEST = NewSession(prompt=BALANCE, env_id="InvertedPendulum-v5", n_report_rollouts=10, config=TINY, max_iterations=1)

Connect = Callable[[Workspace], AbstractAsyncContextManager[Client]]


@pytest.fixture(params=["auto", "legacy"])
def connect(request: pytest.FixtureRequest) -> Connect:
    mode: Literal["auto", "legacy"] = request.param
    return lambda ws: Client(build_server(ws), mode=mode)


def _dashboard(result: CallToolResult) -> Dashboard:
    assert not result.is_error, result.content
    return Dashboard.model_validate(result.structured_content)


def _images(result: CallToolResult) -> list[ImageContent]:
    return [block for block in result.content if isinstance(block, ImageContent)]


async def test_hosts_find_the_page_under_either_spelling(connect: Connect, ws: Workspace) -> None:
    async with connect(ws) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        meta: dict[str, Any] = tools["show_dashboard"].meta or {}
        assert meta["ui"]["resourceUri"] == meta["ui/resourceUri"] == DASHBOARD
        assert tools["read_dashboard"].meta == {"ui": {"visibility": ["app"]}}
        assert DASHBOARD in {resource.uri for resource in (await client.list_resources()).resources}
        page = (await client.read_resource(DASHBOARD)).contents[0]
    assert isinstance(page, TextResourceContents)
    assert page.mime_type == "text/html;profile=mcp-app"
    assert '"read_dashboard"' in page.text


async def test_the_page_loads_nothing_from_anywhere_and_writes_no_markup(connect: Connect, ws: Workspace) -> None:
    async with connect(ws) as client:
        page = (await client.read_resource(DASHBOARD)).contents[0]
    assert isinstance(page, TextResourceContents)
    assert set(re.findall(r"https?://[^\s\"'`]+", page.text)) == {
        "http://www.w3.org/2000/svg"
    }  # a name, not an address
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|<link|\bsrc=|@import", page.text
    )


async def test_before_anything_is_trained_the_criteria_are_shown(connect: Connect, ws: Workspace) -> None:
    session_id = create_session(ws, REQUEST).session_id
    async with connect(ws) as client:
        shown = _dashboard(await client.call_tool("show_dashboard", {"session_id": session_id}))
    assert shown.sentence == BALANCE
    assert (shown.iteration, shown.iterations, shown.progress, shown.verdict) == (0, (), None, None)
    assert (shown.finished, shown.live, shown.pictures) == (False, False, 0)
    assert shown.criteria
    assert all(line.target for line in shown.criteria)
    assert "write_reward" in shown.next_step


async def test_an_unknown_session_or_iteration_is_named(connect: Connect, ws: Workspace) -> None:
    session_id = create_session(ws, REQUEST).session_id
    async with connect(ws) as client:
        for arguments in ({"session_id": "nothing"}, {"session_id": session_id, "iteration": 7}):
            for tool in ("show_dashboard", "read_dashboard"):
                result = await client.call_tool(tool, arguments)
                assert result.is_error


@pytest.mark.slow
@pytest.mark.usefixtures("pictures")
async def test_a_trained_session_shows_curves_verdict_and_frames(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    ws = Workspace(Settings(runs_dir=shutil.copytree(passed_session(tmp_path_factory), tmp_path / "trained")))
    (listed,) = list_sessions(ws)
    session_id = listed.session.session_id
    view = view_session(ws, session_id)
    async with Client(build_server(ws)) as client:
        result = await client.call_tool("show_dashboard", {"session_id": session_id})
        shown = _dashboard(result)
        assert {curve.run_id for curve in shown.returns} == {run.run_id for run in view.runs}
        assert shown.terms
        assert all(len(curve.steps) == len(curve.values) > 0 for curve in shown.returns + shown.terms)
        assert shown.finished
        assert shown.progress == 1
        assert shown.verdict == view.history[0].verdict
        assert [line.met is not None for line in shown.criteria] == [True] * len(view.criteria)
        assert len(_images(result)) == shown.pictures == 1
        plain = await client.call_tool("read_dashboard", {"session_id": session_id, "iteration": 1})
        assert _dashboard(plain) == shown
        assert _images(plain) == []
        assert len(shown.model_dump_json()) < 15_000  # it is asked for every two seconds
        full = await client.call_tool("read_dashboard", {"session_id": session_id, "pictures": True})
        assert _images(full) == _images(result)
