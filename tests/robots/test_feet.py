"""Feet are at the ends of legs, whatever else of the robot touches the floor in its stance."""

from pathlib import Path

import pytest
from robot_files import PONY, SNAKE

from p2p.contracts.env import EnvSpec
from p2p.worker.description.describe import describe_robot

CORNERS = (("fl", 0.3, 0.15), ("fr", 0.3, -0.15), ("rl", -0.3, 0.15), ("rr", -0.3, -0.15))
ANKLE = '<joint axis="0 1 0" range="-1 1" limited="true"/>'


def on_four_legs(leg: str, hull_height: float) -> str:
    """A box on four equal legs, held by servos in the zero pose; `NAME` in a leg's text is the leg's."""
    legs = "".join(f'<body pos="{x} {y} 0">{leg.replace("NAME", name)}</body>' for name, x, y in CORNERS)
    return (
        '<mujoco><compiler angle="radian"/><worldbody><geom name="floor" type="plane" size="0 0 1"/>'
        f'<body name="hull" pos="0 0 {hull_height}"><freejoint/>'
        f'<geom name="hull" type="box" size="0.3 0.1 0.03" mass="3"/>{legs}</body></worldbody></mujoco>'
    )


def thigh(below: str) -> str:
    return f'<joint axis="0 1 0"/><geom name="NAME_thigh" type="capsule" fromto="0 0 0 0 0 -0.15" size="0.02"/>{below}'


KNEELS = thigh(
    '<body pos="0 0 -0.2"><joint axis="0 1 0"/>'
    '<geom name="NAME_shank" type="capsule" fromto="0 0 0 -0.18 0 0" size="0.02"/>'
    '<body pos="-0.2 0 0">{ankle}<geom name="NAME_foot" size="0.02"/></body></body>'
)
ON_HEELS_AND_TOES = thigh(
    '<body pos="0 0 -0.2"><joint axis="0 1 0"/>'
    '<geom name="NAME_heel" type="capsule" fromto="0 -0.03 -0.03 0 0.03 -0.03" size="0.02"/>'
    '<body pos="0.04 0 0"><joint axis="0 1 0"/>'
    '<geom name="NAME_toes" type="capsule" fromto="0.04 -0.03 -0.03 0.04 0.03 -0.03" size="0.02"/></body></body>'
)


MERGED = thigh(
    '<body pos="0 0 -0.15"><joint axis="0 1 0"/>'
    '<geom name="NAME_shank" type="capsule" fromto="0 0 0 0 0 -0.15" size="0.02"/>'
    '<geom name="NAME_FOOT" pos="0 0 -0.15" size="0.02"/></body>'
)
"""As MuJoCo reads a URDF whose feet are fixed to its shanks."""


def described(folder: Path, text: str) -> EnvSpec:
    file = folder / "robot.xml"
    file.write_text(text)
    return describe_robot("robot", file)


def lying_on(spec: EnvSpec) -> str:
    assert spec.robot is not None
    return next((one for one in spec.robot.choices if one.startswith(("it lies on", "beside"))), "")


def each(*parts: str) -> tuple[str, ...]:
    return tuple(f"{name}_{part}" for name, _x, _y in CORNERS for part in parts)


def test_shanks_on_which_a_robot_kneels_are_no_feet(tmp_path: Path) -> None:
    spec = described(tmp_path, on_four_legs(KNEELS.replace("{ankle}", ANKLE), 0.22))
    assert spec.morphology.feet == each("foot")
    assert lying_on(spec) == f"it lies on {', '.join(each('shank'))} in its stance"


def test_a_shank_to_which_the_foot_is_fixed_is_none_either(tmp_path: Path) -> None:
    spec = described(tmp_path, on_four_legs(KNEELS.replace("{ankle}", ""), 0.22))
    assert spec.morphology.feet == each("foot")
    assert lying_on(spec) == f"beside its feet {', '.join(each('shank'))} touch the floor in its stance"


def test_of_a_shank_and_a_foot_in_one_body_that_both_touch_the_foot_is_one(tmp_path: Path) -> None:
    spec = described(tmp_path, on_four_legs(MERGED, 0.32))
    assert spec.morphology.feet == each("FOOT")
    assert lying_on(spec) == f"beside its feet {', '.join(each('shank'))} touch the floor in its stance"
    unnamed = MERGED.replace("FOOT", "end")
    assert described(tmp_path, on_four_legs(unnamed, 0.32)).morphology.feet == each("shank", "end")


def test_heels_and_toes_are_feet_though_toes_hang_on_heels(tmp_path: Path) -> None:
    spec = described(tmp_path, on_four_legs(ON_HEELS_AND_TOES, 0.25))
    assert spec.morphology.feet == each("heel", "toes")
    assert lying_on(spec) == ""


def test_a_robot_that_lies_on_its_trunk_has_feet_at_the_ends_of_its_legs(tmp_path: Path) -> None:
    spread = KNEELS.replace("{ankle}", ANKLE).replace("0 0 0 0 0 -0.15", "0 0 -0.01 0.15 0 -0.01")
    spread = spread.replace('pos="0 0 -0.2"', 'pos="0.2 0 -0.01"')
    spec = described(tmp_path, on_four_legs(spread, 0.03))
    assert spec.morphology.feet == each("foot")
    assert spec.morphology.trunk == (), "it cannot be asked to keep off the floor what it lies on"
    assert lying_on(spec).startswith("it lies on hull, ")


@pytest.mark.parametrize("shorter", [0.01, 0.0], ids=["a hair too short", "as long as the others"])
def test_the_foot_of_a_leg_that_is_too_short_is_one(shorter: float, tmp_path: Path) -> None:
    text = PONY.read_text().replace('name="fr_foot" type="sphere" pos="0 0 -0.18"', 'name="fr_foot" pos="0 0 {}"')
    spec = described(tmp_path, text.format(-0.18 + shorter))
    assert spec.morphology.feet == ("fl_foot", "fr_foot", "rl_foot", "rr_foot")


def test_of_a_robot_without_legs_all_that_touches_counts(tmp_path: Path) -> None:
    tail = ""
    for number in (2, 1):
        geom = f'<geom name="link{number}" type="capsule" fromto="0 0 0 -0.12 0 0" size="0.03"/>'
        tail = f'<body pos="-0.16 0 0"><joint axis="0 0 1"/>{geom}{tail}</body>'
    worm = (
        '<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/><body pos="0 0 0.03"><freejoint/>'
        f'<geom name="head" type="capsule" fromto="0 0 0 -0.12 0 0" size="0.03"/>{tail}</body></worldbody></mujoco>'
    )
    spec = described(tmp_path, worm)
    assert spec.morphology.feet == ("head", "link1", "link2")
    assert lying_on(spec) == ""


def test_a_snake_stands_on_its_wheels() -> None:
    spec = describe_robot("snake", SNAKE)
    assert len(spec.morphology.feet) == 12, "a pair of wheels under each of six links"
    assert lying_on(spec) == ""
