"""`base = "free"` beside a model: a robot that its file fixes to the world stands on the floor and can walk."""

import re
from pathlib import Path

import mujoco
import pytest
from robot_files import PONY

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.worker.description.describe import describe_robot

BLOCK = '<inertial><mass value="{}"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
FREE = 'base = "free"'
FIXED_PONY = PONY.read_text().replace('<freejoint name="base"/>', "").replace("0 0 0.33 1 0 0 0 ", "")


def urdf(above: str = "") -> str:
    """A trunk of 4 kg with a battery of 2 kg fixed to it, on two broad legs of 1 kg."""
    legs = "".join(
        f'<joint name="{side}" type="revolute"><parent link="trunk"/><child link="{side}_leg"/><axis xyz="0 1 0"/>'
        f'<origin xyz="0 {y} 0"/><limit lower="-1" upper="1" effort="20" velocity="5"/></joint>'
        f'<link name="{side}_leg">{BLOCK.format(1)}<collision><origin xyz="0 0 -0.2"/>'
        '<geometry><box size="0.2 0.05 0.4"/></geometry></collision></link>'
        for side, y in (("left", 0.1), ("right", -0.1))
    )
    return (
        f'<robot name="biped">{above}<link name="trunk">{BLOCK.format(4)}<collision><geometry><box size=".2 .2 .1"/>'
        f'</geometry></collision></link><link name="battery">{BLOCK.format(2)}</link><joint name="holder" type="fixed">'
        f'<parent link="trunk"/><child link="battery"/><origin xyz="0 0 0.1"/></joint>{legs}</robot>'
    )


def on_world(kind: str) -> str:
    axis = '<axis xyz="0 0 1"/><limit lower="0" upper="1" effort="9" velocity="1"/>' if kind == "prismatic" else ""
    return (
        f'<link name="world"/><joint name="mount" type="{kind}"><parent link="world"/><child link="trunk"/>'
        f'<origin xyz="0 0 1"/>{axis}</joint>'
    )


def described(file: Path, text: str, toml: str = FREE) -> EnvSpec:
    file.write_text(text)
    file.with_suffix(".toml").write_text(toml)
    return describe_robot("robot", file)


def lowest(spec: EnvSpec) -> float:
    """The lowest point of any contact with the floor in the stance [m]."""
    assert spec.robot is not None
    model = mujoco.MjModel.from_xml_string(spec.robot.xml)
    data = mujoco.MjData(model)
    data.qpos[:] = spec.robot.stance
    mujoco.mj_forward(model, data)
    assert data.ncon
    return float(min(contact.dist for contact in data.contact))


@pytest.mark.parametrize("above", ["", on_world("fixed")], ids=["a root of its own", "a root that is fixed to a world"])
def test_a_urdf_gets_a_floating_base_and_keeps_all_its_masses(above: str, tmp_path: Path) -> None:
    fixed = described(tmp_path / "fixed.urdf", urdf(above), "")
    spec = described(tmp_path / "biped.urdf", urdf(above))
    assert spec.robot is not None
    assert "base: free, as biped.toml says; its file fixes it to the world" in spec.robot.choices
    assert fixed.total_mass == pytest.approx(2.0), "MuJoCo merges the trunk into the world"
    assert spec.total_mass == pytest.approx(8.0)
    assert (spec.nq, fixed.nq) == (9, 2)
    assert spec.morphology.torso == "trunk"
    assert len(spec.morphology.feet) == 2
    assert spec.robot.healthy is not None
    assert spec.rest_height == pytest.approx(0.4, abs=0.02)
    assert abs(lowest(spec)) < 0.005


def test_what_is_fixed_to_the_ground_is_told_of_the_key(tmp_path: Path) -> None:
    spec = described(tmp_path / "biped.urdf", urdf(), "")
    assert spec.robot is not None
    assert any('base = "free" in biped.toml' in choice for choice in spec.robot.choices)


def test_an_mjcf_robot_gets_a_free_joint_and_its_keyframes_go_on(tmp_path: Path) -> None:
    spec = described(tmp_path / "pony.xml", FIXED_PONY)
    free = describe_robot("pony", PONY)
    assert spec.morphology == free.morphology
    assert spec.total_mass == free.total_mass
    assert spec.rest_height == pytest.approx(free.rest_height, abs=1e-3)
    assert spec.robot is not None
    assert "stance: the keyframe 'home', settled for 3 s" in spec.robot.choices


def test_what_comes_after_the_robot_keeps_its_place_in_its_keyframes(tmp_path: Path) -> None:
    door = '<body pos="1 3 1"><joint name="door"/><geom size="0.1"/></body></worldbody>'
    text = re.sub(r'-1.4" ctrl="[^"]*"', '-1.4 0.25"', FIXED_PONY.replace("</worldbody>", door))
    spec = described(tmp_path / "pony.xml", text)
    assert spec.robot is not None
    assert len(spec.robot.stance) == 16
    assert spec.robot.stance[7:9] == pytest.approx((0.7, -1.4), abs=0.1)
    assert spec.robot.stance[15] == pytest.approx(0.25, abs=0.01)


REFUSED = {
    "a URDF that floats": ("a.urdf", urdf(on_world("floating")), "world of a.urdf is free already: leave the key out"),
    "a URDF on a slide": ("a.urdf", urdf(on_world("prismatic")), "the base of a.urdf moves by mount"),
    "a URDF with two roots": ("a.urdf", urdf('<link name="crate"/>'), "has the roots crate, trunk: expected one"),
    "MJCF that is free": ("a.xml", PONY.read_text(), "trunk of a.xml is free already: leave the key out"),
    "MJCF in a plane": (
        "a.xml",
        FIXED_PONY.replace('pos="0 0 0.4">', 'pos="0 0 0.4"><joint name="along" type="slide" axis="1 0 0"/>'),
        "the base of a.xml moves by along",
    ),
    "no XML": ("a.urdf", "<robot", "MuJoCo does not take a.urdf: XML Error"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    name, text, words = REFUSED[case]
    text = text if "along" not in text else text[: text.index("<keyframe>")] + "</mujoco>"
    with pytest.raises(InvalidInput, match=words):
        described(tmp_path / name, text)
