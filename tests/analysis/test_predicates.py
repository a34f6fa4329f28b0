import json

import numpy as np
import pytest
from pydantic import ValidationError

from p2p.analysis.predicates import Measurement, measure
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import (
    CONDITIONAL,
    Bound,
    Category,
    Comparand,
    Comparison,
    Criterion,
    Intent,
    Predicate,
    Statistic,
    Window,
)

DT = 0.5
LEAST, MOST, BETWEEN = Comparison.AT_LEAST, Comparison.AT_MOST, Comparison.BETWEEN
X_OVER_2 = Bound(feature="x", comparison=LEAST, threshold=2.0)


def predicate(statistic, comparison=LEAST, threshold=0.0, upper=None, margin=1.0, where=(X_OVER_2,), **window):
    conditional = Statistic(statistic) in CONDITIONAL
    return Predicate(
        statistic=statistic,
        feature=None if conditional else "x",
        where=where if conditional else (),
        comparison=comparison,
        threshold=threshold,
        upper=upper,
        unit="1",
        margin=margin,
        percent=50.0 if statistic == "percentile" else None,
        window=Window(**window),
    )


def criterion(key, claim, after=None, **more):
    return Criterion(
        key=key, title=key, description="", category=Category.DYNAMICS, predicate=claim, after=after, **more
    )


def measure_all(*criteria, dt=DT, **features) -> dict[str, Measurement]:
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in features.items()}
    intent = Intent(prompt="", env_id="E", criteria=criteria)
    return {m.key: m for m in measure(intent, arrays, dt)}


def value_of(claim, **features):
    return measure_all(criterion("c", claim), **features)["c"].value


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("mean", 2.0),
        ("min", 0.0),
        ("max", 4.0),
        ("final", 2.0),
        ("change", 2.0),
        ("steadiness", 0.5),
        ("count", 2.0),
        ("fraction", 5 / 8),
        ("longest_hold", 3 * DT),
        ("start", 0.0),
        ("range", 4.0),
        ("std", np.sqrt(1.5)),
        ("percentile", 2.0),
        ("rate", 2.0 / (7 * DT)),
        ("count_events", 2.0),
        ("count_steps", 5.0),
        ("event_rate", 2.0 / (8 * DT)),
    ],
)
def test_each_statistic_of_one_rollout(statistic, expected):
    assert value_of(predicate(statistic), x=[0, 2, 4, 3, 1, 1, 3, 2]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("x", "count", "fraction", "hold"),
    [
        ([0, 0, 0], 0, 0.0, 0.0),
        ([3, 3, 3], 1, 1.0, 1.5),
        ([3, 0, 3], 2, 2 / 3, 0.5),
        ([0, 3, 3], 1, 2 / 3, 1.0),
        ([3], 1, 1.0, 0.5),
        ([2], 1, 1.0, 0.5),
    ],
)
def test_where_is_counted_from_the_first_step_to_the_last(x, count, fraction, hold):
    assert value_of(predicate("count"), x=x) == count
    assert value_of(predicate("fraction"), x=x) == pytest.approx(fraction)
    assert value_of(predicate("longest_hold"), x=x) == hold


@pytest.mark.parametrize(
    ("x", "steadiness"),
    [
        ([-2.0] * 12, 1.0),
        ([0.0] * 2 + [1.0] * 10, 1.2),
        ([2.0] * 6 + [0.0] * 6, 0.0),
        ([3.0] * 6 + [1.0] * 6, 0.5),
        ([3.0] * 10 + [-3.0] * 2, -1.5),
        ([1.0, -1.0] * 6, 0.0),
        ([1.0] * 5, 0.0),
    ],
)
def test_steadiness_is_the_least_mean_of_the_last_five_sixths_as_a_share_of_the_mean(x, steadiness):
    assert value_of(predicate("steadiness"), x=x) == pytest.approx(steadiness)


