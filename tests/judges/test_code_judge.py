from pathlib import Path

import numpy as np
import pytest

from p2p.analysis import predicates
from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.judgment import Verdict
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.judges.code import CodeJudge
from p2p.store.arrays import save_features
from p2p.store.evaluations import ReportRecord


def fast(threshold=3.0, **more):
    predicate = Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=threshold,
        unit="m/s",
        margin=threshold,
    )
    return criterion("fast", predicate, title="Runs forward", **more)


def upright(**more):
    predicate = Predicate(
        statistic=Statistic.FRACTION,
        where=(Bound(feature="up", comparison=Comparison.AT_LEAST, threshold=0.5),),
        comparison=Comparison.AT_LEAST,
        threshold=0.9,
        unit="1",
        margin=0.5,
    )
    return criterion("upright", predicate, title="Stays upright", **more)


def criterion(key, predicate, title="Title", **more):
    return Criterion(key=key, title=title, description="", category=Category.GAIT, predicate=predicate, **more)


def intent(*criteria):
    return Intent(prompt="run", env_id="E", criteria=criteria, episode_s=0.5)


def rollout(speed=4.0, up=1.0):
    return {"velocity_x": np.full(10, speed), "up": np.full(10, up)}


def recorded(n, purpose=Purpose.REPORT, length=10):
    rollouts = tuple(Rollout(seed=seed, episode_return=1.0, length=length) for seed in range(n))
    return Evaluation(run_id="a_seed_1", checkpoint=300, purpose=purpose, dt=0.05, rollouts=rollouts)


def judge(wish, features, threshold=0.7):
    return CodeJudge().judge(wish, recorded(len(features)), features, threshold)


def assert_no_verdict(judgment, words):
    assert judgment.verdict is Verdict.NO_VERDICT
    assert judgment.intent_score is None
    assert judgment.success_rate is None
    assert words in judgment.diagnosis
    assert not judgment.passed


def test_a_policy_that_does_what_was_asked_passes():
    judgment = judge(intent(fast(), upright()), [rollout()] * 10)
    assert judgment.verdict is Verdict.PASSED
    assert judgment.intent_score == 1.0
    assert judgment.success_rate == 1.0
    assert judgment.success_low == pytest.approx(0.722, abs=1e-3)
    assert judgment.failure_tags == ()
    assert (judgment.run_id, judgment.best_checkpoint, judgment.n_rollouts) == ("a_seed_1", 300, 10)


@pytest.mark.parametrize(("good", "verdict"), [(7, Verdict.FAILED), (8, Verdict.PASSED)])
def test_eight_of_ten_rollouts_must_meet_everything_required(good, verdict):
    features = [rollout()] * good + [rollout(speed=2.9)] * (10 - good)
    judgment = judge(intent(fast()), features, threshold=0.5)
    assert judgment.verdict is verdict
    assert judgment.intent_score > 0.9


@pytest.mark.parametrize(("threshold", "verdict"), [(0.75, Verdict.PASSED), (0.76, Verdict.FAILED)])
def test_the_score_must_reach_the_threshold(threshold, verdict):
    judgment = judge(intent(fast(), upright(required=False)), [rollout(up=0.0)] * 10, threshold=threshold - 0.25)
    assert judgment.intent_score == 0.5
    assert judgment.success_rate == 1.0
    assert judgment.verdict is verdict


def test_criteria_met_in_different_rollouts_do_not_pass():
    wish = intent(fast(), upright())
    features = [rollout()] * 7 + [rollout(speed=2.0)] * 2 + [rollout(up=0.0)] * 1
    judgment = judge(wish, features, threshold=0.5)
    assert [c.met for c in judgment.criteria] == [True, True]
    assert judgment.verdict is Verdict.FAILED
    assert judgment.failure_tags == ("not_met_together",)
    assert "not all of them in the same rollouts" in judgment.diagnosis


def test_the_diagnosis_says_what_was_measured_and_what_was_wanted():
    judgment = judge(intent(fast(), upright()), [rollout(speed=1.4), rollout(speed=1.6)] * 5)
    assert judgment.verdict is Verdict.FAILED
    first, second, third = judgment.diagnosis.splitlines()
    assert first.startswith("Not passed: score 0.75, 0.7 is needed; 0 of 10 rollouts met everything required")
    assert (
        "Runs forward (fast): met in 0 of 10: NOT enough; mean of velocity_x wanted >= 3 m/s, measured 1.5 m/s"
        in second
    )
    assert "(95 % interval 1.42 to 1.58)" in second
    assert "Stays upright (upright): met in 10 of 10; share of the time with up >= 0.5 wanted >= 0.9" in third


@pytest.mark.parametrize(
    ("features", "tags"),
    [
        ([rollout(speed=1.0)] * 5, ("fast_not_met", "fast_too_low", "score_too_low")),
        ([rollout(speed=2.0)] * 2 + [rollout(speed=9.0)] * 3, ("fast_not_met", "fast_unsteady")),
        ([rollout(speed=np.nan)] * 5, ("fast_not_met", "fast_not_measured", "score_too_low")),
    ],
)
def test_tags_say_how_a_criterion_is_missed(features, tags):
    assert judge(intent(fast()), features).failure_tags == tags


