"""Every tool on a session that was really trained, and the bytes of what it answers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

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
from pole import CALMER, GOOD, train
from shared_sessions import made_once
from tool_caller import Caller, Connect

from p2p.contracts.judgment import Decomposition, JudgeCode, JudgeFunction, hash_of
from p2p.contracts.preference import Compared, ComparedPolicy
from p2p.service.judging.preferring import pair_to_compare, submit_preference
from p2p.service.progress.listing import list_sessions
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.server import build_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("pictures")]
Calls = Callable[[Client], Caller]
SEEN = {"is_what_was_meant": True, "score": 0.9, "diagnosis": "It stands still.", "criteria": {"calm": True}}
PICTURE_BYTES = 700_000
BOTH_ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"], indirect=True)


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.nightly)])
def mode(request: pytest.FixtureRequest) -> Literal["auto", "legacy"]:
    """Both eras at every change where errors, pictures, files or a lent model travel; else the older one at night."""
    chosen: Literal["auto", "legacy"] = request.param
    return chosen


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A runs directory with one session, whose first iteration is trained and not judged."""
    runs_dir = made_once(tmp_path_factory, "tools_after_training", lambda place: anyio.run(train, place))
    (view,) = list_sessions(Workspace(Settings(runs_dir=runs_dir)))
    return runs_dir, view.session.session_id


@pytest.fixture
def ws(trained: tuple[Path, str], tmp_path: Path) -> Workspace:
    """A copy for each test: judging changes a session."""
    shutil.copytree(trained[0], tmp_path / "runs")
    return Workspace(Settings(runs_dir=tmp_path / "runs"))


@pytest.fixture
def session_id(trained: tuple[Path, str]) -> str:
    return trained[1]


def _pictures(result: CallToolResult) -> list[ImageContent]:
    return [block for block in result.content if isinstance(block, ImageContent)]


@pytest.mark.parametrize(
    "view", ["progress", "curve", *(pytest.param(view, marks=pytest.mark.nightly) for view in ("terms", "dynamics"))]
)
async def test_metrics_are_few_numbers_and_a_plot(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str, view: str
) -> None:
    async with connect(ws) as client:
        result = await caller(client).result("get_metrics", session_id=session_id, view=view, points=5, plot=True)
    shown: dict[str, Any] = result.structured_content or {}
    assert shown["next_step"].startswith("judge_videos")
    assert all(len(curve["steps"]) <= 5 for curve in shown.get("curves", ()))
    assert len(json.dumps(shown)) < 8_000
    assert len(_pictures(result)) == (view != "progress")
    assert bool(shown["plot"]) == (view != "progress")


