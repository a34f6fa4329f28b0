import pytest
from made_up import criterion_score, judgment

from p2p.contracts.intent import Comparison
from p2p.contracts.judgment import CriterionScore, RolloutScore
from p2p.web.pages.strips import EDGE, WIDTH, strip


def criterion(comparison: Comparison = Comparison.AT_LEAST, upper: float | None = None) -> CriterionScore:
    return criterion_score(comparison=comparison, upper=upper)


def rollouts(values: list[float | None]) -> list[RolloutScore]:
    one = RolloutScore(seed=0, episode_return=0, label=None, intent_score=1, success=True, values={})
    return [
        one.model_copy(update={"seed": seed, "values": {"speed": value}, "label": "median" if seed == 0 else None})
        for seed, value in enumerate(values)
    ]


def test_every_rollout_that_was_measured_is_a_dot_in_the_order_of_its_value() -> None:
    drawn = strip(criterion(), rollouts([3.0, 0.0, None, 2.0]))
    assert drawn is not None
    by_value = sorted(drawn.dots, key=lambda dot: dot.value)
    assert [dot.value for dot in by_value] == [0, 2, 3]
    assert [dot.x for dot in by_value] == sorted(dot.x for dot in by_value)
    assert all(EDGE <= dot.x <= WIDTH - EDGE for dot in drawn.dots)
    assert drawn.missing == 1


def test_recorded_rollouts_are_drawn_above_the_others() -> None:
    drawn = strip(criterion(), rollouts([1.0] * 9))
    assert drawn is not None
    assert drawn.dots[-1].label == "median"


def test_equal_values_lie_beside_each_other_and_not_on_each_other() -> None:
    drawn = strip(criterion(), rollouts([2.0] * 5))
    assert drawn is not None
    assert len({dot.y for dot in drawn.dots}) == 5


@pytest.mark.parametrize(
    ("comparison", "upper", "met"),
    [(Comparison.AT_LEAST, None, 3.0), (Comparison.AT_MOST, None, 0.0), (Comparison.BETWEEN, 2.0, 1.5)],
)
def test_what_is_shaded_holds_the_values_that_meet_the_criterion(
    comparison: Comparison, upper: float | None, met: float
) -> None:
    values: list[float | None] = [0.0, 1.5, 3.0]
    drawn = strip(criterion(comparison, upper), rollouts(values))
    assert drawn is not None
    inside = {dot.value for dot in drawn.dots if drawn.allowed[0] <= dot.x <= drawn.allowed[1]}
    assert met in inside
    assert len(inside) < len(values)


def test_a_criterion_that_nobody_measured_has_no_drawing() -> None:
    assert strip(criterion(), rollouts([None])) is None
    assert strip(criterion(), judgment().rollouts[:0]) is None
