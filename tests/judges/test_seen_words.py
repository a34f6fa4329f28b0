"""What a model says it saw, however it writes it: the same scale, the same states, and no guess where there is none."""

import json
from typing import Any

import pytest

from p2p.inference.structured import Unusable, parse
from p2p.judges.vision import VisionAnswer

SEEN: dict[str, Any] = {
    "findings": [{"key": "calm", "state": "met", "evidence": "No shaking."}],
    "diagnosis": "Good.",
    "is_what_was_meant": True,
    "score": 0.9,
}


@pytest.mark.parametrize(
    ("said", "score"),
    [
        *((0.9, 0.9), (1, 1.0), (0, 0.0), (0.94, 0.9)),
        *((9, 0.9), (8.5, 0.8), (90, 0.9), ("9/10", 0.9), ("0.9", 0.9), ("90 %", 0.9), ("4.5 / 5", 0.9)),
        *((-0.3, 0.0), (-5, 0.0)),
    ],
)
def test_a_score_of_any_scale_becomes_one_from_0_to_1(said: object, score: float) -> None:
    assert parse(json.dumps({**SEEN, "score": said}), VisionAnswer).score == score


@pytest.mark.parametrize("said", ["high", "", None, True, [0.9], 1000, "9 of 10", "NaN"])
def test_what_is_no_score_is_refused_and_never_0(said: object) -> None:
    with pytest.raises(Unusable, match=r"score"):
        parse(json.dumps({**SEEN, "score": said}), VisionAnswer)


def test_an_answer_in_a_fence_with_words_around_it_and_keys_of_its_own_is_read() -> None:
    finding = {"key": "calm", "state": "Partially", "evidence": "A little.", "confidence": 0.5}
    text = json.dumps({**SEEN, "findings": [finding], "failure_tags": ["Too Wild!"], "mood": "glad", "score": "7/10"})
    seen = parse(f"I looked.\n```json\n{text}\n```\nThat is {{all}}.", VisionAnswer)
    assert (seen.findings[0].state, seen.failure_tags, seen.score) == ("partially_met", ("too_wild",), 0.7)
