"""What must be true of predicates whatever is measured."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from p2p.analysis.predicates import Measurement, measure, partial_credit
from p2p.analysis.scoring import score
from p2p.analysis.windows import window_steps
from p2p.contracts.intent import (
    CONDITIONAL,
    Bound,
    Category,
    Comparison,
    Criterion,
    Intent,
    Predicate,
    Statistic,
    Window,
)
from p2p.contracts.training import Rollout

DT = 0.05
VALUES = st.integers(-8, 8).map(lambda n: n / 2)
ROLLOUTS = st.integers(1, 40).flatmap(lambda n: arrays(np.float64, n, elements=VALUES))
THRESHOLDS = st.tuples(VALUES, VALUES).map(sorted)
STATISTICS = st.sampled_from(list(Statistic))
fast = settings(max_examples=60)


def predicate(statistic: Statistic, comparison: Comparison, threshold: float, **more: Any) -> Predicate:
    reads: dict[str, Any] = {"feature": "v"}
    if statistic in CONDITIONAL:
        reads = {"where": (Bound(feature="v", comparison=Comparison.AT_LEAST, threshold=0.0),)}
    if statistic is Statistic.PERCENTILE:
        reads["percent"] = 50.0
    return Predicate(
        statistic=statistic, comparison=comparison, threshold=threshold, unit="1", margin=1.0, **reads, **more
    )


def asked(*predicates: Predicate) -> Intent:
    return Intent(
        prompt="x",
        env_id="Hopper-v5",
        criteria=tuple(
            Criterion(key=f"k{i}", title="t", description="d", category=Category.GAIT, predicate=one)
            for i, one in enumerate(predicates)
        ),
    )


def measured(values: np.ndarray, one: Predicate) -> Measurement:
    features = {"v": values, "time": DT * np.arange(1, len(values) + 1)}
    return measure(asked(one), features, DT)[0]


@fast
@given(ROLLOUTS, STATISTICS, THRESHOLDS)
def test_a_higher_least_value_is_never_easier(values, statistic, thresholds) -> None:
    low, high = (measured(values, predicate(statistic, Comparison.AT_LEAST, t)) for t in thresholds)
    assert low.met >= high.met
    assert low.score >= high.score
    assert low.value == high.value


@fast
@given(ROLLOUTS, STATISTICS, THRESHOLDS)
def test_a_higher_greatest_value_is_never_harder(values, statistic, thresholds) -> None:
    low, high = (measured(values, predicate(statistic, Comparison.AT_MOST, t)) for t in thresholds)
    assert high.met >= low.met
    assert high.score >= low.score


@fast
@given(ROLLOUTS, STATISTICS, VALUES, st.floats(0, 3), st.floats(0, 3))
def test_a_wider_band_is_never_harder(values, statistic, centre, narrow, more) -> None:
    found = [
        measured(values, predicate(statistic, Comparison.BETWEEN, centre - half, upper=centre + half))
        for half in (narrow, narrow + more)
    ]
    assert found[1].met >= found[0].met
    assert found[1].score >= found[0].score


@fast
@given(ROLLOUTS, STATISTICS, VALUES)
def test_full_credit_is_exactly_being_met(values, statistic, threshold) -> None:
    found = measured(values, predicate(statistic, Comparison.AT_LEAST, threshold))
    assert (found.score == 1.0) is found.met
    assert found.met is (found.met_step is not None)


@fast
@given(VALUES, st.floats(0.1, 5), st.floats(-20, 20), st.floats(-20, 20))
def test_credit_falls_with_the_distance_from_the_threshold(threshold, margin, one, other) -> None:
    claim = predicate(Statistic.MAX, Comparison.AT_LEAST, threshold).model_copy(update={"margin": margin})
    near, far = sorted((one, other), key=lambda value: max(0.0, threshold - value))
    assert 0.0 <= partial_credit(claim, far) <= partial_credit(claim, near) <= 1.0


@fast
@given(st.lists(ROLLOUTS, min_size=1, max_size=6), st.randoms(use_true_random=False), VALUES)
def test_the_order_of_episodes_changes_nothing(episodes, chance, threshold) -> None:
    intent = asked(
        predicate(Statistic.MEAN, Comparison.AT_LEAST, threshold),
        predicate(Statistic.COUNT_EVENTS, Comparison.AT_MOST, 2.0),
    )
    mixed = list(episodes)
    chance.shuffle(mixed)
    first, second = (judged(intent, order) for order in (episodes, mixed))
    assert first.success_rate == second.success_rate
    assert (first.low, first.high) == (second.low, second.high)
    assert np.isclose(first.intent_score or 0.0, second.intent_score or 0.0, atol=1e-12)
    for one, other in zip(first.criteria, second.criteria, strict=True):
        assert (one.met, one.met_share) == (other.met, other.met_share)
        assert np.isclose(one.value or 0.0, other.value or 0.0, atol=1e-12)


def judged(intent: Intent, episodes: list[np.ndarray]) -> Any:
    rollouts = [Rollout(seed=i, episode_return=0.0, length=len(v)) for i, v in enumerate(episodes)]
    return score(intent, [measure(intent, {"v": values}, DT) for values in episodes], rollouts)


@fast
@given(ROLLOUTS, st.floats(0.05, 1.0), st.floats(0.01, 3.0))
def test_a_window_is_never_empty_and_ends_with_the_rollout_or_after_its_length(values, share, within) -> None:
    steps = window_steps(Window(last_share=share, within_s=within), {"v": values}, DT, 0)
    assert steps is not None
    assert 0 <= steps.start < steps.stop <= len(values)
    assert steps.stop == min(len(values), max(1, round(within / DT)))


@fast
@given(ROLLOUTS, VALUES)
def test_a_window_begins_at_the_first_step_of_its_event_or_is_not_there(values, threshold) -> None:
    bound = Bound(feature="v", comparison=Comparison.AT_LEAST, threshold=threshold)
    steps = window_steps(Window(after=(bound,)), {"v": values}, DT, 0)
    reached = np.flatnonzero(values >= threshold)
    assert (steps is None) is (len(reached) == 0)
    if steps is not None:
        assert steps == slice(int(reached[0]), len(values))


@fast
@given(st.integers(1, 40), st.sampled_from(["first", "last", "only"]))
def test_events_at_the_edges_count(n, where) -> None:
    """An event at the first step, at the last, and one that is the whole rollout."""
    values = np.full(n, -1.0)
    values[{"first": slice(0, 1), "last": slice(n - 1, n), "only": slice(0, n)}[where]] = 1.0
    assert measured(values, predicate(Statistic.COUNT_EVENTS, Comparison.AT_LEAST, 1.0)).value == 1.0
    held = measured(values, predicate(Statistic.LONGEST_HOLD, Comparison.AT_LEAST, 0.0)).value
    assert held is not None
    assert np.isclose(held, DT * (n if where == "only" else 1))


@fast
@given(ROLLOUTS, STATISTICS, st.integers(0, 39), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_what_is_not_finite_is_not_measured(values, statistic, place, broken) -> None:
    values = values.copy()
    values[place % len(values)] = broken
    found = measured(values, predicate(statistic, Comparison.AT_LEAST, -1.0))
    assert found == replace(found, value=None, score=0.0, met=False, met_step=None)
