"""The robots among the examples are taken for what they are drawn as."""

from pathlib import Path

import pytest

from p2p.worker.description.describe import describe_robot

EXAMPLES = Path(__file__).parents[2] / "examples"
ROBOTS = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".xml", ".urdf"))


@pytest.mark.parametrize(
    ("file", "feet", "kinds", "mass"),
    [
        ("rover.xml", ("fl_tyre", "fr_tyre", "rl_tyre", "rr_tyre"), ["torque"] * 4, 5.8),
        ("hexapod.xml", tuple(f"{leg}_foot" for leg in ("lf", "lm", "lr", "rf", "rm", "rr")), ["position"] * 18, 3.58),
        ("dog.urdf", tuple(f"{leg}_foot" for leg in ("fl", "fr", "rl", "rr")), ["position"] * 8, 8.8),
    ],
)
def test_an_example_stands_on_its_feet(file: str, feet: tuple[str, ...], kinds: list[str], mass: float) -> None:
    spec = describe_robot("example", EXAMPLES / file)
    assert spec.robot is not None
    assert spec.morphology.feet == feet
    assert [one.kind for one in spec.robot.control] == kinds
    assert spec.total_mass == pytest.approx(mass)
    assert spec.robot.healthy is not None, "its base is free"
    assert "stance: the model's zero pose, settled for 3 s" in spec.robot.choices
    assert not any("lies on" in choice for choice in spec.robot.choices)


@pytest.mark.parametrize("file", ROBOTS)
def test_every_robot_among_the_examples_is_named_in_the_documents(file: str) -> None:
    assert f"examples/{file}" in (EXAMPLES.parent / "docs" / "robots.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("angle", "told"), [("degree", True), ("radian", False)])
def test_radians_that_are_read_as_degrees_are_told(angle: str, told: bool, tmp_path: Path) -> None:
    legs = "".join(
        f'<body pos="{x} {y} 0"><joint name="hip{x}{y}" axis="0 1 0" range="-0.6 0.6"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".2"/></body>'
        for x in (-0.2, 0.2)
        for y in (-0.1, 0.1)
    )
    (tmp_path / "table.xml").write_text(
        f'<mujoco><compiler angle="{angle}" autolimits="true"/><worldbody><body name="top" pos="0 0 .23"><freejoint/>'
        f'<geom type="box" size=".25 .15 .03" mass="2"/>{legs}</body></worldbody></mujoco>'
    )
    spec = describe_robot("table", tmp_path / "table.xml")
    assert spec.robot is not None
    words = "its joints turn by 1.2 degrees at most: MuJoCo reads the angles of a file in degrees"
    assert any(choice.startswith(words) for choice in spec.robot.choices) is told
