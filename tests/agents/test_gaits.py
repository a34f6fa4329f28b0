"""What sentences that name a gait are judged by, on four legs and on others."""

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.observe import Observe
from p2p.envs.catalog import load
from p2p.rewards.legs import four_feet

AUTHOR = BuiltinAuthor()


def judged(env: str, sentence: str) -> dict[str, object]:
    return {one.key: one.predicate for one in AUTHOR.elicit(sentence, load(env)).criteria}


def test_feet_are_told_apart_by_where_they_are() -> None:
    ant = four_feet(load("Ant-v5"))
    assert ant is not None
    assert ant.front_left == "left_ankle_geom"
    assert ant.rear_left == "right_ankle_geom", "an ant's second leg is called front right, and is behind on the left"
    assert [four_feet(load(env)) for env in ("HalfCheetah-v5", "Humanoid-v5", "Swimmer-v5", "Reacher-v5")] == [None] * 4


@pytest.mark.parametrize("gait", ["trot", "pace", "bound", "gallop"])
def test_a_gait_of_four_legs_is_judged_by_the_order_of_the_feet(gait: str) -> None:
    ant = load("Ant-v5")
    intent = AUTHOR.elicit(f"{gait} forward", ant)
    names = {name for one in intent.criteria if one.predicate is not None for name in one.predicate.names()}
    assert sum(name.startswith("phase_offset:") for name in names) == 3
    draft = AUTHOR.write(intent, ant)
    observe = Observe.model_validate(draft.config_changes["observe"])
    assert observe.clock_s is not None
    assert round(observe.clock_s / ant.dt, 6) == round(observe.clock_s / ant.dt), "whole control steps"


def test_the_robots_that_come_with_p2p_walk_and_run_as_they_did() -> None:
    for sentence in ("walk forward", "run forward", "move forward"):
        assert "keeps_its_gait" not in judged("Ant-v5", sentence)
        assert "does_not_bounce" not in judged("Ant-v5", sentence)
    assert judged("HalfCheetah-v5", "bound forward") == judged("HalfCheetah-v5", "gallop forward")
    assert "keeps_its_gait" not in judged("HalfCheetah-v5", "trot forward")


def test_a_gait_for_which_legs_are_missing_is_refused_by_name() -> None:
    with pytest.raises(UnknownPhrase, match=r"pace: the walker has no four legs"):
        AUTHOR.elicit("pace forward", load("Walker2d-v5"))


@pytest.mark.parametrize("sentence", ["walk at a slow pace", "run forward at a pace of 2 m/s"])
def test_a_pace_is_no_gait_where_it_says_how_fast(sentence: str) -> None:
    assert "keeps_its_gait" not in judged("Ant-v5", sentence)


def test_a_robot_whose_y_axis_points_forwards_has_its_feet_where_they_are() -> None:
    ant = load("Ant-v5")
    half = 0.5**0.5
    sideways = ant.model_copy(update={"morphology": ant.morphology.model_copy(update={"upright": (half, 0, 0, -half)})})
    feet, turned = four_feet(ant), four_feet(sideways)
    assert feet is not None
    assert turned is not None
    assert (turned.front_left, turned.front_right) == (feet.rear_left, feet.front_left), "forwards is what was its left"