def test_a_limit_that_is_exceeded_is_tagged_too_high():
    slow = Predicate(
        statistic=Statistic.MAX,
        feature="velocity_x",
        comparison=Comparison.BETWEEN,
        threshold=0.5,
        upper=1.0,
        unit="m/s",
        margin=10.0,
    )
    assert judge(intent(criterion("slow", slow)), [rollout()] * 5).failure_tags == ("slow_not_met", "slow_too_high")


def test_a_required_criterion_for_eyes_leaves_the_verdict_open():
    judgment = judge(intent(fast(), criterion("graceful", None)), [rollout()] * 10)
    assert_no_verdict(judgment, "What is left needs eyes.")
    assert judgment.failure_tags == ("graceful_needs_eyes",)
    assert [c.score for c in judgment.criteria] == [1.0]


def test_what_eyes_could_add_does_not_save_a_policy_that_already_fails():
    judgment = judge(intent(fast(), criterion("graceful", None)), [rollout(speed=1.0)] * 10)
    assert judgment.verdict is Verdict.FAILED


def test_an_optional_criterion_for_eyes_does_not_hold_up_a_pass():
    judgment = judge(intent(fast(), criterion("graceful", None, required=False)), [rollout()] * 10)
    assert judgment.verdict is Verdict.PASSED


def test_only_criteria_for_eyes_give_no_verdict():
    assert_no_verdict(judge(intent(criterion("graceful", None)), [rollout()] * 3), "Only eyes")


def test_a_feature_that_was_not_recorded_gives_no_verdict():
    features = [{"up": np.ones(10)}] * 3
    judgment = judge(intent(fast()), features)
    assert_no_verdict(judgment, "Unknown feature in criterion 'fast'")
    assert "an older p2p recorded" in judgment.diagnosis


def test_a_crash_gives_no_verdict_and_not_a_score_of_zero(monkeypatch: pytest.MonkeyPatch):
    def crash(*_arguments):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(predicates, "measure", crash)
    assert_no_verdict(judge(intent(fast()), [rollout()] * 3), "ZeroDivisionError('boom')")


def test_rollouts_that_were_selected_on_are_not_judged():
    evaluation = recorded(3, Purpose.SELECTION)
    judgment = CodeJudge().judge(intent(fast()), evaluation, [rollout()] * 3, 0.7)
    assert_no_verdict(judgment, "made for selection")


@pytest.mark.parametrize(
    ("evaluation", "features", "words"),
    [
        (recorded(0), [], "no rollouts"),
        (recorded(2), [rollout()], "2 rollouts were recorded, but features of 1"),
        (recorded(1, length=11), [rollout()], "11 steps, but features of 10"),
    ],
)
def test_records_that_do_not_fit_together_give_no_verdict(evaluation, features, words):
    assert_no_verdict(CodeJudge().judge(intent(fast()), evaluation, features, 0.7), words)


def test_the_report_directory_is_judged_as_its_arrays_are(tmp_path: Path):
    features = [rollout(), rollout(speed=1.0)]
    record = ReportRecord(tmp_path)
    save_features(record.features_path, features)
    record.save_evaluation(recorded(2))
    wish = intent(fast(), upright())
    assert CodeJudge().judge_report(wish, tmp_path, 0.7) == judge(wish, features)


@pytest.mark.parametrize("broken", [None, b"", b"not an archive"])
def test_a_report_that_is_missing_or_broken_gives_no_verdict(tmp_path: Path, broken: bytes | None):
    record = ReportRecord(tmp_path)
    assert_no_verdict(CodeJudge().judge_report(intent(fast()), tmp_path, 0.7), "missing or broken")
    record.save_evaluation(recorded(2))
    if broken is not None:
        record.features_path.write_bytes(broken)
    assert_no_verdict(CodeJudge().judge_report(intent(fast()), tmp_path, 0.7), "No verdict.")


def test_rollouts_too_short_for_the_criteria_give_no_verdict(tmp_path: Path):
    record = ReportRecord(tmp_path)
    save_features(record.features_path, [rollout()])
    record.save_evaluation(recorded(1))
    longer = intent(fast()).model_copy(update={"episode_s": 1.0})
    assert_no_verdict(CodeJudge().judge_report(longer, tmp_path, 0.7), "need episodes of 1 s; 0.5 s were recorded")


def test_without_criteria_there_is_no_verdict(tmp_path: Path):
    assert_no_verdict(CodeJudge().judge_report(None, tmp_path, 0.7), "no criteria")


def test_the_provenance_names_the_judge_and_changes_with_the_criteria():
    first = judge(intent(fast()), [rollout()]).provenance
    again = judge(intent(fast()), [rollout(speed=0.0)]).provenance
    other = judge(intent(fast(threshold=2.0)), [rollout()]).provenance
    assert first.judge == "code"
    assert first == again != other
    assert len(first.code_hash) == 16


def test_judging_twice_gives_the_same_judgment():
    features = [rollout(), rollout(speed=2.0)]
    assert judge(intent(fast()), features) == judge(intent(fast()), features)