@BOTH_ERAS
async def test_whoever_calls_judges_with_the_pictures_and_the_rubric(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    async with connect(ws) as client:
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


@BOTH_ERAS
async def test_a_judgment_that_cannot_be_taken_says_what_is_missing(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    async with connect(ws) as client:
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
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    async with connect(ws) as client:
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
    connect: Connect, ws: Workspace, caller: Calls, session_id: str, first: str | None
) -> None:
    good = f"Here it is:\n```json\n{json.dumps({**SEEN, 'observer': 'api'})}\n```"
    model = Model(*([] if first is None else [first]), good)
    async with connect(ws, sampling_callback=model) as client:
        result = await caller(client).result("judge_videos", session_id=session_id)
    assert model.replies == []
    assert isinstance(model.asked[0].messages[0].content, list)
    assert {block.type for block in model.asked[0].messages[0].content} == {"image", "text"}
    shown: dict[str, Any] = result.structured_content or {}
    assert shown["judged_by"] == "client_sampling"
    assert shown["judgment"]["verdict"] == "passed"
    assert shown["judgment"]["provenance"]["model"] == "lent-model"
    assert _pictures(result) == []


@BOTH_ERAS
async def test_a_model_that_does_not_keep_to_the_form_leaves_it_to_the_caller(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    model = Model("no", "still no")
    async with connect(ws, sampling_callback=model) as client:
        result = await caller(client).result("judge_videos", session_id=session_id)
    shown: dict[str, Any] = result.structured_content or {}
    assert (shown["judged_by"], shown["judgment"]) == ("calling_agent", None)
    assert "asked 2 times" in shown["note"]
    assert len(_pictures(result)) == 1


def _checkpoints(ws: Workspace, session_id: str) -> dict[str, int]:
    """Two policies of the only iteration, as arguments of compare_videos."""
    steps = [checkpoint.step for checkpoint in ws.record(session_id).iteration(1).runs()[0].checkpoints()]
    return {"first": 1, "second": 1, "first_checkpoint": steps[0], "second_checkpoint": steps[-1]}


def _places(ws: Workspace, session_id: str, pair: dict[str, int]) -> list[str]:
    """Which place the first of two has in each picture that a caller is shown, told from the files alone."""
    one, two = (ComparedPolicy(iteration=1, checkpoint=pair[f"{name}_checkpoint"]) for name in ("first", "second"))
    shown = pair_to_compare(ws, session_id, (one, two)).pictures
    turned = submit_preference(ws, session_id, (one, two), (_better("above"), _better("below")))
    return ["above", "below"] if turned.pictures[0].path == shown[0] else ["below", "above"]


def _better(place: str) -> Compared:
    return Compared.model_validate({"above": "It leans.", "below": "It falls.", "better": place})


async def test_two_checkpoints_are_compared_by_the_caller_in_both_orders(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    pair = _checkpoints(ws, session_id)
    ask = {"session_id": session_id, **pair}
    async with connect(ws) as client:
        call = caller(client)
        result = await call.result("compare_videos", **ask)
        shown: dict[str, Any] = result.structured_content or {}
        assert len(_pictures(result)) == len(set(shown["pair"]["pictures"])) == 2
        assert shown["preference"] is None
        assert "above" in shown["pair"]["rubric"]
        for place in ("first", "second"):  # nothing tells which of them is above
            assert str(pair[f"{place}_checkpoint"]) not in "".join(shown["pair"]["pictures"] + shown["pair"]["notes"])
        looks = [_better(place).model_dump() for place in _places(ws, session_id, pair)]
        found = (await call("compare_videos", **ask, looks=looks, model="a model"))["preference"]
        assert (found["better"], found["agreed"]) == (found["first"], True)
        assert (found["observer"], found["model"]) == ("calling_agent", "a model")
        assert found["prompt_hash"] == hash_of(shown["pair"]["rubric"])
        assert sorted(picture["path"] for picture in found["pictures"]) == sorted(shown["pair"]["pictures"])
        always_above = [_better("above").model_dump()] * 2
        tie = await call("compare_videos", **ask, looks=always_above)
        assert (tie["preference"]["better"], tie["preference"]["agreed"]) == (None, False)
        assert "depended on which was shown above" in tie["next_step"]
        kept = ws.record(session_id).read_preferences()
        assert [one.model for one in kept][-2:] == ["a model", None]
        assert "No provider is configured" in await call.error("compare_videos", **ask, mode="api")
        assert "is compared with itself" in await call.error("compare_videos", session_id=session_id, first=1, second=1)
        assert "has no checkpoint 7" in await call.error("compare_videos", **{**ask, "first_checkpoint": 7})


@pytest.mark.nightly
async def test_the_model_of_a_client_compares_each_picture_by_itself(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    ask = {"session_id": session_id, **_checkpoints(ws, session_id)}
    model = Model(*[_better(place).model_dump_json() for place in ("above", "same")], "I see two poles.", "{}")
    async with connect(ws, sampling_callback=model) as client:
        found = (await caller(client)("compare_videos", **ask))["preference"]
        assert (found["observer"], found["model"]) == ("client_sampling", "lent-model")
        assert (found["better"], found["agreed"]) == (None, False)
        assert len({str(asked.messages[0].content) for asked in model.asked}) == 2
        result = await caller(client).result("compare_videos", **ask)
        unread: dict[str, Any] = result.structured_content or {}
        assert "no JSON object" in unread["note"]
        assert len(_pictures(result)) == 2
    assert model.replies == []


LATE = """
def judge(features):
    if len(features["time"]) > 40:
        raise ValueError("too long")
    return {"score": 1.0}
"""


async def test_judge_code_that_fails_on_rollouts_counts_nothing_and_can_be_mended_even_then(
    ws: Workspace, session_id: str
) -> None:
    plan = Decomposition(measurable=True, reason="handed in before there were rollouts")
    late = JudgeFunction(key="calm", decomposition=plan, source=LATE, written_by="calling_agent")
    ws.record(session_id).save_judge_code(JudgeCode(written_by="calling_agent", functions=(late,)))
    async with Client(build_server(ws)) as client:
        call = Caller(client)
        shown = await call("judge_videos", session_id=session_id)
        (found,) = shown["code"]["by_written_code"]
        assert found.get("problem", "").startswith("line 4: the function raised ValueError: too long.")
        assert (shown["code"]["verdict"], "scores" in found, "worst" in found) == ("no_verdict", False, False)
        assert shown["only_eyes_can_judge"] == ["calm"]
        assert shown["next_step"].startswith("write_judge_code mends calm, or decide it by eye.")
        bad = {**SEEN, "is_what_was_meant": False}
        assert (await call("submit_judgment", session_id=session_id, **bad))["judgment"]["verdict"] == "failed"
        mended = await call("write_judge_code", session_id=session_id, criterion="calm", source=CALM)
        assert mended["report"]["accepted"]
        [found] = (await call("judge_videos", session_id=session_id))["code"]["by_written_code"]
        assert "problem" not in found


CALM = """
def judge(features):
    speed = float(np.mean(features["joint_speed"]))
    return {"score": float(np.clip(100.0 / (1.0 + speed), 0.0, 1.0)), "evidence": f"mean speed {speed:.2f} rad/s"}
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (CALM.replace("1.0 + speed", "0"), ["line 4", "ZeroDivisionError", "Guard the divisor"]),
        (CALM.replace("joint_speed", "speed"), ["line 3", "KeyError", "the rules list their names"]),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)  # their words are tested where they are made
            for each in (
                ("import os\n" + CALM, ["line 1", "imports 'os'", "It may import"]),
                (CALM.replace("speed =", "open('x') or"), ["line 3", "No files can be read"]),
                ("def score(features):\n    return 1\n", ["'judge' is not defined", "Define judge(features)"]),
                ("def judge(features):\n    return 1\n", ["expected a dict", 'Return {"score"']),
            )
        ),
    ],
)
async def test_judge_code_that_cannot_be_used_is_refused_with_line_reason_and_fix(
    ws: Workspace, session_id: str, source: str, told: list[str]
) -> None:
    async with Client(build_server(ws)) as client:
        answer = await Caller(client)("write_judge_code", session_id=session_id, criterion="calm", source=source)
        assert not answer["report"]["accepted"]
        assert all(words in answer["report"]["errors"][0] for words in told), answer["report"]["errors"]
        shown = await Caller(client)("judge_videos", session_id=session_id, detail="none")
        assert shown["only_eyes_can_judge"] == ["calm"], "nothing is judged with it"


async def test_judge_code_of_the_caller_measures_with_evidence_and_is_signed(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    write = {"session_id": session_id, "criterion": "calm", "source": CALM}
    async with connect(ws) as client:
        call = caller(client)
        task = (await call("write_judge_code", session_id=session_id))["task"]
        assert [one["key"] for one in task["to_measure"]] == ["calm"]
        assert "`joint_speed` [rad/s]" in task["rules"]
        assert "Unknown criterion 'cam'" in await call.error("write_judge_code", **{**write, "criterion": "cam"})
        assert "by its predicate" in await call.error("write_judge_code", **{**write, "criterion": "upright"})
        done = await call("write_judge_code", **write, reasoning="fast joints shake", model="a model")
        assert (done["report"]["accepted"], done["report"]["errors"]) == (True, [])
        code = (await call("judge_videos", session_id=session_id))["code"]
        (found,) = code["by_written_code"]
        assert (found["key"], found["written_by"], "problem" in found) == ("calm", "calling_agent a model", False)
        assert len(found["scores"]) == code["n_rollouts"]
        assert found["worst"]["evidence"].startswith("mean speed ")
        assert found["code_hash"] == done["report"]["code_hash"]
        assert found["code_hash"] in code["provenance"]["code_hash"]
        assert [one.get("by_eyes", False) for one in code["criteria"]] == [False, False]
        judged = await call("submit_judgment", **{**SEEN, "session_id": session_id, "is_what_was_meant": False})
        assert judged["judgment"]["by_written_code"] == code["by_written_code"]
        assert "A judge function that works is not replaced" in await call.error("write_judge_code", **write)


async def test_what_is_shown_on_request(connect: Connect, ws: Workspace, caller: Calls, session_id: str) -> None:
    async with connect(ws) as client:
        result = await caller(client).result("view_rollout", session_id=session_id, camera="side", frames=2)
        shown: dict[str, Any] = result.structured_content or {}
        assert len(_pictures(result)) == 1 + len(shown["frame_files"])
        assert (ws.runs.path / shown["sheet"]["path"]).is_file()
        path = await caller(client)("view_rollout", session_id=session_id, camera="side", path_of="pole")
        assert "purple: the path of pole" in path["note"]
        assert path["sheet"] != shown["sheet"]
        words = await caller(client).error("view_rollout", session_id=session_id, path_of="tail")
        assert "Unknown body 'tail'. Known: cart, pole" in words
        words = await caller(client).error("view_rollout", session_id=session_id, iteration=1, compare_with=1)
        assert "itself" in words


@BOTH_ERAS
async def test_what_an_iteration_left_behind_can_be_read(connect: Connect, ws: Workspace, session_id: str) -> None:
    root = f"p2p://sessions/{session_id}/iterations/1"
    async with connect(ws) as client:
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
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
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
    async with connect(ws) as client:
        for tool, arguments in most.items():
            result = await caller(client).result(tool, session_id=session_id, **arguments)
            size = sum(len(picture.data) * 3 // 4 for picture in _pictures(result))
            assert size <= PICTURE_BYTES, f"{tool}: {size} bytes of pictures"
            assert len(json.dumps(result.structured_content)) < 40_000, tool


async def test_the_next_reward_is_written_with_what_was_seen_before(
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    async with connect(ws) as client:
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
    connect: Connect, ws: Workspace, caller: Calls, session_id: str
) -> None:
    async with connect(ws) as client:
        call = caller(client)
        bad = {**SEEN, "is_what_was_meant": False, "criteria": {"calm": False}}
        await call("submit_judgment", session_id=session_id, **bad)
        done = await call("revise_reward", session_id=session_id, built_in_author=True)
    assert done["reward"]["accepted"]
    assert done["reward"]["iteration"] == 2


async def test_a_loop_runs_by_itself_and_can_be_ended(ws: Workspace, connect: Connect, caller: Calls) -> None:
    long = {"total_timesteps": 2_000_000, "num_evals": 2, "n_eval_episodes": 3}
    arguments = {"intent": "keep the pole balanced", "environment": "InvertedPendulum-v5", "config": long}
    async with connect(ws) as client:
        call = caller(client)
        loop = (await call("create_session", **arguments))["session_id"]
        job = await call("run_session", session_id=loop, idempotency_key="one")
        assert (await call("run_session", session_id=loop, idempotency_key="one"))["job_id"] == job["job_id"]
        assert (await call("get_session", session_id=loop))["next_step"].startswith("get_job(")
        ended = await call("cancel_job", job_id=job["job_id"])
        assert ended["state"] == "cancelled"
        assert ended["next_step"].startswith("run_session")
        assert (await call("cancel_job", job_id=job["job_id"]))["state"] == "cancelled"
