"""A model writes the code that one criterion is judged by; it runs in the worker alone."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from wire_stub import Step, Stub, answers

from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Verdict
from p2p.contracts.session import NewSession
from p2p.service.judging.by_code import rejudge
from p2p.service.judging.caller_code import judge_code_task, submit_judge_code
from p2p.service.judging.caller_judgment import judge_evidence
from p2p.service.judging.judge_code import write_judge_code
from p2p.service.judging.verdict import judge
from p2p.service.models.session_models import costs
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

pytestmark = pytest.mark.slow
PLAN = {
    "measurable": True,
    "reason": "Shaking is a fast joint; a pole that lies still would be calm too.",
    "leaves": [{"name": "calm", "metric": "mean joint_speed", "threshold": "1 rad/s", "partial_credit": "linear"}],
}
CALM = """
def judge(features):
    speed = float(np.mean(features["joint_speed"]))
    return {"score": float(np.clip((10.0 - speed) / 9.0, 0.0, 1.0)), "evidence": f"mean speed {speed:.2f} rad/s"}
"""
GENEROUS = CALM.replace("10.0", "1000.0")
IMPORTS = "import os\n" + CALM
CRASHES = "def judge(features):\n    return {'score': 1.0 / 0, 'evidence': ''}\n"
TEXT = "def judge(features):\n    return {'score': 'high', 'evidence': ''}\n"
LATE = """
def judge(features):
    if features["time"][0] < 0.045:  # the made-up rollouts have steps of 0.05 s, the recorded ones of 0.04 s
        raise ValueError("too fine")
    return {"score": 1.0}
