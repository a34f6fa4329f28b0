import pytest

from p2p.analysis.predicates import Measurement
from p2p.analysis.scoring import score
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.training import Rollout

SPEED = Predicate(
    statistic=Statistic.MEAN, feature="speed", comparison=Comparison.AT_LEAST, threshold=1.0, unit="m/s", margin=1.0
)


def criterion(key, predicate=SPEED, **more):
    return Criterion(key=key, title=key, description="", category=Category.GAIT, predicate=predicate, **more)


def intent(*criteria):
    return Intent(prompt="", env_id="E", criteria=criteria)


def rollouts(n):
    return [Rollout(seed=seed, episode_return=10.0 * seed, length=5) for seed in range(n)]


def met(key, value=1.0):
    return Measurement(key, value, 1.0, True, 0)


def missed(key, value=0.5, credit=0.5):
    return Measurement(key, value, credit, False)


def test_the_score_is_the_weighted_mean_of_the_criteria():
    wish = intent(criterion("a", weight=3.0), criterion("b", weight=1.0))
    scores = score(wish, [(met("a"), missed("b", credit=0.2))] * 2, rollouts(2))
    assert scores.intent_score == pytest.approx((3.0 + 0.2) / 4.0)
    assert scores.rollouts[0].intent_score == pytest.approx(0.8)


def test_success_asks_for_every_required_criterion_in_the_same_rollout():
    wish = intent(criterion("a"), criterion("b"))
    scores = score(wish, [(met("a"), missed("b")), (missed("a"), met("b"))] * 5, rollouts(10))
    assert [c.met_share for c in scores.criteria] == [0.5, 0.5]
    assert scores.success_rate == 0.0
    assert not any(rollout.success for rollout in scores.rollouts)


def test_an_optional_criterion_counts_for_the_score_and_not_for_success():
    wish = intent(criterion("a"), criterion("nice", required=False))
    scores = score(wish, [(met("a"), missed("nice", credit=0.0))], rollouts(1))
    assert scores.success_rate == 1.0
    assert scores.intent_score == 0.5


@pytest.mark.parametrize(("n_met", "enough"), [(7, False), (8, True), (10, True)])
def test_a_criterion_is_met_when_four_fifths_of_the_rollouts_meet_it(n_met, enough):
    rows = [(met("a"),)] * n_met + [(missed("a"),)] * (10 - n_met)
    scores = score(intent(criterion("a")), rows, rollouts(10))
    assert scores.criteria[0].met is enough
    assert scores.success_rate == n_met / 10
    assert scores.low < n_met / 10 <= scores.high


def test_a_rollout_that_could_not_be_measured_counts_as_missed_and_not_into_the_mean():
    unmeasured = Measurement("a", None, 0.0, False)
    [result] = score(intent(criterion("a")), [(met("a", 2.0),), (met("a", 4.0),), (unmeasured,)], rollouts(3)).criteria
    assert result.value == 3.0
    assert result.low < 3.0 < result.high
    assert result.met_share == pytest.approx(2 / 3)
    assert result.score == pytest.approx(2 / 3)


def test_nothing_measured_gives_no_value_instead_of_zero():
    [result] = score(intent(criterion("a")), [(Measurement("a", None, 0.0, False),)], rollouts(1)).criteria
    assert (result.value, result.low, result.high) == (None, None, None)


def test_criteria_for_eyes_are_left_out_of_the_score():
    wish = intent(criterion("a"), criterion("graceful", predicate=None))
    seen = Measurement("graceful", None, 0.0, False, visual=True)
    scores = score(wish, [(met("a"), seen)], rollouts(1))
    assert [c.key for c in scores.criteria] == ["a"]
    assert scores.intent_score == 1.0
    assert scores.rollouts[0].values == {"a": 1.0, "graceful": None}


def test_there_is_no_score_when_only_eyes_can_judge():
    seen = Measurement("graceful", None, 0.0, False, visual=True)
    scores = score(intent(criterion("graceful", predicate=None)), [(seen,)], rollouts(1))
    assert scores.intent_score is None
    assert scores.success_rate is None


def test_rollouts_keep_their_seed_return_and_order():
    scores = score(intent(criterion("a")), [(met("a"),), (missed("a"),)], rollouts(2))
    assert [(r.seed, r.episode_return, r.success) for r in scores.rollouts] == [(0, 0.0, True), (1, 10.0, False)]


def test_measurements_of_other_rollouts_are_refused():
    with pytest.raises(ValueError, match="2 rollouts"):
        score(intent(criterion("a")), [(met("a"),)], rollouts(2))
