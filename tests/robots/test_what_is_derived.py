"""Choices about robots whose files say little, or say it in unusual ways."""

from pathlib import Path

import mujoco
import pytest
from robot_files import PONY

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.rewards.templates.body_table import body_of
from p2p.worker.description.describe import describe_robot

TEXT = PONY.read_text()
FEET = ("fl_foot", "fr_foot", "rl_foot", "rr_foot")
ARM_AND_BOX = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="box" pos="0.3 0 0.05"><freejoint/><geom name="cube" type="box" size=".03 .03 .03"/></body>
<body name="upper" pos="0 0 0.2"><joint name="shoulder" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 .2" size=".03"/>
<body name="lower" pos="0 0 0.2"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 .2" size=".03"/>
</body></body></worldbody>
<tendon><fixed name="cable"><joint joint="elbow" coef="1"/></fixed></tendon>
<actuator><motor name="shoulder" joint="shoulder"/>
<position name="puller" tendon="cable" kp="5"/></actuator></mujoco>"""


def described(folder: Path, text: str) -> EnvSpec:
    file = folder / "robot.xml"
    file.write_text(text)
    return describe_robot("robot", file)


def words(spec: EnvSpec) -> str:
    assert spec.robot is not None
    return "\n".join(spec.robot.choices)


def on_the_floor(spec: EnvSpec) -> set[str]:
    """Geoms that touch the floor in the stance, by MuJoCo's own contacts."""
    assert spec.robot is not None
    model = mujoco.MjModel.from_xml_string(spec.robot.xml)
    data = mujoco.MjData(model)
    data.qpos[:] = spec.robot.stance
    mujoco.mj_forward(model, data)
    return {model.geom(geom).name for contact in data.contact for geom in contact.geom} - {"ground", "floor"}


def test_feet_that_collide_as_pairs_that_the_model_names(tmp_path: Path) -> None:
    pairs = "".join(f'<pair geom1="{foot}" geom2="ground"/>' for foot in FEET)
    text = TEXT.replace('contype="1" conaffinity="0"', 'contype="0" conaffinity="0"')
    text = text.replace("<actuator>", f"<contact>{pairs}</contact><actuator>")
    spec = described(tmp_path, text)
    assert spec.morphology.feet == FEET
    assert spec.morphology.trunk == (), "its trunk falls through the floor"
    assert on_the_floor(spec) == set(FEET)
    assert abs(spec.rest_clearance) < 0.002


def test_a_floor_below_zero_is_moved_with_all_that_stands_on_it(tmp_path: Path) -> None:
    text = TEXT.replace('size="0 0 0.05"', 'pos="0 0 -0.4" size="0 0 0.05"').replace('pos="0 0 0.4"', 'pos="0 0 0"')
    spec = described(tmp_path, text.replace('"0 0 0.33 1 0 0 0', '"0 0 -0.07 1 0 0 0'))
    usual = described(tmp_path, TEXT)
    assert "the floor was at -0.4 m" in words(spec)
    assert spec.rest_height == pytest.approx(usual.rest_height, abs=1e-3)
    assert spec.morphology == usual.morphology


def test_a_floor_that_leans_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="leans by 17 degrees"):
        described(tmp_path, TEXT.replace('size="0 0 0.05"', 'euler="0 0.3 0" size="0 0 0.05"'))


def test_a_robot_of_a_scene_without_gravity_gets_a_weight(tmp_path: Path) -> None:
    spec = described(tmp_path, TEXT.replace("<option ", '<option gravity="0 0 0" '))
    assert "gravity: 9.81" in words(spec)
    assert on_the_floor(spec) == set(FEET)
    swims = described(tmp_path, TEXT.replace("<option ", '<option gravity="0 0 0" density="1000" '))
    assert "gravity:" not in words(swims), "a fish has none"


