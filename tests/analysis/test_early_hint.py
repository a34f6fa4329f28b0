"""A hint while a training goes on: one term takes the reward, and what is wanted stays at 0."""

import pytest

from p2p.analysis.early_hint import early_hint
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic


def criterion(key, threshold, comparison=Comparison.AT_LEAST, upper=None, unit="turns", **changes):
    predicate = Predicate(
        statistic=Statistic.MAX,
        feature="pitch_turns",
        comparison=comparison,
        threshold=threshold,
        upper=upper,
        unit=unit,
        margin=1.0,
    )
    return Criterion(key=key, title=f"Is {key}", description="", category=Category.GAIT, predicate=predicate, **changes)


def row(terms, criteria, met=None):
    return {"reward_terms": terms, "criteria": criteria, "criteria_met": met or dict.fromkeys(criteria, 0.0)}


def intent(*criteria):
    return Intent(prompt="do a backflip", env_id="Hopper-v5", criteria=criteria)


FLIP = intent(criterion("upright", 0.0, Comparison.AT_MOST), criterion("over", 1.0))
ALIVE = {"alive": 0.93, "flip": 0.007, "effort": -0.06}


def test_a_flip_that_is_paid_next_to_nothing_is_told():
    first = row(ALIVE, {"upright": 0.0, "over": -0.15})
    hint = early_hint(FLIP, [first, row(ALIVE, {"upright": 0.0, "over": 0.04})])
    assert hint is not None
    assert "Term 'alive' makes 93% of the reward" in hint
    assert "“Is over” stays at 0.04 turns, where 1 turns is needed" in hint


def test_what_is_not_reached_at_all_stays_at_zero():
    hint = early_hint(FLIP, [row(ALIVE, {"upright": 0.0, "over": None})])
    assert hint is not None
    assert "“Is over” was not reached" in hint


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "nothing is measured"),
        ([row(ALIVE, {"over": 0.3})], "it is under way"),
        ([row(ALIVE, {"over": 0.3}), row(ALIVE, {"over": 0.0})], "it was under way before"),
        ([row(ALIVE, {"over": 0.01}, {"over": 0.1})], "some rollouts meet it"),
        ([row({"alive": 0.5, "flip": 0.5}, {"over": 0.0})], "no term takes it all"),
        ([row({"alive": 0.0}, {"over": 0.0})], "nothing is paid"),
        ([{"reward_terms": ALIVE}], "there are no criteria"),
    ],
)
def test_there_is_no_hint_where_nothing_is_wrong(rows, why):
    assert early_hint(FLIP, rows) is None, why
    assert early_hint(None, rows) is None


@pytest.mark.parametrize(
    ("wanted", "value", "told"),
    [
        (criterion("back", -0.5, Comparison.AT_MOST, unit="m/s"), 0.1, True),
        (criterion("back", -0.5, Comparison.AT_MOST, unit="m/s"), -0.2, False),
        (criterion("low", 0.3, Comparison.AT_MOST, unit="m"), 1.2, False),
        (criterion("pace", 1.0, Comparison.BETWEEN, 2.0, unit="m/s"), 0.0, True),
        (criterion("pace", -2.0, Comparison.BETWEEN, -1.0, unit="m/s"), 0.0, True),
        (criterion("still", -1.0, Comparison.BETWEEN, 1.0, unit="m/s"), 0.0, False),
        (criterion("extra", 1.0, required=False), 0.0, False),
        (criterion("still", 0.0), -1.0, False),
    ],
)
def test_the_way_to_a_threshold_is_measured_from_zero(wanted, value, told):
    hint = early_hint(intent(wanted), [row(ALIVE, {wanted.key: value})])
    assert (hint is not None) == told
