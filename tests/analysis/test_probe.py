"""What a probe training says of a reward."""

import pytest

from p2p.analysis.probe import probe_warnings, probed_criteria
from p2p.contracts.intent import Comparison
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.reward import RewardProbe

FAST = {"key": "fast", "title": "Runs", "comparison": Comparison.AT_LEAST, "threshold": 2.0, "unit": "m/s"}
HIGH = {
    "key": "high",
    "title": "Keeps up",
    "comparison": Comparison.BETWEEN,
    "threshold": 1.0,
    "upper": 1.4,
    "unit": "m",
}


def score(kind, value, met_share=0.0, credit=0.0):
    fields = {"upper": None, "low": None, "high": None, "required": True, "weight": 1.0, **kind}
    return CriterionScore(value=value, met_share=met_share, met=met_share >= 0.8, score=credit, **fields)


def probe(returns, *criteria):
    """A probe with these mean returns, each known to 1."""
    return RewardProbe(
        steps=tuple(range(0, 1000 * len(returns), 1000)),
        returns=returns,
        intervals=tuple((mean - 1.0, mean + 1.0) for mean in returns),
        criteria=probed_criteria(list(zip(*criteria, strict=True))) if criteria else (),
    )


def test_a_return_that_rises_with_a_criterion_is_no_cause_for_a_warning():
    assert probe_warnings(probe((0.0, 10.0), (score(FAST, 0.0), score(FAST, 0.5)))) == ()
    assert probe_warnings(probe((0.0, 10.0))) == (), "without a sentence there is nothing to hold it against"


def test_a_return_that_rises_alone_is_earned_by_something_else():
    (warning,) = probe_warnings(probe((0.0, 10.0), (score(FAST, 0.1), score(FAST, -1.0))))
    assert "from 0 to 10 while no criterion came nearer" in warning
    assert "Runs: 0.1 to -1 m/s, wanted ≥ 2 m/s" in warning


def test_what_the_untrained_policy_meets_does_not_hide_that_nothing_else_rises():
    standing = (score(HIGH, 1.2, 1.0, 1.0), score(HIGH, 1.2, 1.0, 1.0))
    moving = (score(FAST, 0.0), score(FAST, 0.1))
    found = probe((0.0, 10.0), standing, moving)
    assert [one.approached for one in found.criteria] == [None, pytest.approx(0.05)]
    assert "earned by something that was not asked for" in probe_warnings(found)[0]
    assert probe_warnings(probe((0.0, 10.0), standing)) == (), "all that was asked is met from the start"


def test_what_the_sentence_is_about_going_away_is_told_whatever_else_rises():
    backward, steps = (
        (score(FAST | {"weight": 2.0}, 0.0), score(FAST | {"weight": 2.0}, -3.0)),
        (
            score(HIGH, 0.5),
            score(HIGH, 0.9),
        ),
    )
    (warning,) = probe_warnings(probe((0.0, 10.0), steps, backward))
    assert "what was asked for got worse (Runs: 0 to -3 m/s, wanted ≥ 2 m/s)" in warning
    equal = (score(FAST, 0.0), score(FAST, -3.0))
    assert probe_warnings(probe((0.0, 10.0), (score(HIGH, 0.5), score(HIGH, 1.2, 1.0, 1.0)), equal)) == (), (
        "as far as the other came"
    )
    assert probe_warnings(probe((0.0, 10.0), steps, (score(FAST, 0.0), score(FAST, -0.1)))) == ()


@pytest.mark.parametrize("returns", [(5.0, 5.5, 6.9), (5.0, 4.0, -3.0)])
def test_a_return_that_does_not_leave_its_interval_means_that_nothing_was_learnt(returns):
    (warning,) = probe_warnings(probe(returns, tuple(score(FAST, 0.0) for _ in returns)))
    assert "nothing was learnt" in warning


@pytest.mark.parametrize(
    ("before", "after", "approached"),
    [
        (score(HIGH, 0.5), score(HIGH, 0.75), 0.5),
        (score(HIGH, 2.4), score(HIGH, 1.9), 0.5),
        (score(HIGH, 0.8), score(HIGH, 0.6), -1.0),
        (score(HIGH, None), score(HIGH, None, 0.4, 0.3), 0.4),
        (score(FAST, 1.9, 0.2, 0.4), score(FAST, 1.9, 0.2, 0.7), 0.5),
    ],
)
def test_how_near_a_criterion_came_is_told_by_its_value_its_credit_or_the_rollouts_that_meet_it(
    before, after, approached
):
    (found,) = probed_criteria([(before,), (after,)])
    assert found.approached == pytest.approx(approached)