def test_every_bound_of_where_must_hold_at_the_same_step():
    calm = Bound(feature="y", comparison=BETWEEN, threshold=-1.0, upper=1.0)
    claim = predicate("fraction", where=(X_OVER_2, calm))
    assert value_of(claim, x=[2, 2, 0, 0], y=[0, 5, 0, 5]) == 0.25


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({}, 4.5),
        ({"within_s": 1.0}, 0.5),
        ({"within_s": 0.1}, 0.0),
        ({"within_s": 100.0}, 4.5),
        ({"last_share": 0.2}, 8.5),
        ({"last_share": 0.01}, 9.0),
        ({"within_s": 2.0, "last_share": 0.5}, 2.5),
        ({"after": (Bound(feature="x", comparison=LEAST, threshold=5.0),)}, 7.0),
        ({"after": (Bound(feature="x", comparison=LEAST, threshold=5.0),), "within_s": 1.0}, 5.5),
        ({"after": (Bound(feature="x", comparison=LEAST, threshold=5.0),), "last_share": 0.4}, 8.5),
        ({"after": (Bound(feature="x", comparison=LEAST, threshold=50.0),)}, None),
    ],
)
def test_a_window_is_started_then_cut_then_shortened_to_its_last_share(window, expected):
    assert value_of(predicate("mean", **window), x=range(10)) == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("comparison", "threshold", "upper", "value", "score"),
    [
        (LEAST, 3.0, None, 3.0, 1.0),
        (LEAST, 3.0, None, 9.0, 1.0),
        (LEAST, 3.0, None, 2.0, 0.5),
        (LEAST, 3.0, None, 1.0, 0.0),
        (LEAST, 3.0, None, -9.0, 0.0),
        (MOST, 3.0, None, 3.0, 1.0),
        (MOST, 3.0, None, 3.5, 0.75),
        (MOST, 3.0, None, 6.0, 0.0),
        (BETWEEN, 3.0, 4.0, 3.5, 1.0),
        (BETWEEN, 3.0, 4.0, 2.5, 0.75),
        (BETWEEN, 3.0, 4.0, 5.0, 0.5),
        (BETWEEN, 3.0, 4.0, 7.0, 0.0),
    ],
)
def test_partial_credit_falls_linearly_to_zero_at_the_margin(comparison, threshold, upper, value, score):
    claim = predicate("final", comparison, threshold, upper, margin=2.0)
    got = measure_all(criterion("c", claim), x=[value])["c"]
    assert got.score == pytest.approx(score)
    assert got.met == (score == 1.0)


def test_a_time_that_is_met_to_the_step_is_met_despite_rounding():
    claim = predicate("longest_hold", LEAST, 0.3)
    assert measure_all(criterion("c", claim), x=[2, 2, 2], dt=0.1)["c"].met
    claim = predicate("longest_hold", MOST, 0.3)
    assert measure_all(criterion("c", claim), x=[2, 2, 2], dt=0.1)["c"].met


FIRST_MET = [
    # statistic, comparison, threshold, upper, x, step at which it was first met
    ("max", LEAST, 2, None, [0, 2, 0, 0], 1),
    ("max", LEAST, 2, None, [2, 0, 0, 0], 0),
    ("max", MOST, 2, None, [0, 2, 0, 0], 3),
    ("max", BETWEEN, 2, 3, [0, 2, 0, 0], 1),
    ("max", BETWEEN, 0, 3, [0, 2, 0, 0], 3),
    ("max", BETWEEN, 2, 3, [0, 2, 0, 9], None),
    ("min", MOST, 1, None, [3, 1, 3, 3], 1),
    ("min", LEAST, 1, None, [3, 1, 3, 3], 3),
    ("final", LEAST, 2, None, [0, 0, 2, 2], 2),
    ("final", LEAST, 2, None, [2, 2, 2, 2], 3),
    ("final", LEAST, 2, None, [0, 2, 2, 0], None),
    ("change", LEAST, 2, None, [5, 6, 7, 8], 2),
    ("change", MOST, -2, None, [5, 4, 3, 2], 2),
    ("change", MOST, 2, None, [5, 5, 5, 5], 3),
    ("change", BETWEEN, -1, 1, [5, 9, 5, 5], 3),
    ("count", LEAST, 2, None, [2, 0, 2, 0], 2),
    ("count", MOST, 2, None, [2, 0, 2, 0], 3),
    ("count", BETWEEN, 1, 1, [0, 2, 0, 0], 1),
    ("count", BETWEEN, 1, 1, [0, 2, 0, 2], None),
    ("count", BETWEEN, 0, 1, [0, 2, 0, 0], 3),
    ("longest_hold", LEAST, 1.0, None, [2, 0, 2, 2], 3),
    ("longest_hold", MOST, 1.0, None, [2, 2, 0, 0], 3),
    ("mean", LEAST, 2, None, [9, 0, 0, 0], 3),
    ("mean", MOST, 9, None, [0, 0, 0, 0], 3),
    ("fraction", LEAST, 0.5, None, [2, 2, 0, 0], 3),
    ("fraction", MOST, 0.5, None, [0, 0, 2, 2], 3),
    ("start", LEAST, 2, None, [2, 0, 0, 0], 0),
    ("range", LEAST, 2, None, [5, 6, 7, 0], 2),
    ("range", MOST, 2, None, [5, 6, 7, 6], 3),
    ("count_steps", LEAST, 2, None, [2, 0, 2, 2], 2),
    ("std", MOST, 2, None, [5, 5, 5, 5], 3),
    ("rate", LEAST, 2, None, [0, 5, 5, 5], 3),
]