def test_a_model_that_is_not_stable_is_called_so(tmp_path: Path) -> None:
    text = TEXT.replace('kp="60" kv="1.5" forcerange="-24 24"', 'kp="1e7"').replace('armature="0.01"', "")
    with pytest.raises(InvalidInput, match="is not stable: from the keyframe 'home'"):
        described(tmp_path, text)


def test_motors_hold_nothing_so_that_poses_are_tried_while_joints_are_held(tmp_path: Path) -> None:
    text = TEXT[: TEXT.index("<keyframe>")] + "</mujoco>"
    text = text.replace("<position joint", '<motor ctrlrange="-20 20" ctrllimited="true" joint')
    (tmp_path / "robot.toml").write_text('motors = "torque"')
    spec = described(tmp_path, text)
    assert "while its joints are held" in words(spec)
    assert spec.robot is not None
    knees = spec.robot.stance[8::2]
    assert all(-2.7 < knee < -0.25 for knee in knees), "a zero pose beyond the joints' ranges is none"
    assert spec.rest_height > 0.2


def test_a_robot_that_falls_from_its_stance_is_trained_longer_to_stand(tmp_path: Path) -> None:
    weak = described(tmp_path, TEXT.replace('forcerange="-24 24"', 'forcerange="-0.5 0.5"'))
    strong = described(tmp_path, TEXT)
    for spec, falls in ((weak, True), (strong, False)):
        assert spec.robot is not None
        assert spec.robot.falls == falls
        assert ("from which it falls when nothing moves: training has to keep it up" in words(spec)) == falls
    assert body_of(weak).budget("still") > 3 * body_of(strong).budget("still")
    assert body_of(weak).budget("move") == body_of(strong).budget("move")


def test_a_box_to_be_lifted_is_no_robot_and_a_tendon_no_joint(tmp_path: Path) -> None:
    spec = described(tmp_path, ARM_AND_BOX)
    assert spec.morphology.torso == "upper"
    assert "fixed to the ground" in words(spec)
    assert [(one.name, one.joint) for one in spec.action] == [("shoulder", "shoulder"), ("puller", "cable")]


def test_a_robot_behind_other_things_is_asked_to_be_the_first(tmp_path: Path) -> None:
    box = '<body name="box" pos="1 0 0.1"><freejoint/><geom size="0.05"/></body><body name="trunk"'
    with pytest.raises(InvalidInput, match="Put the body 'trunk' before the others"):
        described(tmp_path, TEXT[: TEXT.index("<keyframe>")].replace('<body name="trunk"', box) + "</mujoco>")


def test_a_torso_whose_frame_lies_stands_upright_in_the_stance(tmp_path: Path) -> None:
    inner = TEXT[TEXT.index('<geom name="barrel"') : TEXT.index("</worldbody>")].rstrip().removesuffix("</body>")
    turned = f'<frame euler="0 -1.5707963 0">{inner}</frame></body>'
    start, end = TEXT.index('<geom name="barrel"'), TEXT.index("</worldbody>")
    text = TEXT[:start] + turned + TEXT[end : TEXT.index("<keyframe>")] + "</mujoco>"
    spec = described(tmp_path, text.replace('pos="0 0 0.4">', 'pos="0 0 0.4" euler="0 1.5707963 0">'))
    assert "upright: as in the stance" in words(spec)
    w, _x, y, _z = spec.morphology.upright
    assert (w, y) == pytest.approx((0.5**0.5, 0.5**0.5), abs=0.05)


def test_shapes_are_shown_where_the_meshes_that_hid_them_are_not_there(tmp_path: Path) -> None:
    text = TEXT.replace("<worldbody>", '<asset><mesh name="skin" file="skin.stl"/></asset><worldbody>')
    text = text.replace(
        '<geom name="barrel"', '<geom type="mesh" mesh="skin" contype="0"/><geom name="barrel" group="3"'
    )
    spec = described(tmp_path, text)
    assert "left out 1 meshes" in words(spec)
    assert spec.robot is not None
    model = mujoco.MjModel.from_xml_string(spec.robot.xml)
    assert model.geom("barrel").group == 0
