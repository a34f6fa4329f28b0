from p2p.contracts.feature_mark import MarkKind
from p2p.contracts.intent import Bound, Category, Combination, Comparand, Comparison, Criterion, Predicate, Statistic
from p2p.service.progress.feature_marks import feature_marks

FAST = Predicate(
    statistic=Statistic.MEAN, feature="velocity_x", comparison=Comparison.AT_LEAST, threshold=3, unit="m/s", margin=2
)


def criterion(predicate: Predicate | None) -> Criterion:
    return Criterion(key="it", title="It", description="", category=Category.GAIT, predicate=predicate)


def test_a_mean_has_its_threshold_on_the_axis_of_its_feature() -> None:
    (mark,) = feature_marks([criterion(FAST)])
    assert (mark.feature, mark.threshold, mark.kind, mark.title) == (
        "velocity_x",
        3,
        MarkKind.STATISTIC,
        "mean ≥ 3 m/s",
    )


def test_a_statistic_in_another_unit_than_its_feature_has_no_line() -> None:
    assert feature_marks([criterion(FAST.model_copy(update={"statistic": Statistic.STEADINESS, "unit": "1"}))]) == ()


def test_a_comparison_of_two_values_has_no_line() -> None:
    versus = Comparand(statistic=Statistic.MEAN, feature="velocity_y", combination=Combination.DIFFERENCE)
    assert feature_marks([criterion(FAST.model_copy(update={"versus": versus}))]) == ()


def test_each_bound_of_a_share_of_time_is_a_line_for_its_own_feature() -> None:
    where = (
        Bound(feature="up", comparison=Comparison.AT_LEAST, threshold=0.7),
        Bound(feature="pitch", comparison=Comparison.BETWEEN, threshold=-0.1, upper=0.1),
    )
    share = Predicate(
        statistic=Statistic.FRACTION,
        where=where,
        comparison=Comparison.AT_LEAST,
        threshold=0.9,
        unit="1",
        margin=0.4,
    )
    marks = feature_marks([criterion(share), criterion(None)])
    assert [(mark.feature, mark.threshold, mark.upper, mark.kind) for mark in marks] == [
        ("up", 0.7, None, MarkKind.STEP),
        ("pitch", -0.1, 0.1, MarkKind.STEP),
    ]
