"""The rule that makes one judgment of two, for every combination of what code and eyes can say."""

from itertools import product

import numpy as np
import pytest

from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.judgment import Finding, Judgment, Observation, Sight, Verdict
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.judges import agreement, synthesis
from p2p.judges.code import CodeJudge

P, F, N = Verdict.PASSED, Verdict.FAILED, Verdict.NO_VERDICT
FAST = Criterion(
    key="fast",
    title="Fast",
    description="",
    category=Category.GAIT,
    predicate=Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=3.0,
        unit="m/s",
        margin=3.0,
    ),
)
CALM = Criterion(key="calm", title="Calm", description="", category=Category.POSTURE, predicate=None)
TABLE = {
    # measured, by eyes -> verdict and score where eyes are content and find it perfect; verdict where they are not.
    # The score is never higher than that of eyes, and a policy whose score is too low for both does not pass.
    ("met", None): (P, 1.0, F),
    ("met", "met"): (P, 1.0, F),
    ("met", "partially_met"): (F, 0.75, F),
    ("met", "not_met"): (F, 0.5, F),
    ("met", "cannot_tell"): (N, None, F),
    ("not met", None): (F, 0.0, F),
    ("not met", "met"): (F, 0.5, F),
    ("not met", "partially_met"): (F, 0.25, F),
    ("not met", "not_met"): (F, 0.0, F),
    ("not met", "cannot_tell"): (F, 0.0, F),
    ("nothing", "met"): (P, 1.0, F),
    ("nothing", "partially_met"): (F, 0.5, F),
    ("nothing", "not_met"): (F, 0.0, F),
    ("nothing", "cannot_tell"): (N, None, F),
}
CONTENT = ("content", "not what was meant", "exploit")
EYES = (0.0, 0.2, 0.5, 0.8, 1.0)


def _code(intent: Intent, fast: bool) -> Judgment:
    rollouts = tuple(Rollout(seed=seed, episode_return=1.0, length=10) for seed in range(10))
    evaluation = Evaluation(run_id="a_seed_1", checkpoint=300, purpose=Purpose.REPORT, dt=0.05, rollouts=rollouts)
    features = [{"velocity_x": np.full(10, 4.0 if fast else 0.0)} for _ in rollouts]
    return CodeJudge().judge(intent, evaluation, features, 0.7)


def _seen(sight: str | None, content: str, score: float) -> Observation:
    return Observation(
        is_what_was_meant=content != "not what was meant",
        suspected_exploit="It slides." if content == "exploit" else "",
        score=score,
        diagnosis="Seen.",
        findings=(Finding(key="calm", state=Sight(sight), evidence="at 2 s"),) if sight else (),
    )


@pytest.mark.parametrize(
    ("measured", "sight", "content", "eyes"), [(*k, c, e) for k, c, e in product(TABLE, CONTENT, EYES)]
)
def test_what_code_and_eyes_say_makes_one_judgment(measured: str, sight: str | None, content: str, eyes: float) -> None:
    criteria = (*([FAST] if measured != "nothing" else []), *([CALM] if sight else []))
    intent = Intent(prompt="run", env_id="E", criteria=criteria, episode_s=0.5)
    code, seen = _code(intent, measured == "met"), _seen(sight, content, eyes)
    judgment = synthesis.combine(intent, code, seen)
    assert judgment == synthesis.combine(intent, code, seen), "the same inputs, the same judgment"

    verdict, by_rule, otherwise = TABLE[measured, sight]
    if content == "content":
        lower = None if by_rule is None else min(by_rule, eyes)
        poor = verdict is P and eyes < 0.7
        assert (judgment.verdict, judgment.intent_score) == (F if poor else verdict, lower)
        assert ("poor_to_eyes" in judgment.failure_tags) == (eyes < 0.7 and sight in (None, "met", "cannot_tell"))
    else:
        decided = [score.score for score in judgment.criteria]
        assert judgment.verdict is otherwise
        assert judgment.intent_score == min([eyes, *([np.mean(decided)] if decided else [])])
        assert judgment.success_rate == 0.0

    number = {"met": 1.0, "not met": 0.0, "nothing": None}[measured]
    apart = number is not None and round(abs(number - eyes), 6) > 0.2
    assert judgment.disagreement == (None if number is None else round(abs(number - eyes), 6))
    assert agreement.apart(code, seen) == apart
    assert ("The judges disagree" in judgment.diagnosis) == apart
    by_eyes = 0.8 if sight not in (None, "cannot_tell") else 1.0
    expected = by_eyes * (0.5 if apart else 1.0)
    assert judgment.confidence == (None if judgment.verdict is N else pytest.approx(expected))
    if judgment.verdict is F and apart:
        assert "judges_disagree" in judgment.failure_tags
    assert (judgment.failure_tags == ()) == (judgment.verdict is P) or judgment.verdict is N
    assert ("suspected_exploit" in judgment.failure_tags) == (content == "exploit")


@pytest.mark.parametrize("gap", [0.2, 0.2 + 1e-9])
def test_two_tenths_apart_are_near(gap: float) -> None:
    intent = Intent(prompt="run", env_id="E", criteria=(FAST,), episode_s=0.5)
    assert not agreement.apart(_code(intent, True), _seen(None, "content", 1.0 - gap))