"""
OUTSIDE = "def judge(features):\n    return {'score': 7.0, 'evidence': 'far above 1'}\n"
FINE = {"approved": True, "loopholes": "None found."}


Written = Callable[..., tuple[Workspace, Stub]]


@pytest.fixture
def written(watched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """A copy of the session whose judge code a scripted model writes."""
    with ExitStack() as stack:

        def start(*steps: Step) -> tuple[Workspace, Stub]:
            shutil.copytree(watched, tmp_path / "runs")
            stub = stack.enter_context(Stub(steps).serving())
            for name, value in stub.environment().items():
                monkeypatch.setenv(name, value)
            ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
            record = ws.record("watched")
            changed = record.read_session().model_copy(update={"judge_author": "anthropic:claude-of-a-test"})
            record.save_session(changed)
            return ws, stub

        yield start


def source(text: str) -> Step:
    return answers({"source": text})


def test_code_is_planned_reviewed_written_attacked_and_judges_without_eyes(written: Written) -> None:
    mended = answers({"approved": False, "loopholes": "1000 is far too much.", "source": CALM})
    ws, stub = written(answers(PLAN), answers(PLAN), source(GENEROUS), mended, answers(FINE))
    judgment = judge(ws, "watched", 1)
    assert judgment.verdict is not Verdict.NO_VERDICT, judgment.diagnosis
    calm = judgment.criteria[1]
    assert (calm.key, calm.by_eyes) == ("calm", False)
    assert all(rollout.values["calm"] is not None for rollout in judgment.rollouts)
    assert "- calm: mean speed " in judgment.diagnosis
    code = ws.record("watched").read_judge_code()
    assert code is not None
    assert code.functions[0].source == CALM
    assert code.functions[0].code_hash in judgment.provenance.code_hash
    assert [row.role for row in costs(ws, "watched").rows] == ["judge_author"]
    assert "joint_speed" in stub.seen[0].system
    assert GENEROUS.splitlines()[-1].strip()[:20] in stub.seen[3].system
    assert judge_evidence(ws, "watched", 1).unjudged == ()
    assert rejudge(ws, "watched", 1) == judgment
    assert stub.remaining() == 0


def test_whoever_asks_for_the_task_finds_what_the_model_of_the_session_wrote(written: Written) -> None:
    ws, stub = written(answers(PLAN), answers(PLAN), source(CALM), answers(FINE))
    for _ in range(2):
        assert [one.source for one in judge_code_task(ws, "watched").functions] == [CALM]
    (found,) = judge_evidence(ws, "watched", 1).code.by_written_code
    assert (found.key, found.written_by, found.problem) == ("calm", "anthropic:claude-of-a-test", "")
    assert stub.remaining() == 0


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        pytest.param(CRASHES, "ZeroDivisionError", id="on made-up rollouts"),
        pytest.param(LATE, "too fine", id="on recorded rollouts"),
        pytest.param(TEXT, "expected a dict with a number", id="by what it returns", marks=pytest.mark.nightly),
        pytest.param(IMPORTS, "imports", id="by the gate", marks=pytest.mark.nightly),
    ],
)
def test_code_that_fails_is_mended(broken: str, problem: str, written: Written) -> None:
    ws, stub = written(answers(PLAN), answers(PLAN), source(broken), answers(FINE), source(CALM))
    judgment = judge(ws, "watched", 1)
    assert judgment.verdict is not Verdict.NO_VERDICT
    assert problem in stub.seen[-1].system
    assert stub.remaining() == 0


def test_after_three_repairs_there_is_no_verdict_and_never_a_score_of_0(written: Written) -> None:
    broken = [source(CRASHES + "#" * n) for n in range(1, 4)]
    ws, stub = written(answers(PLAN), answers(PLAN), source(CRASHES), answers(FINE), *broken)
    judgment = judge(ws, "watched", 1)
    assert (judgment.verdict, judgment.intent_score) == (Verdict.NO_VERDICT, None)
    code = ws.record("watched").read_judge_code()
    assert code is not None
    assert "ZeroDivisionError" in code.functions[0].problems[0]
    assert stub.remaining() == 0


def test_a_score_outside_its_range_is_cut_to_it(written: Written) -> None:
    ws, _ = written(answers(PLAN), answers(PLAN), source(OUTSIDE), answers(FINE))
    judgment = judge(ws, "watched", 1)
    assert judgment.criteria[1].score == 1.0
    assert judgment.passed


def test_what_features_cannot_tell_is_left_to_eyes(written: Written) -> None:
    ws, stub = written(answers({"measurable": False, "reason": "A matter of taste."}))
    assert judge(ws, "watched", 1).verdict is Verdict.NO_VERDICT
    assert judge_evidence(ws, "watched", 1).unjudged == ("calm",)
    assert len(stub.seen) == 1


@pytest.mark.parametrize(("text", "usable"), [(CALM, True), pytest.param(OUTSIDE, False, marks=pytest.mark.nightly)])
def test_code_that_tells_no_known_motion_from_another_is_refused(text: str, usable: bool, written: Written) -> None:
    repairs = [] if usable else [source(text)] * 3
    ws, stub = written(answers(PLAN), answers(PLAN), source(text), answers(FINE), *repairs)
    intent = ws.record("watched").read_criteria()
    assert intent is not None
    session = ws.record("watched").read_session()
    request = NewSession.model_validate(
        session.model_dump(include=set(NewSession.model_fields)) | {"env_id": "Swimmer-v5"}
    )
    calm = Intent(prompt="swim calmly", env_id="Swimmer-v5", criteria=intent.criteria[1:], episode_s=5.0)
    create_session(ws, request.model_copy(update={"prompt": "swim"}), session_id="swimming", intent=calm)
    code = write_judge_code(ws, "swimming")
    assert code is not None
    assert bool(code.usable) == usable
    assert usable or "known motions the score 1: it tells nothing apart" in code.functions[0].problems[0]
    assert write_judge_code(ws, "swimming") == code, "written once"
    assert "known motions" in stub.seen[-1].system or usable
    if usable:
        refused = submit_judge_code(ws, "swimming", "calm", OUTSIDE)
        assert refused.errors[0].endswith(
            "it tells nothing apart. Let the score grow with what the criterion asks for."
        )
        known = submit_judge_code(ws, "swimming", "calm", CALM).known_motions
        assert known[0].score == max(one.score for one in known) > 0
        assert len({one.motion for one in known}) > 1
