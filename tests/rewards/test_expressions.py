import re

import numpy as np
import pytest

from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Predicate
from p2p.envs.catalog import load
from p2p.rewards.expression_values import evaluate
from p2p.rewards.expressions import is_expression, parse_expression, parse_unit, unit_text
from p2p.rewards.part_features import problem_of, read_extra_features

UNITS = {
    "height": "m",
    "pitch": "rad",
    "yaw_turns": "turns",
    "velocity_x": "m/s",
    "velocity_y": "m/s",
    "up": "1",
    "height:head": "m",
    "joint_torque:knee": "N m",
    "joint_velocity:knee": "rad/s",
    "contact_force:left_foot": "N",
}
VALUES = {name: np.linspace(0.1, 0.9, 5) + 0.1 * i for i, name in enumerate(UNITS)}


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("height + 0.6*sin(pitch)", "m", lambda v: v["height"] + 0.6 * np.sin(v["pitch"])),
        ("height:head - height", "m", lambda v: v["height:head"] - v["height"]),
        ("sqrt(velocity_x**2 + velocity_y**2)", "m/s", lambda v: np.hypot(v["velocity_x"], v["velocity_y"])),
        ("hypot(velocity_x, velocity_y) / 2", "m/s", lambda v: np.hypot(v["velocity_x"], v["velocity_y"]) / 2),
        ("-abs(pitch) * 180 / pi", "rad", lambda v: -np.abs(v["pitch"]) * 180 / np.pi),
        ("max(up, 0.5) ** 2", "1", lambda v: np.maximum(v["up"], 0.5) ** 2),
        ("atan2(velocity_y, velocity_x)", "rad", lambda v: np.arctan2(v["velocity_y"], v["velocity_x"])),
        ("velocity_x / height", "1/s", lambda v: v["velocity_x"] / v["height"]),
        ("contact_force:left_foot * velocity_x", "W", lambda v: v["contact_force:left_foot"] * v["velocity_x"]),
        ("clip(up, 0, 0.3)", "1", lambda v: np.clip(v["up"], 0, 0.3)),
    ],
)
def test_an_expression_is_computed_as_numpy_would_and_has_its_unit(text, unit, expected):
    found = parse_expression(text, UNITS)
    assert parse_unit(found.unit) == parse_unit(unit)
    assert np.array_equal(evaluate(found, VALUES), expected(VALUES))


@pytest.mark.parametrize(
    ("text", "character", "why"),
    [
        ("height + pitch", 1, "joins m with rad"),
        ("0.5 * height + pitch", 1, "joins m with rad"),
        ("up + sin(height)", 10, "is in m"),
        ("up * (height - velocity_x)", 7, "joins m with m/s"),
        ("sin(yaw_turns)", 5, "is in turns"),
        ("height + hieght", 10, "did you mean 'height'"),
        ("height:head - height:hed", 15, "did you mean 'height:head'"),
        ("height ** 20", 11, "power"),
        ("height ** pitch", 11, "power"),
        ("height.__class__ + 1", 1, "not allowed"),
        ("__import__('os') + height", 1, "calls '__import__'"),
        ("(lambda: 1)() + height", 2, "not an arithmetic"),
        ("[height][0] + 1", 1, "not allowed"),
        ("height + 'a'", 10, "not a number"),
        ("height + True", 10, "not a number"),
        ("height +", 9, "not an arithmetic"),
        ("height > 1 + 1", 1, "not allowed"),
        ("sin(pitch, pitch)", 1, "takes 1 arguments"),
        ("sin(x=pitch)", 1, "calls 'sin'"),
        ("1e400 + height", 1, "too large"),
        ("height // 2", 1, "operator"),
    ],
)
def test_what_is_wrong_with_an_expression_is_told_with_its_position(text, character, why):
    with pytest.raises(InvalidInput, match=why) as refusal:
        parse_expression(text, UNITS)
    assert f"character {character}" in str(refusal.value)


@pytest.mark.parametrize("text", ["1 + 2", "height" + " + 1" * 60, "(" * 150 + "up" + ")" * 40, "-" * 190 + "height"])
def test_what_reads_nothing_or_is_too_long_is_refused(text):
    with pytest.raises(InvalidInput):
        parse_expression(text, UNITS)


def test_what_is_not_finite_stays_so_and_raises_nothing():
    found = evaluate(parse_expression("height / (up - up)", UNITS), VALUES)
    assert not np.isfinite(found).any()


@pytest.mark.parametrize("unit", ["m", "m/s", "1", "N m", "rad/s", "m/s^3", "N", "W", "turns", "1/s"])
def test_units_are_written_as_they_are_read(unit):
    assert parse_unit(unit_text(parse_unit(unit))) == parse_unit(unit)


def test_only_names_with_operators_are_expressions():
    assert is_expression("height - pitch")
    assert is_expression("sin(pitch)")
    assert not is_expression("slip:left_foot")
    assert not is_expression("contact_geom-3")


ANT = load("Ant-v5")


def reading(feature: str, unit: str, **more: object) -> Predicate:
    return Predicate(
        statistic="mean", feature=feature, comparison="at_least", threshold=0.1, unit=unit, margin=0.1, **more
    )


@pytest.mark.parametrize(
    ("predicate", "why"),
    [
        (reading("height", "m"), ""),
        (reading("slip:left_ankle_geom", "m/s"), ""),
        (reading("impact", "1"), ""),
        (reading("height - height:left_ankle_geom", "m"), ""),
        (reading("height - height:left_ankle_geom", "m/s"), "is in m"),
        (reading("height - pitch", "m"), "character 1.*joins m with rad"),
        (reading("slip:left_ankel_geom", "m/s"), "Did you mean 'slip:left_ankle_geom'"),
        (reading("slip:torso_contact", "m/s"), "does not measure"),
        (reading("contact_force:com", "N"), "does not measure"),
    ],
)
def test_what_a_predicate_reads_is_checked_before_anything_is_trained(predicate, why):
    found = problem_of(predicate, ANT)
    assert re.search(why, found)
    assert bool(found) == bool(why)


def test_only_what_is_named_and_not_there_anyway_is_asked_for():
    asked = read_extra_features(
        {"height", "slip:left_ankle_geom", "height + 1 - up", "up + height:com / height", "env_reward"}, ANT
    )
    assert [part.name for part in asked.parts] == ["height:com", "slip:left_ankle_geom"]
    assert [expression.text for expression in asked.expressions] == ["up + height:com / height"]
    assert asked.plain == {"up", "height"}
