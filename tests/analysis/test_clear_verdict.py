"""The table of the rule by which a training may end early."""

from math import comb

import pytest

from p2p.analysis.clear_verdict import clearly_passes, may_pass_with_more
from p2p.analysis.predicates import Measurement
from p2p.analysis.scoring import Scores, score
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.training import Rollout

SPEED = Predicate(
    statistic=Statistic.MEAN, feature="speed", comparison=Comparison.AT_LEAST, threshold=1.0, unit="m/s", margin=1.0
)


def asked(*keys: str, eyes: bool = False, optional: str = "") -> Intent:
    def criterion(key: str) -> Criterion:
        looks = eyes and key == keys[-1]
        return Criterion(
            key=key,
            title=key,
            description="",
            category=Category.GAIT,
            predicate=None if looks else SPEED,
            required=key != optional,
        )

    return Intent(prompt="", env_id="E", criteria=tuple(criterion(key) for key in keys))


def scored(intent: Intent, partial: list[dict[str, float]]) -> Scores:
    """By partial credits of every rollout; a criterion is met with the whole credit, and without one left to eyes."""
    measured = [
        tuple(
            Measurement(c.key, row.get(c.key), row.get(c.key, 0.0), row.get(c.key) == 1.0, visual=c.key not in row)
            for c in intent.criteria
        )
        for row in partial
    ]
    rollouts = [Rollout(seed=seed, episode_return=0.0, length=5) for seed in range(len(partial))]
    return score(intent, measured, rollouts)


@pytest.mark.parametrize(
    ("case", "intent", "partial", "needed", "expected"),
    [
        ("all of twenty", asked("a"), [{"a": 1.0}] * 20, 0.8, True),
        ("all of sixteen are enough", asked("a"), [{"a": 1.0}] * 16, 1.0, True),
        ("all of fifteen are too few", asked("a"), [{"a": 1.0}] * 15, 0.8, False),
        ("one of twenty fails", asked("a"), [{"a": 1.0}] * 19 + [{"a": 0.9}], 0.8, False),
        ("three of forty may fail", asked("a"), [{"a": 1.0}] * 37 + [{"a": 0.9}] * 3, 0.8, True),
        ("four of forty may not", asked("a"), [{"a": 1.0}] * 36 + [{"a": 0.9}] * 4, 0.8, False),
        (
            "each meets another one",
            asked("a", "b"),
            [{"a": 1.0, "b": 0.9}, {"a": 0.9, "b": 1.0}] * 10,
            0.8,
            False,
        ),
        ("an optional one costs score", asked("a", "b", optional="b"), [{"a": 1.0, "b": 0.7}] * 20, 0.86, False),
        ("but no success", asked("a", "b", optional="b"), [{"a": 1.0, "b": 0.7}] * 20, 0.85, True),
        (
            "its spread widens the interval",
            asked("a", "b", optional="b"),
            [{"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.4}] * 10,
            0.8,
            False,
        ),
        ("eyes have still to look", asked("a", "b", eyes=True), [{"a": 1.0}] * 20, 0.8, False),
        ("even where they are optional", asked("a", "b", eyes=True, optional="b"), [{"a": 1.0}] * 20, 0.8, False),
        ("only eyes could tell", asked("a", eyes=True), [{}] * 20, 0.8, False),
    ],
)
def test_a_verdict_is_clear_where_the_intervals_lie_above_what_is_needed(
    case: str, intent: Intent, partial: list[dict[str, float]], needed: float, expected: bool
) -> None:
    assert clearly_passes(intent, scored(intent, partial), needed) is expected, case


@pytest.mark.parametrize(
    ("case", "intent", "partial", "expected"),
    [
        ("three of twenty fail", asked("a"), [{"a": 1.0}] * 17 + [{"a": 0.9}] * 3, True),
        ("four of twenty fail", asked("a"), [{"a": 1.0}] * 16 + [{"a": 0.9}] * 4, False),
        ("eight of eight were too few", asked("a"), [{"a": 1.0}] * 8, True),
        ("fourteen are too few, too", asked("a"), [{"a": 1.0}] * 7, False),
        ("eyes have still to look", asked("a", "b", eyes=True), [{"a": 1.0}] * 19 + [{"a": 0.9}], False),
        ("only eyes could tell", asked("a", eyes=True), [{}] * 20, False),
    ],
)
def test_as_many_rollouts_again_are_worth_it_where_they_could_make_a_pass_clear(
    case: str, intent: Intent, partial: list[dict[str, float]], expected: bool
) -> None:
    assert may_pass_with_more(intent, scored(intent, partial)) is expected, case


@pytest.mark.parametrize(("share", "first_alone", "with_more"), [(0.8, 0.012, 0.035), (0.95, 0.36, 0.87)])
def test_how_often_a_policy_passes_clearly_is_as_the_rule_says(
    share: float, first_alone: float, with_more: float
) -> None:
    intent, n = asked("a"), 20

    def probability(successes: int) -> float:
        return comb(n, successes) * share**successes * (1 - share) ** (n - successes)

    def rollouts(successes: int, total: int) -> Scores:
        return scored(intent, [{"a": 1.0}] * successes + [{"a": 0.9}] * (total - successes))

    at_once = {k for k in range(n + 1) if clearly_passes(intent, rollouts(k, n), 0.8)}
    again = {k for k in range(n + 1) if k not in at_once and may_pass_with_more(intent, rollouts(k, n))}
    later = sum(
        probability(k) * probability(j)
        for k in again
        for j in range(n + 1)
        if clearly_passes(intent, rollouts(k + j, 2 * n), 0.8)
    )
    alone = sum(probability(k) for k in at_once)
    assert alone == pytest.approx(first_alone, rel=0.05)
    assert alone + later == pytest.approx(with_more, rel=0.05)