@pytest.mark.parametrize(("statistic", "comparison", "threshold", "upper", "x", "step"), FIRST_MET)
def test_when_a_criterion_was_first_met(statistic, comparison, threshold, upper, x, step):
    got = measure_all(criterion("c", predicate(statistic, comparison, threshold, upper)), x=x)["c"]
    assert got.met_step == step
    assert got.met == (step is not None)


def test_the_next_criterion_reads_only_the_steps_after_the_one_before_was_met():
    jump = criterion("jump", predicate("max", LEAST, 5.0))
    rest = criterion("rest", predicate("mean", BETWEEN, 0.0, 1.0), after="jump")
    got = measure_all(jump, rest, x=[3, 3, 5, 1, 0, 2])
    assert got["jump"].met_step == 2
    assert got["rest"].value == 1.0
    assert got["rest"].met


def test_a_change_after_an_earlier_criterion_starts_at_the_step_after_it():
    left = criterion("left", predicate("change", LEAST, 1.0, within_s=2.0))
    right = criterion("right", predicate("change", MOST, -1.0), after="left")
    got = measure_all(left, right, x=[0.0, 0.5, 1.0, 1.2, 1.2, 0.6, 0.0])
    assert got["right"].value == pytest.approx(-1.2)


def test_the_next_criterion_is_not_measured_when_the_one_before_was_not_met():
    jump = criterion("jump", predicate("max", LEAST, 50.0))
    rest = criterion("rest", predicate("mean", BETWEEN, 0.0, 99.0), after="jump")
    assert measure_all(jump, rest, x=[3, 3, 5, 1])["rest"] == Measurement("rest", None, 0.0, False)


def test_a_chain_of_three_stops_at_the_first_that_is_not_met():
    chain = (
        criterion("one", predicate("max", LEAST, 1.0)),
        criterion("two", predicate("max", LEAST, 50.0), after="one"),
        criterion("three", predicate("max", LEAST, 0.0), after="two"),
    )
    got = measure_all(*chain, x=[1, 2, 3])
    assert [got[key].value for key in ("one", "two", "three")] == [3.0, 3.0, None]


def test_nothing_is_left_to_measure_after_what_is_only_met_at_the_end():
    low = criterion("low", predicate("max", MOST, 9.0))
    rest = criterion("rest", predicate("mean"), after="low")
    got = measure_all(low, rest, x=[1, 2, 3])
    assert got["low"].met
    assert got["rest"].value is None


def test_a_window_with_its_own_start_waits_for_it_after_the_earlier_criterion():
    up = Bound(feature="x", comparison=LEAST, threshold=3.0)
    jump = criterion("jump", predicate("max", LEAST, 5.0))
    again = criterion("again", predicate("final", LEAST, 0.0, after=(up,), within_s=DT), after="jump")
    assert measure_all(jump, again, x=[4, 5, 1, 3, 9])["again"].value == 3.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("statistic", list(Statistic))
