"""One judgment from code and eyes."""

import numpy as np
import pytest

from p2p.analysis.intervals import wilson_interval
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.judgment import Judgment, Observation, Verdict
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.judges.code import CodeJudge
from p2p.judges.synthesis import combine, veto

FAST = Criterion(
    key="fast",
    title="Runs forward",
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
UPRIGHT = Criterion(
    key="upright",
    title="Stays upright",
    description="",
    category=Category.POSTURE,
    predicate=Predicate(
        statistic=Statistic.FRACTION,
        where=(Bound(feature="up", comparison=Comparison.AT_LEAST, threshold=0.5),),
        comparison=Comparison.AT_LEAST,
        threshold=0.9,
        unit="1",
        margin=0.5,
    ),
)


def seen(key="graceful", **more):
    return Criterion(key=key, title=key.title(), description="", category=Category.POSTURE, predicate=None, **more)


def intent(*criteria):
    return Intent(prompt="run like a gazelle", env_id="E", criteria=criteria, episode_s=0.5)


def code(wish, good=10, bad=0, threshold=0.7):
    """The judgment of code over rollouts of which `bad` are too slow."""
    features = [{"velocity_x": np.full(10, speed), "up": np.ones(10)} for speed in (4.0,) * good + (0.0,) * bad]
    rollouts = tuple(Rollout(seed=seed, episode_return=1.0, length=10) for seed in range(good + bad))
    evaluation = Evaluation(run_id="a_seed_1", checkpoint=300, purpose=Purpose.REPORT, dt=0.05, rollouts=rollouts)
    return CodeJudge().judge(wish, evaluation, features, threshold)


def look(good=True, score=1.0, **more):
    return Observation(is_what_was_meant=good, score=score, diagnosis="It runs.", **more)


def both(wish, observation, **more):
    return combine(wish, code(wish, **more), observation)


def test_what_code_passes_and_eyes_are_content_with_passes():
    wish = intent(FAST, UPRIGHT)
    judgment = both(wish, look(observer="api", provider="anthropic", model="m-1"))
    assert judgment.passed
    assert (judgment.intent_score, judgment.success_rate, judgment.failure_tags) == (1.0, 1.0, ())
    assert judgment.criteria == code(wish).criteria
    signed = judgment.provenance
    assert (signed.judge, signed.observer, signed.provider, signed.model) == ("code+eyes", "api", "anthropic", "m-1")
    assert signed.code_hash == code(wish).provenance.code_hash
    assert judgment.scoring_method == "code_and_eyes"
    assert judgment.observation.diagnosis == "It runs."
    assert "looked at by a model (anthropic/m-1)" in judgment.diagnosis
    assert judgment.diagnosis.endswith("Eyes: It runs.")


def test_a_measured_criterion_is_not_overruled_by_eyes_either_way():
    judgment = both(intent(FAST, UPRIGHT), look(criteria={"fast": True}), good=0, bad=10)
    assert judgment.verdict is Verdict.FAILED
    assert not judgment.criteria[0].met
    assert "fast: eyes see it otherwise; the measurement counts" in judgment.diagnosis
    assert "The judges disagree: eyes score it 1, code 0.5." in judgment.diagnosis
    judgment = both(intent(FAST, UPRIGHT), look(criteria={"upright": False}))
    assert judgment.passed
    assert judgment.criteria[1].met
    assert "upright: eyes see it otherwise" in judgment.diagnosis


@pytest.mark.parametrize(
    ("observation", "tags"),
    [
        (look(good=False, score=0.2), {"judges_disagree"}),
        (look(suspected_exploit="It slides."), {"judges_disagree", "suspected_exploit"}),
        (look(good=False, score=0.2, failure_tags=("on_its_back",)), {"judges_disagree", "on_its_back"}),
    ],
)
def test_good_numbers_that_are_not_what_was_meant_fail_and_are_never_the_best_attempt(observation, tags):
    judgment = both(intent(FAST, UPRIGHT), observation)
    assert judgment.verdict is Verdict.FAILED
    assert set(judgment.failure_tags) == tags
    assert judgment.success_rate == 0.0
    assert (judgment.success_low, judgment.success_high) == (None, None), "one look has no interval over 10 rollouts"
    assert judgment.vetoed_by_eyes
    assert judgment.measured_success_rate == 1.0
    assert (judgment.measured_success_low, judgment.measured_success_high) == wilson_interval(10, 10)
    assert "By code alone 10 of 10 rollouts met everything" in judgment.diagnosis
    assert judgment.without_missed.startswith("every criterion was met, but")
    assert judgment.intent_score == min(1.0, observation.score)
    assert all(criterion.met for criterion in judgment.criteria), "measurements stay as they are"
    words = "Suspected exploit: It slides." if observation.suspected_exploit else "this is not what was meant"
    assert words in judgment.diagnosis


@pytest.mark.parametrize(("score", "verdict"), [(0.8, Verdict.PASSED), (0.5, Verdict.FAILED)])
def test_the_score_of_a_pass_is_no_better_than_eyes_find_it(score, verdict):
    judgment = both(intent(FAST, UPRIGHT), look(score=score))
    assert (judgment.verdict, judgment.intent_score) == (verdict, score)
    assert judgment.success_rate == 1.0, "eyes are content: the rollouts stay as measured"
    assert ("poor_to_eyes" in judgment.failure_tags) == (verdict is Verdict.FAILED)
    assert judgment.vetoed_by_eyes == (verdict is Verdict.FAILED)


def test_eyes_that_dislike_what_code_fails_too_agree_with_it():
    judgment = both(intent(FAST), look(good=False, score=0.1), good=0, bad=10)
    assert judgment.verdict is Verdict.FAILED
    assert "judges_disagree" not in judgment.failure_tags
    assert "fast_not_met" in judgment.failure_tags


def test_a_criterion_that_code_cannot_measure_comes_from_the_observation():
    wish = intent(FAST, seen())
    assert code(wish).verdict is Verdict.NO_VERDICT
    judgment = both(wish, look(criteria={"graceful": True}))
    assert judgment.passed
    assert [(c.key, c.met, c.by_eyes) for c in judgment.criteria] == [("fast", True, False), ("graceful", True, True)]
    assert (judgment.intent_score, judgment.success_rate) == (1.0, 1.0)
    assert "Graceful (graceful): met, by eyes." in judgment.diagnosis
    assert "needs eyes" not in judgment.diagnosis

    judgment = both(wish, look(criteria={"graceful": False}))
    assert judgment.verdict is Verdict.FAILED
    assert judgment.intent_score == 0.5
    assert judgment.success_rate == 0.0
    assert judgment.failure_tags == ("graceful_not_met",)


def test_an_optional_one_counts_towards_the_score_only():
    wish = intent(FAST, seen(required=False, weight=0.25))
    judgment = both(wish, look(criteria={"graceful": False}))
    assert judgment.passed
    assert judgment.intent_score == pytest.approx(0.8)
    heavy = intent(FAST, seen(required=False, weight=3.0))
    judgment = both(heavy, look(criteria={"graceful": False}))
    assert judgment.verdict is Verdict.FAILED
    assert judgment.intent_score == 0.25


@pytest.mark.parametrize(("met", "verdict"), [(True, Verdict.PASSED), (False, Verdict.FAILED)])
def test_where_nothing_can_be_measured_eyes_decide_alone(met, verdict):
    judgment = both(intent(seen(), seen("calm")), look(criteria={"graceful": True, "calm": met}))
    assert judgment.verdict is verdict
    assert judgment.success_rate == float(met)
    assert judgment.success_low is None
    assert judgment.intent_score == (1.0 if met else 0.5)


def test_too_few_successful_rollouts_fail_whatever_eyes_say():
    judgment = both(intent(FAST, seen()), look(criteria={"graceful": True}), good=7, bad=3)
    assert judgment.verdict is Verdict.FAILED
    assert judgment.success_rate == pytest.approx(0.7)
    assert "judges_disagree" in judgment.failure_tags


def test_eyes_do_not_replace_a_measurement_that_is_missing():
    wish = intent(FAST, seen())
    broken = Evaluation(run_id="a_seed_1", checkpoint=3, purpose=Purpose.SELECTION, dt=0.05, rollouts=())
    judgment = combine(wish, CodeJudge().judge(wish, broken, [], 0.7), look(criteria={"graceful": True}))
    assert judgment.verdict is Verdict.NO_VERDICT
    assert judgment.intent_score is None
    assert judgment.observation is not None


def test_a_criterion_left_open_is_named_and_one_that_is_not_there_is_refused():
    wish = intent(FAST, seen(), seen("calm"))
    with pytest.raises(InvalidInput, match=r"calm \(Calm\).*calm: true or false") as refusal:
        both(wish, look(criteria={"graceful": True}))
    assert "graceful" not in str(refusal.value)
    with pytest.raises(UnknownName, match="Did you mean 'graceful'"):
        both(wish, look(criteria={"gracefull": True, "calm": True}))


def test_a_judgment_written_before_there_were_observations_still_loads():
    old = code(intent(FAST)).model_dump(mode="json", exclude={"observation"})
    del old["provenance"]["observer"]
    for criterion in old["criteria"]:
        del criterion["by_eyes"]
    judgment = Judgment.model_validate(old)
    assert judgment.observation is None
    assert judgment == code(intent(FAST))


def test_eyes_decide_what_comes_after_a_criterion_of_theirs():
    landed = FAST.model_copy(update={"key": "landed", "after": "graceful"})
    wish = intent(UPRIGHT, seen(), landed)
    judgment = both(wish, look(criteria={"graceful": True, "landed": True}))
    assert judgment.passed
    assert [(c.key, c.by_eyes) for c in judgment.criteria] == [("upright", False), ("graceful", True), ("landed", True)]
    with pytest.raises(InvalidInput, match="landed: true or false"):
        both(wish, look(criteria={"graceful": True}))


def test_a_policy_that_a_judge_of_code_refused_is_never_the_best_and_eyes_do_not_accept_it():
    wish = intent(FAST, UPRIGHT)
    refusal = code(wish, good=2, bad=8)
    refused = veto(code(wish), "a limit on torques", refusal)
    assert refused.verdict is Verdict.FAILED
    assert (refused.success_rate, refused.measured_success_rate) == (0.0, 1.0)
    assert refused.intent_score == refusal.intent_score
    assert "was refused by a limit on torques: Not passed" in refused.without_missed
    judgment = combine(wish, refused, look(failure_tags=("waddles",)))
    assert judgment.verdict is Verdict.FAILED
    assert not judgment.vetoed_by_eyes
    assert judgment.failure_tags == (*refusal.failure_tags, "waddles")
    assert judgment.without_missed == refused.without_missed
    assert judgment.diagnosis.endswith("Eyes: It runs.")
