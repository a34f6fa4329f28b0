"""Every tool on a session that was really trained, and the bytes of what it answers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ImageContent,
    TextContent,
)
from pole import CALMER, GOOD, SESSION, STEPS
from tool_caller import Caller, Connect

from p2p.service import Service
from p2p.settings import Settings
from p2p_mcp.server import build_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
Calls = Callable[[Client], Caller]
SEEN = {"is_what_was_meant": True, "score": 0.9, "diagnosis": "It stands still.", "criteria": {"calm": True}}
PICTURE_BYTES = 700_000


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A runs directory with one session, whose first iteration is trained and not judged."""
    runs_dir = tmp_path_factory.mktemp("trained") / "runs"
    return runs_dir, anyio.run(_train, Service(Settings(runs_dir=runs_dir)))


async def _train(service: Service) -> str:
    async with Client(build_server(service)) as client:
        call = Caller(client)
        session_id: str = (await call("create_session", **SESSION))["session_id"]
        await call("write_reward", session_id=session_id, source=GOOD)
        await trained_by(call, session_id)
    return session_id


async def trained_by(call: Caller, session_id: str, **arguments: Any) -> dict[str, Any]:
    """The job of a training that has ended well."""
    job = await call("train_iteration", session_id=session_id, timesteps=STEPS, **arguments)
    with anyio.fail_after(180):
        while job["poll_after_s"] is not None:
            assert job["next_step"].startswith("get_job(")
            job = await call("get_job", job_id=job["job_id"], wait_seconds=45)
    assert job["state"] == "completed"
    assert job["step"] == job["total"] == STEPS
    return job


@pytest.fixture
def service(trained: tuple[Path, str], tmp_path: Path) -> Service:
    """A copy for each test: judging changes a session."""
    shutil.copytree(trained[0], tmp_path / "runs")
    return Service(Settings(runs_dir=tmp_path / "runs"))


@pytest.fixture
def session_id(trained: tuple[Path, str]) -> str:
    return trained[1]


def _pictures(result: CallToolResult) -> list[ImageContent]:
    return [block for block in result.content if isinstance(block, ImageContent)]


@pytest.mark.parametrize("view", ["progress", "curve", "terms", "dynamics"])
async def test_metrics_are_few_numbers_and_a_plot(
    connect: Connect, service: Service, caller: Calls, session_id: str, view: str
) -> None:
    async with connect(service) as client:
        result = await caller(client).result("get_metrics", session_id=session_id, view=view, points=5, plot=True)
    shown: dict[str, Any] = result.structured_content or {}
    assert shown["next_step"].startswith("judge_videos")
    assert all(len(curve["steps"]) <= 5 for curve in shown["curves"])
    assert len(json.dumps(shown)) < 8_000
    assert len(_pictures(result)) == (view != "progress")
    assert bool(shown["plot"]) == (view != "progress")


