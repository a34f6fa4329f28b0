"""Code that a model writes for the sentences of the calibration, measured on clips, over the real libraries."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from wire_formats import Reply, Seen
from wire_stub import Fault, Step, Stub, answers

from p2p.cli import main

pytestmark = pytest.mark.slow
LIMITS = ["--cap", "dollars=none", "--cap", "tokens=9000000"]
CLIPS = ["--env", "Swimmer-v5", "--variations", "1", "--no-mutations", "--limit", "6", *LIMITS]
NAME = "code:anthropic:claude-of-a-test"
PLAN = {
    "measurable": True,
    "reason": "Its velocity tells it; a spike would too.",
    "leaves": [{"name": "speed", "metric": "mean velocity_x", "threshold": "0.1 m/s", "partial_credit": "linear"}],
}
SOURCE = """
def judge(features):
    speed = float(np.mean(features["velocity_x"]))
    return {"score": float(np.clip(speed / 0.1, 0.0, 1.0)), "evidence": f"{speed:.2f} m/s"}
"""


@pytest.fixture
def runs(swimmer_clips: Path, tmp_path: Path) -> Path:
    return shutil.copytree(swimmer_clips, tmp_path / "runs")


def _author(seen: Seen) -> Reply:
    """Plans, writes, and finds no fault; all but swimming forward is left to eyes."""
    if "swim forward" not in seen.system:
        return answers({"measurable": False, "reason": "A matter of taste."})
    stage = re.search(r"does_what_was_asked: (\w+)", seen.text)
    assert stage is not None, seen.text
    return answers({"implement": {"source": SOURCE}, "loopholes": {"approved": True}}.get(stage[1], PLAN))


def _measured(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: Step
) -> tuple[dict[str, Any], Stub]:
    monkeypatch.setenv("P2P_RUNS_DIR", str(runs))
    monkeypatch.setenv("P2P_MODEL_PATIENCE_S", "5")
    with Stub([step], repeat_last=True).serving() as stub:
        for name, value in stub.environment().items():
            monkeypatch.setenv(name, value)
        assert main(["judge", "calibrate", *CLIPS, "--judge", NAME, "--json"]) == 0
    (judge,) = json.loads(capsys.readouterr().out)["judges"]
    return judge, stub


@pytest.mark.nightly
def test_a_model_writes_the_code_once_for_each_sentence_and_it_is_kept(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge, stub = _measured(runs, monkeypatch, capsys, _author)
    assert judge["judge"] == NAME
    words = [word for counts in judge["verdicts"].values() for word in counts]
    assert {"failed", "no_verdict"} <= set(words)
    reasons = {mistake["sentence"]: mistake["reason"] for mistake in judge["mistakes"] if mistake["passed"] is None}
    assert len(reasons) > 1
    assert set(reasons.values()) == {"A matter of taste."}
    kept = runs / "calibration/judge_functions/anthropic_claude-of-a-test"
    assert [path.relative_to(kept).as_posix() for path in kept.rglob("*.py")] == ["swimmer-v5/swim_forward.py"]
    assert (kept / "swimmer-v5/swim_forward.py").read_text() == SOURCE
    assert len(stub.seen) == 4 + len(reasons), "four questions for a function, and one where there is none"
    assert main(["judge", "calibrate", *CLIPS, "--judge-code", str(kept), "--json"]) == 3, "too few for a target"
    again = json.loads(capsys.readouterr().out)["judges"][1]
    assert again["judge"] == "code:anthropic_claude-of-a-test"


@pytest.mark.nightly
def test_a_model_that_writes_nothing_has_no_verdict(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge, _ = _measured(runs, monkeypatch, capsys, Fault.REFUSAL)
    assert {word for counts in judge["verdicts"].values() for word in counts} == {"no_verdict"}
    assert judge["auroc"] is None