@pytest.mark.parametrize("comparison", [LEAST, MOST])
def test_a_value_that_is_not_finite_is_never_met(statistic, comparison, bad):
    threshold = -9e9 if comparison is LEAST else 9e9
    got = measure_all(criterion("c", predicate(statistic, comparison, threshold)), x=[1, bad, 1])["c"]
    assert got == Measurement("c", None, 0.0, False)


def test_a_value_that_is_not_finite_outside_the_window_does_no_harm():
    assert value_of(predicate("mean", within_s=1.0), x=[1, 3, np.nan]) == 2.0


def test_a_rollout_without_steps_is_not_measured():
    assert value_of(predicate("mean"), x=[]) is None


def test_a_criterion_for_eyes_is_marked_and_so_is_what_comes_after_it():
    got = measure_all(criterion("graceful", None), criterion("then", predicate("mean"), after="graceful"), x=[1, 2, 3])
    assert got["graceful"] == Measurement("graceful", None, 0.0, False, visual=True)
    assert got["then"].visual


def test_an_unknown_feature_is_refused_with_those_that_are_known():
    with pytest.raises(UnknownName, match="Known: height, y"):
        measure_all(criterion("c", predicate("mean")), height=[1], y=[1])


def test_an_unknown_feature_in_a_window_is_refused_even_when_it_is_never_reached():
    claim = predicate("mean", after=(Bound(feature="z", comparison=LEAST, threshold=0.0),))
    with pytest.raises(UnknownName, match="'z'"):
        measure_all(criterion("c", claim), x=[])


def test_features_of_different_lengths_are_refused():
    with pytest.raises(InvalidInput, match="same T"):
        measure_all(criterion("c", predicate("mean")), x=[1, 2], y=[1])


@pytest.mark.parametrize("dt", [0.0, -0.1, float("nan")])
def test_a_control_period_that_is_not_positive_is_refused(dt):
    with pytest.raises(InvalidInput, match="dt"):
        measure_all(criterion("c", predicate("mean")), x=[1], dt=dt)


def test_a_magnitude_counts_either_sign():
    either = predicate("max", threshold=3.0).model_copy(update={"absolute": True})
    assert value_of(either, x=[0.0, -3.5, 1.0]) == 3.5
    assert value_of(predicate("max", threshold=3.0), x=[0.0, -3.5, 1.0]) == 1.0
    bound = X_OVER_2.model_copy(update={"absolute": True})
    assert value_of(predicate("count", where=(bound,)), x=[-2.0, 0.0, 2.0, 1.0]) == 2.0
    after = predicate("final", after=(bound,)).model_copy(update={"absolute": True})
    assert value_of(after, x=[0.0, -4.0, -1.0]) == 1.0


def test_what_counts_steps_has_magnitudes_in_its_bounds_alone():
    with pytest.raises(ValueError, match="absolute"):
        Predicate.model_validate({**predicate("count").model_dump(), "absolute": True})


TOUCHING = Bound(feature="x", comparison=LEAST, threshold=1.0)


def sampled(statistic, at, x, y, comparison=LEAST, threshold=0.0, **more):
    claim = Predicate(
        statistic=statistic,
        feature="y",
        where=(TOUCHING,),
        at=at,
        comparison=comparison,
        threshold=threshold,
        unit="m/s",
        margin=1.0,
        **more,
    )
    return measure_all(criterion("c", claim), x=x, y=y)["c"]


@pytest.mark.parametrize(
    ("statistic", "at", "more", "expected"),
    [
        ("mean", "while", {}, (1 + 3 + 4 + 6) / 4),
        ("max", "onset", {}, 6.0),
        ("mean", "onset", {}, (3 + 6) / 2),
        ("start", "onset", {}, 3.0),
        ("final", "end", {}, 4.0),
        ("mean", "end", {}, (1 + 4) / 2),
        ("mean", "onset", {"least_s": 2 * DT}, 3.0),
        ("max", "while", {"least_s": 2 * DT}, 4.0),
        ("mean", "onset", {"window": Window(last_share=5 / 7)}, (3 + 6) / 2),
        ("mean", "onset", {"window": Window(last_share=4 / 7)}, 6.0),
        ("mean", "end", {"window": Window(within_s=5 * DT)}, (1 + 4) / 2),
        ("mean", "end", {"window": Window(within_s=3 * DT)}, 1.0),
        ("mean", "onset", {"least_s": 3 * DT}, None),
    ],
)
def test_a_value_is_read_only_at_the_steps_that_are_named(statistic, at, more, expected):
    """The phase at the first step has no onset, as nobody knows what was before; the one at the last step no end."""
    x = [1, 0, 1, 1, 0, 0, 1]
    y = [1, 2, 3, 4, 5, 5, 6]
    found = sampled(statistic, at, x, y, **more).value
    assert found == (expected and pytest.approx(expected))


