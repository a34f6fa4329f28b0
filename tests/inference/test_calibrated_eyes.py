"""A model with eyes measured on clips whose truth is known, over the real libraries."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from wire_formats import Reply, Seen
from wire_stub import Fault, Step, Stub, answers

from p2p.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pictures")]
CLIPS = ["--env", "Swimmer-v5", "--variations", "1", "--no-mutations"]
LIMITS = ["--cap", "dollars=none", "--cap", "tokens=9000000"]


@pytest.fixture
def runs(swimmer_clips: Path, tmp_path: Path) -> Path:
    return shutil.copytree(swimmer_clips, tmp_path / "runs")


def _content(seen: Seen) -> Reply:
    """Finds everything met that is asked for."""
    keys = re.findall(r"^- (\w+) \(only you can judge it\)", seen.text, re.MULTILINE)
    findings = [{"key": key, "state": "met", "evidence": "seen"} for key in keys]
    return answers({"findings": findings, "diagnosis": "Fine.", "is_what_was_meant": True, "score": 1})


def _measured(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: Step, limit: int, *names: str
) -> tuple[dict[str, dict[str, Any]], Stub]:
    monkeypatch.setenv("P2P_RUNS_DIR", str(runs))
    monkeypatch.setenv("P2P_MODEL_PATIENCE_S", "5")
    with Stub([step], repeat_last=True).serving() as stub:
        for name, value in stub.environment().items():
            monkeypatch.setenv(name, value)
        judges = [option for name in names for option in ("--judge", name)]
        assert main(["judge", "calibrate", *CLIPS, *LIMITS, "--limit", str(limit), *judges, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    return {judge["judge"]: judge for judge in report["judges"]}, stub


@pytest.mark.nightly
def test_eyes_alone_and_with_measurements_are_measured(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    eyes, both = "anthropic:claude-of-a-test", "synthesis:anthropic:claude-of-a-test"
    judges, stub = _measured(runs, monkeypatch, capsys, _content, 2, eyes, both)
    assert judges[eyes]["verdicts"]["negative"] == {"passed": 2}, (
        "eyes that are content with everything pass everything"
    )
    assert judges[both]["verdicts"]["negative"] == {"failed": 2}, "where all is measured, they change nothing"
    assert judges[eyes]["repeated"] == 1
    assert judges[eyes]["score_variance"] == 0.0
    assert all(seen.pictures == 1 for seen in stub.seen)
    assert len(stub.seen) >= 2 + 2, "a repeated question is asked anew"
    assert not any("swimmer-0" in seen.text for seen in stub.seen), "nobody is told which clip it is"
    films = list((runs / "calibration/swimmer-v5/videos").glob("*/request.json"))
    assert len(films) == 2
    assert not any(json.loads(film.read_text())["named"] for film in films), "nor do the pictures say it"


@pytest.mark.nightly
def test_a_model_that_does_not_answer_has_no_verdict(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judges, _ = _measured(runs, monkeypatch, capsys, Fault.REFUSAL, 1, "openai:gpt-of-a-test")
    verdicts = judges["openai:gpt-of-a-test"]["verdicts"]
    assert {word for counts in verdicts.values() for word in counts} == {"no_verdict"}
