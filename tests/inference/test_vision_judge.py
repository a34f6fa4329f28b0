"""A model looks at a really trained session, through the real libraries."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from wire_formats import Reply
from wire_stub import CANARY, Fault, Step, Stub, answers, calls, files_with, says

from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import ReplyMalformed
from p2p.contracts.judgment import Verdict, hash_of
from p2p.contracts.preference import ComparedPolicy
from p2p.service.judging.by_eyes import judge_by_model
from p2p.service.judging.preferring import prefer
from p2p.service.judging.verdict import judge
from p2p.service.models.session_models import costs
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.server import build_server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pictures")]
MODELS = ("anthropic:claude-of-a-test", "gemini:gemini-of-a-test", "openai:gpt-of-a-test")
GOOD: dict[str, Any] = {
    "findings": [{"key": "calm", "state": "met", "evidence": "No shaking at 2 s."}],
    "diagnosis": "It stands, then it leans.",
    "is_what_was_meant": True,
    "score": 0.9,
}


Look = Callable[..., tuple[Workspace, Stub]]


@pytest.fixture
def look(watched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """A copy of the session whose judge is a scripted model."""
    with ExitStack() as stack:

        def start(model: str, *steps: Step) -> tuple[Workspace, Stub]:
            shutil.copytree(watched, tmp_path / "runs")
            stub = stack.enter_context(Stub(steps).serving())
            for name, value in stub.environment().items():
                monkeypatch.setenv(name, value)
            ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
            record = ws.record("watched")
            record.save_session(record.read_session().model_copy(update={"judge_model": model}))
            return ws, stub

        yield start


@pytest.mark.parametrize("model", [*MODELS[:2], pytest.param(MODELS[2], marks=pytest.mark.nightly)])
def test_a_model_looks_asks_for_more_and_all_that_it_saw_is_kept(model: str, look: Look) -> None:
    closer = calls("show_more", start_s=0.2, end_s=1.0, camera="front", path_of="pole")
    ws, stub = look(model, closer, calls("show_more", start_s=1, end_s=0.5), answers(GOOD))
    judgment = judge(ws, "watched", 1)
    seen, signed = judgment.observation, judgment.provenance
    assert judgment.passed, judgment.diagnosis
    assert seen is not None
    assert (judgment.confidence, judgment.disagreement) == (0.8, 0.1)
    assert f"{signed.provider}:{signed.model}" == model
    assert (signed.judge, signed.observer, signed.prompt_hash) == ("code+eyes", "api", hash_of(stub.seen[0].system))
    assert "met, by eyes. No shaking at 2 s." in judgment.diagnosis

    video = signed.provider == "gemini"
    assert signed.fps == (10.0 if video else None)
    assert [one.media_type for one in seen.pictures] == ["image/jpeg", *["video/mp4"] * video, "image/jpeg"]
    for one in seen.pictures:
        assert hashlib.sha256((ws.runs.path / one.path).read_bytes()).hexdigest() == one.sha256
    assert stub.seen[0].pictures == 1 + video
    assert stub.seen[1].pictures == 2 + video
    assert seen.pictures[-1].shows.endswith("front camera, 0.2 s to 1 s, path of pole")
    assert "Bodies whose path show_more can draw: cart, pole." in stub.seen[0].text
    assert "end_s must be later than start_s" in stub.seen[2].results[0]
    assert "Do not estimate" not in stub.seen[0].system
    assert "share of the time with pole_angle <= 0.2" in stub.seen[0].text

    (row,) = costs(ws, "watched").rows
    assert (row.role, row.iteration, row.calls) == ("vision_judge", 1, 3)
    assert judge_by_model(ws, "watched", 1) == judgment
    assert stub.remaining() == 0
    assert not files_with(CANARY, ws.runs.path)


def test_a_score_far_from_the_measured_one_is_looked_at_once_more(look: Look) -> None:
    ws, stub = look(MODELS[0], answers({**GOOD, "score": 0.2}), answers({**GOOD, "score": 9}))
    judgment = judge(ws, "watched", 1)
    assert judgment.observation is not None
    assert judgment.observation.scores == (0.2, 0.9)
    assert (judgment.passed, judgment.confidence) == (True, 0.8)
    assert "scored it 0.2. The measurements score it 1" in stub.seen[1].text
    assert "No shaking at 2 s." in stub.seen[1].text


def test_what_remains_apart_is_reported_with_less_confidence(look: Look) -> None:
    ws, stub = look(MODELS[0], answers({**GOOD, "score": 0.2}), answers({**GOOD, "score": 0.3}))
    judgment = judge(ws, "watched", 1)
    assert (judgment.passed, judgment.confidence, judgment.disagreement) == (False, 0.4, 0.7)
    assert "eyes score it 0.3, code 1, also after a second look" in judgment.diagnosis
    assert len(stub.seen) == 2


@pytest.mark.nightly
def test_more_than_three_pictures_are_not_drawn(look: Look) -> None:
    asked = [calls("show_more", start_s=0.1 * number, end_s=2.0) for number in range(1, 4)]
    ws, stub = look(MODELS[0], *asked, answers(GOOD))
    judgment = judge(ws, "watched", 1)
    assert judgment.observation is not None
    assert len(judgment.observation.pictures) == 4
    assert "Left: 0." in stub.seen[3].results[0]


@pytest.mark.parametrize("useless", [Fault.REFUSAL, Fault.TRUNCATED, says("I would rather not.")])
def test_an_answer_that_cannot_be_used_is_no_verdict_and_never_a_score_of_0(useless: Step, look: Look) -> None:
    ws, _ = look(MODELS[0], *[useless] * 4)
    judgment = judge(ws, "watched", 1)
    assert (judgment.verdict, judgment.intent_score) == (Verdict.NO_VERDICT, None)
    assert judgment.provenance.fallback.startswith("No eyes took part: ")
    assert judgment.provenance.fallback in judgment.diagnosis


def test_a_caller_is_told_why_there_is_no_answer_and_nothing_is_kept(look: Look) -> None:
    ws, _ = look(MODELS[0], *[says("no")] * 4)
    with pytest.raises(ReplyMalformed, match="no JSON object"):
        judge_by_model(ws, "watched", 1)
    assert ws.record("watched").iteration(1).read_judgment() is None


def test_what_only_eyes_can_judge_and_they_cannot_tell_has_no_verdict(look: Look) -> None:
    unclear = {**GOOD, "findings": [{"key": "calm", "state": "Cannot tell", "evidence": "It is too small."}]}
    ws, _ = look(MODELS[2], answers(unclear))
    judgment = judge(ws, "watched", 1)
    assert judgment.verdict is Verdict.NO_VERDICT
    assert "cannot tell from the pictures" in judgment.diagnosis


def test_a_video_that_is_refused_is_left_out_and_that_is_said(look: Look) -> None:
    def refuse(_: object) -> Reply:
        raise ValueError("no videos")  # the stub's way to HTTP 400

    ws, stub = look(MODELS[1], refuse, answers(GOOD))
    judgment = judge(ws, "watched", 1)
    assert judgment.passed
    assert judgment.provenance.fps is None
    assert judgment.provenance.fallback.startswith("The video was refused, and pictures alone were sent")
    assert [seen.pictures for seen in stub.seen] == [2, 1]


def test_without_a_model_a_caller_is_told_what_to_do(look: Look) -> None:
    ws, _ = look("")
    with pytest.raises(InvalidInput, match="choose_judge_model"):
        judge_by_model(ws, "watched", 1)


ABOVE = {"above": "It stands.", "below": "It leans.", "better": "upper"}


def _checkpoints(ws: Workspace) -> tuple[ComparedPolicy, ComparedPolicy]:
    run = ws.record("watched").iteration(1).runs()[0]
    first, *_, last = (checkpoint.step for checkpoint in run.checkpoints())
    return ComparedPolicy(iteration=1, checkpoint=first), ComparedPolicy(iteration=1, checkpoint=last)


@pytest.mark.parametrize("model", [MODELS[0], *(pytest.param(name, marks=pytest.mark.nightly) for name in MODELS[1:])])
def test_of_two_the_one_that_is_better_in_both_orders_is_better(model: str, look: Look) -> None:
    ws, stub = look(model, answers(ABOVE), answers({**ABOVE, "better": "below"}))
    first, last = _checkpoints(ws)
    found = prefer(ws, "watched", first, last)
    assert (found.better, found.agreed, found.answers) == (first, True, ("first", "first"))
    assert found.pictures[0].sha256 != found.pictures[1].sha256
    assert [seen.pictures for seen in stub.seen] == [1, 1]
    assert found.reasons == ("First: It stands. Second: It leans.", "First: It leans. Second: It stands.")
    assert "step" not in stub.seen[0].text.split("above, below, or same")[0].lower().replace("steps", "")
    assert prefer(ws, "watched", first, last) == found
    assert stub.remaining() == 0


@pytest.mark.nightly
def test_an_answer_that_depends_on_the_order_is_a_tie(look: Look) -> None:
    ws, _ = look(MODELS[0], answers(ABOVE), answers(ABOVE))
    found = prefer(ws, "watched", *_checkpoints(ws))
    assert (found.better, found.agreed, found.answers) == (None, False, ("first", "second"))


def test_a_checkpoint_that_is_not_there_is_named_with_those_that_are(look: Look) -> None:
    ws, _ = look(MODELS[0])
    first, last = _checkpoints(ws)
    with pytest.raises(InvalidInput, match=f"It has: .*{last.checkpoint}"):
        prefer(ws, "watched", first, ComparedPolicy(iteration=1, checkpoint=7))
    with pytest.raises(InvalidInput, match="is compared with itself"):
        prefer(ws, "watched", first, first)


@pytest.mark.anyio
async def test_over_mcp_a_model_is_asked_and_the_same_judgment_comes_back_again(look: Look) -> None:
    ws, stub = look(MODELS[0], answers(GOOD))
    async with Client(build_server(ws)) as client:
        first = (await client.call_tool("judge_videos", {"session_id": "watched", "mode": "api"})).structured_content
        again = (await client.call_tool("judge_videos", {"session_id": "watched", "mode": "auto"})).structured_content
    assert first is not None
    assert (first["judged_by"], first["judgment"]["verdict"]) == ("api", "passed")
    assert first["judgment"]["confidence"] == 0.8
    assert first["judgment"]["provenance"]["model"] == "claude-of-a-test"
    assert again == first
    assert stub.remaining() == 0


@pytest.mark.anyio
async def test_what_the_calling_agent_saw_is_signed_with_the_rubric_it_was_shown(look: Look) -> None:
    ws, _ = look("")
    seen = {"is_what_was_meant": True, "score": 0.9, "diagnosis": "It stands.", "criteria": {"calm": True}}
    async with Client(build_server(ws)) as client:
        shown = (await client.call_tool("judge_videos", {"session_id": "watched"})).structured_content
        said = (await client.call_tool("submit_judgment", {"session_id": "watched", **seen})).structured_content
    assert shown is not None
    assert said is not None
    assert said["judgment"]["provenance"]["prompt_hash"] == hash_of(shown["rubric"])