def test_what_is_read_at_events_is_first_met_at_the_event_or_at_the_end_of_the_window():
    x, y = [0, 1, 0, 1, 0, 1, 0], [9, 1, 9, 5, 9, 2, 9]
    assert sampled("max", "onset", x, y, LEAST, 5.0).met_step == 3
    assert sampled("max", "onset", x, y, MOST, 5.0).met_step == 6
    assert sampled("start", "onset", x, y, LEAST, 1.0).met_step == 1


@pytest.mark.parametrize(
    ("statistic", "least_s", "expected"),
    [
        ("count_events", None, 3.0),
        ("count_events", 2 * DT, 2.0),
        ("count_events", 3 * DT, 1.0),
        ("count_steps", 2 * DT, 5.0),
        ("fraction", 2 * DT, 5 / 8),
        ("longest_hold", 3 * DT, 3 * DT),
        ("longest_hold", 4 * DT, 0.0),
    ],
)
def test_phases_that_are_too_short_do_not_count(statistic, least_s, expected):
    claim = predicate(statistic).model_copy(update={"least_s": least_s})
    assert value_of(claim, x=[2, 0, 2, 2, 0, 2, 2, 2]) == pytest.approx(expected)


def compared(combination, first, second, threshold=0.0, **more):
    reference = {"statistic": "mean", "feature": "y", "combination": combination, **more}
    claim = predicate("mean", LEAST, threshold).model_copy(update={"versus": Comparand(**reference)})
    return measure_all(criterion("c", claim), x=first, y=second)["c"]


@pytest.mark.parametrize(
    ("combination", "first", "second", "expected"),
    [
        ("difference", [3, 5], [1, 1], 3.0),
        ("ratio", [3, 5], [8, 8], 0.5),
        ("ratio", [3, 5], [-1, 1], None),
        ("asymmetry", [3, 5], [4, 4], 0.0),
        ("asymmetry", [3, 5], [1, 1], 0.75),
        ("asymmetry", [1, 1], [0, 0], 1.0),
        ("asymmetry", [1, 1], [-1, -1], 2.0),
        ("asymmetry", [0, 0], [0, 0], 0.0),
    ],
)
def test_two_statistics_are_compared(combination, first, second, expected):
    assert compared(combination, first, second).value == (expected and pytest.approx(expected))


def test_the_end_is_compared_with_the_start_by_two_windows():
    claim = Predicate(
        statistic="mean",
        feature="x",
        window=Window(last_share=0.25),
        versus=Comparand(statistic="mean", feature="x", window=Window(within_s=DT), combination="difference"),
        comparison=LEAST,
        threshold=6.0,
        unit="1",
        margin=1.0,
    )
    found = measure_all(criterion("c", claim), x=[1, 2, 3, 4, 5, 6, 7, 8])["c"]
    assert (found.value, found.met_step) == (6.5, 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": "onset"},
        {"where": (TOUCHING,)},
        {"percent": 10.0},
        {"statistic": "percentile"},
        {"least_s": 1.0},
        {"statistic": "fraction", "feature": None, "where": (TOUCHING,), "at": "end"},
    ],
)
def test_a_predicate_that_does_not_say_what_it_reads_is_refused(wrong):
    with pytest.raises(ValidationError):
        Predicate(**{**predicate("mean").model_dump(), **wrong})


def test_a_count_in_a_file_of_an_earlier_version_counts_events():
    old = {**predicate("count_events").model_dump(mode="json"), "statistic": "count"}
    for new in ("at", "least_s", "percent", "versus"):
        del old[new]
    assert Predicate.model_validate_json(json.dumps(old)) == predicate("count_events")
