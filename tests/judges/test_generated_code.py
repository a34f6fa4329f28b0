"""What a judge function says of rollouts: a score from 0 to 1, or in words why there is none, which is then mended."""

from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.judgment import RolloutFinding
from p2p.contracts.work import CodeLimits
from p2p.judges import generated
from p2p.worker.call import call

ROLLOUTS = [{"time": np.linspace(0.05, 1.0, 20), "height": np.full(20, height)} for height in (0.2, 0.6)]


def said(directory: Path, source: str) -> tuple[RolloutFinding, ...] | str:
    generated.prepare(directory, source, ROLLOUTS)
    call(directory)
    return generated.read(directory)


def returns(value: str) -> str:
    return f"def judge(features):\n    return {value}\n"


def test_a_rollout_is_scored_with_evidence_and_cut_to_0_and_1(tmp_path: Path) -> None:
    source = returns('{"score": 5 * features["height"].mean() - 2, "evidence": f"{len(features[\'time\'])} steps"}')
    low, high = said(tmp_path, source)
    assert isinstance(low, RolloutFinding)
    assert isinstance(high, RolloutFinding)
    assert (low.score, high.score) == (0.0, pytest.approx(1.0))
    assert low.evidence == "20 steps"
    (one, other) = said(tmp_path, returns('{"score": 100 * (features["height"].mean() - 0.5)}'))
    assert (one, other) == (RolloutFinding(score=0.0), RolloutFinding(score=1.0))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def judge(features:\n    return {}\n", "line 1: not valid Python"),
        (returns('{"score": 1 / 0}'), "line 2: the function raised ZeroDivisionError"),
        (returns('{"score": features["wings"].mean()}'), "line 2: the function raised KeyError: 'wings'"),
        ("def score(features):\n    return {}\n", "name 'judge' is not defined"),
        (returns("0.9"), "returned '0.9': expected a dict"),
        (returns('{"evidence": "fine"}'), "expected a dict with a number as score"),
        (returns('{"score": True}'), "expected a dict with a number as score"),
        (returns('{"score": float("nan")}'), "is nan; expected a finite number"),
        ("def judge(features):\n    while True:\n        pass\n", "gave no answer within 1 s"),
    ],
)
def test_what_fails_is_no_verdict_in_words_that_its_author_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, words: str
) -> None:
    if "while" in source:
        monkeypatch.setattr(generated, "LIMITS", CodeLimits(timeout_s=1.0))
    found = said(tmp_path, source)
    assert isinstance(found, str), "and never a score of 0"
    assert words in found
    assert generated.problems_of(tmp_path) == [found]