async def test_whoever_calls_judges_with_the_pictures_and_the_rubric(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    async with connect(service) as client:
        call = caller(client)
        result = await call.result("judge_videos", session_id=session_id, detail="frames", max_frames=3)
        evidence: dict[str, Any] = result.structured_content or {}
        assert (evidence["judged_by"], evidence["judgment"]) == ("calling_agent", None)
        assert evidence["only_eyes_can_judge"] == ["calm"]
        assert '"calm": true|false' in evidence["next_step"]
        assert evidence["frames"][0]["event"] == "start"
        assert len(_pictures(result)) == len(evidence["pictures"]) == 4
        assert len(_pictures(await call.result("judge_videos", session_id=session_id))) == 1
        assert _pictures(await call.result("judge_videos", session_id=session_id, detail="none")) == []
        assert "No provider is configured" in await call.error("judge_videos", session_id=session_id, mode="api")
        asked = await call("judge_videos", session_id=session_id, mode="client_sampling")
        assert "lends no model" in asked["note"]


async def test_a_judgment_that_cannot_be_taken_says_what_is_missing(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    async with connect(service) as client:
        call = caller(client)
        seen = {"session_id": session_id, **SEEN}
        assert "calm: true or false" in await call.error("submit_judgment", **{**seen, "criteria": {}})
        assert "Unknown criterion 'cam'" in await call.error(
            "submit_judgment", **{**seen, "criteria": {"calm": True, "cam": True}}
        )
        assert "score: Input should be less than" in await call.error("submit_judgment", **{**seen, "score": 7})
        assert "failure_tags.0" in await call.error("submit_judgment", **{**seen, "failure_tags": ["Not Good"]})
        assert "judge_videos" in await call.error("revise_reward", session_id=session_id)
        assert "Judge it first" in await call.error("write_reward", session_id=session_id, source=GOOD)


async def test_a_judgment_by_eyes_and_code_ends_a_session_that_passes(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    async with connect(service) as client:
        call = caller(client)
        passed = await call("submit_judgment", session_id=session_id, model="a model", **SEEN)
        assert passed["passed"]
        assert passed["judgment"]["provenance"]["observer"] == "calling_agent"
        assert passed["judgment"]["provenance"]["model"] == "a model"
        assert (await call("get_session", session_id=session_id))["status"] == "passed"
        assert (await call("judge_videos", session_id=session_id))["judgment"]["verdict"] == "passed"
        assert "has passed" in await call.error("write_reward", session_id=session_id, source=GOOD)
        exported = await call("export_policy", session_id=session_id, formats=["onnx"])
        assert any(path.endswith("policy.onnx") for path in exported["files"])


class Model:
    """The model that a client lends."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = [*replies], list[CreateMessageRequestParams]()

    async def __call__(self, _context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        self.asked.append(params)
        text = TextContent(type="text", text=self.replies.pop(0))
        return CreateMessageResult(role="assistant", content=text, model="lent-model")


@pytest.mark.parametrize(
    "first",
    [None, "I see a pole.", '{"score": 2}', json.dumps({**SEEN, "criteria": {}}), json.dumps({**SEEN, "surprise": 1})],
)
async def test_the_model_of_a_client_judges_and_may_correct_itself_once(
    connect: Connect, service: Service, caller: Calls, session_id: str, first: str | None
) -> None:
    good = f"Here it is:\n```json\n{json.dumps({**SEEN, 'observer': 'api'})}\n```"
    model = Model(*([] if first is None else [first]), good)
    async with connect(service, sampling_callback=model) as client:
        result = await caller(client).result("judge_videos", session_id=session_id)
    assert model.replies == []
    assert isinstance(model.asked[0].messages[0].content, list)
    assert {block.type for block in model.asked[0].messages[0].content} == {"image", "text"}
    shown: dict[str, Any] = result.structured_content or {}
    assert shown["judged_by"] == "client_sampling"
    assert shown["judgment"]["verdict"] == "passed"
    assert shown["judgment"]["provenance"]["model"] == "lent-model"
    assert _pictures(result) == []


async def test_a_model_that_does_not_keep_to_the_form_leaves_it_to_the_caller(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    model = Model("no", "still no")
    async with connect(service, sampling_callback=model) as client:
        result = await caller(client).result("judge_videos", session_id=session_id)
    shown: dict[str, Any] = result.structured_content or {}
    assert (shown["judged_by"], shown["judgment"]) == ("calling_agent", None)
    assert "asked 2 times" in shown["note"]
    assert len(_pictures(result)) == 1


async def test_what_is_shown_on_request(connect: Connect, service: Service, caller: Calls, session_id: str) -> None:
    async with connect(service) as client:
        result = await caller(client).result("view_rollout", session_id=session_id, camera="side", frames=2)
        shown: dict[str, Any] = result.structured_content or {}
        assert len(_pictures(result)) == 1 + len(shown["frame_files"])
        assert (service.runs.path / shown["sheet"]["path"]).is_file()
        words = await caller(client).error("view_rollout", session_id=session_id, iteration=1, compare_with=1)
        assert "itself" in words


async def test_what_an_iteration_left_behind_can_be_read(connect: Connect, service: Service, session_id: str) -> None:
    root = f"p2p://sessions/{session_id}/iterations/1"
    async with connect(service) as client:
        listed = {str(one.uri): one for one in (await client.list_resources()).resources}
        kinds = {uri.removeprefix(root): one.mime_type for uri, one in listed.items() if uri.startswith(root)}
        assert kinds["/videos/report_median.mp4"] == "video/mp4"
        assert kinds["/frames/contact_sheet.jpg"] == "image/jpeg"
        for end, mime_type in kinds.items():
            contents = (await client.read_resource(root + end)).contents[0]
            assert contents.mime_type == mime_type, end
            if isinstance(contents, BlobResourceContents):
                assert len(contents.blob) > 1000
        csv = (await client.read_resource(f"{root}/metrics.csv")).contents[0]
        assert getattr(csv, "text", "").startswith("run,type,global_step,")


async def test_the_result_of_every_tool_fits_into_a_client(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    """`Caller.result` holds every result against 1 MiB; here the pictures are held against their own budget."""
    most: dict[str, dict[str, Any]] = {
        "get_metrics": {"view": "dynamics", "points": 50, "plot": True},
        "judge_videos": {"detail": "frames", "max_frames": 12},
        "view_rollout": {"frames": 12, "width": 800},
        "get_session": {},
        "show_dashboard": {},
        "steer_session": {"wish": "x" * 300},
    }
    async with connect(service) as client:
        for tool, arguments in most.items():
            result = await caller(client).result(tool, session_id=session_id, **arguments)
            size = sum(len(picture.data) * 3 // 4 for picture in _pictures(result))
            assert size <= PICTURE_BYTES, f"{tool}: {size} bytes of pictures"
            assert len(json.dumps(result.structured_content)) < 40_000, tool


async def test_the_next_reward_is_written_with_what_was_seen_before(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    async with connect(service) as client:
        call = caller(client)
        bad = {**SEEN, "is_what_was_meant": False, "diagnosis": "It shakes.", "failure_tags": ["shakes"]}
        assert not (await call("submit_judgment", session_id=session_id, **bad))["passed"]
        await call("steer_session", session_id=session_id, wish="move less")
        brief = (await call("revise_reward", session_id=session_id))["brief"]
        assert brief["wishes"] == ["move less"]
        assert "shakes" in brief["failure_tags"]
        assert brief["source"] == GOOD
        wrong = await call("revise_reward", session_id=session_id, source="x = (", reasoning="calmer")
        assert not wrong["reward"]["accepted"]
        done = await call("revise_reward", session_id=session_id, source=CALMER, reasoning="calmer", lesson="It shook.")
        assert done["reward"]["accepted"]
        assert done["reward"]["iteration"] == 2
        assert done["next_step"].startswith("train_iteration")


async def test_the_built_in_author_writes_the_next_reward_when_asked(
    connect: Connect, service: Service, caller: Calls, session_id: str
) -> None:
    async with connect(service) as client:
        call = caller(client)
        bad = {**SEEN, "is_what_was_meant": False, "criteria": {"calm": False}}
        await call("submit_judgment", session_id=session_id, **bad)
        done = await call("revise_reward", session_id=session_id, built_in_author=True)
    assert done["reward"]["accepted"]
    assert done["reward"]["iteration"] == 2


async def test_a_loop_runs_by_itself_and_can_be_ended(service: Service, connect: Connect, caller: Calls) -> None:
    long = {"total_timesteps": 2_000_000, "num_evals": 2, "n_eval_episodes": 3}
    arguments = {"intent": "keep the pole balanced", "environment": "InvertedPendulum-v5", "config": long}
    async with connect(service) as client:
        call = caller(client)
        loop = (await call("create_session", **arguments))["session_id"]
        job = await call("run_session", session_id=loop, idempotency_key="one")
        assert (await call("run_session", session_id=loop, idempotency_key="one"))["job_id"] == job["job_id"]
        assert (await call("get_session", session_id=loop))["next_step"].startswith("get_job(")
        ended = await call("cancel_job", job_id=job["job_id"])
        assert ended["state"] == "cancelled"
        assert ended["next_step"].startswith("run_session")
        assert (await call("cancel_job", job_id=job["job_id"]))["state"] == "cancelled"
