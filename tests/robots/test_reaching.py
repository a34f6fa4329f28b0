"""An arm beside a thing: what it reaches for, and with what."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig, InvalidInput, P2PError
from p2p.contracts.senses import Senses
from p2p.contracts.terrain import Terrain
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.environment import make_environment
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.export.standalone import Robot
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.render.camera import follow

BOX = """<body name="crate" pos="0.4 0.1 0.05"><freejoint/>
<geom name="red_cube" type="box" size=".05 .08 .03" mass=".2"/></body>"""
BALL = """<body name="toy" pos="0.1 0.4 0.05"><freejoint/><geom type="sphere" size=".04" mass=".1"/></body>"""
SITES = '<site name="wrist" pos="0 0 0.05"/><site name="end" pos="0 0 0.22"/>'


def arm(inner: str = "", before: str = "", after: str = BOX, actuators: str = "") -> str:
    """An arm of two links of 20 cm on a post of 20 cm, with `inner` in the last link and things around it."""
    motors = actuators or "".join(
        f'<motor name="{name}" joint="{name}" ctrlrange="-9 9"/>' for name in ("turn", "shoulder", "elbow")
    )
    return f"""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>{before}
<body name="upper" pos="0 0 0.2"><joint name="turn" axis="0 0 1" range="-2 2" limited="true"/>
<joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
<geom type="capsule" fromto="0 0 0 0 0 .2" size=".03" mass="1"/>
<body name="lower" pos="0 0 0.2"><joint name="elbow" axis="0 1 0" range="-2 2" limited="true"/>
<geom type="capsule" fromto="0 0 0 0 0 .2" size=".02" mass=".5"/>{inner}</body></body>{after}</worldbody>
<actuator>{motors}</actuator></mujoco>"""


def described(folder: Path, text: str, toml: str = "") -> EnvSpec:
    file = folder / "arm.xml"
    file.write_text(text)
    if toml:
        file.with_suffix(".toml").write_text(toml)
    return describe_robot("arm", file)


def words(spec: EnvSpec) -> str:
    assert spec.robot is not None
    return "\n".join(spec.robot.choices)


def reached(spec: EnvSpec) -> tuple[str | None, str | None]:
    return spec.morphology.effector, spec.morphology.target


@pytest.mark.parametrize(
    ("inner", "effector", "why"),
    [
        (SITES, "end", "a site at the end of its longest chain, of 3 joints"),
        (SITES + '<site name="left_gripper" pos="0 0 .1"/>', "left_gripper", "a site, by its name"),
        (SITES + '<site name="knee" pos="0 0 .1"/>', "end", "at the end"),  # holds "ee" in another word
        ('<body name="tool" pos="0 0 .2"/>', "tool", "a body at the end"),
        ("", "reaching_tip", "the tip of lower, at the end"),
    ],
)
def test_the_one_loose_thing_is_reached_with_the_end_of_the_arm(
    tmp_path: Path, inner: str, effector: str, why: str
) -> None:
    spec = described(tmp_path, arm(inner))
    assert reached(spec) == (effector, "crate")
    assert "to be reached: crate, the one thing beside the robot that moves freely" in words(spec)
    assert f"reaches with: {effector}, " in words(spec)
    assert why in words(spec)
    assert "target_distance" in spec.feature_names


def test_of_two_loose_things_none_is_chosen_unless_it_is_said(tmp_path: Path) -> None:
    both = arm(SITES, after=BOX + BALL)
    assert reached(described(tmp_path, both)) == (None, None)
    assert reached(described(tmp_path, both, 'target = "toy"')) == ("end", "toy")
    assert reached(described(tmp_path, arm(SITES), 'end_effector = "wrist"')) == ("wrist", "crate")
    assert "reaches with: wrist, as arm.toml says" in words(described(tmp_path, arm(SITES)))


def test_a_robot_that_walks_chooses_no_thing(tmp_path: Path) -> None:
    pony = (Path(__file__).parents[2] / "examples" / "pony.xml").read_text()
    text = pony[: pony.index("<keyframe>")].replace("</worldbody>", f"{BOX}</worldbody>") + "</mujoco>"
    assert reached(described(tmp_path, text)) == (None, None)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('target = "dice"', "'dice'.*crate"),
        ('end_effector = "hand"', "'hand'.*end"),
    ],
)
def test_parts_that_there_are_not(tmp_path: Path, toml: str, said: str) -> None:
    with pytest.raises(P2PError, match=said):
        described(tmp_path, arm(SITES), toml)


def test_an_end_without_a_thing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected both or none"):
        described(tmp_path, arm(SITES, after=""), 'end_effector = "end"')


def test_motors_of_an_arm_that_reaches_are_servos_and_its_gripper_stays(tmp_path: Path) -> None:
    finger = """<body name="finger" pos="0 .02 .2"><joint name="slide" type="slide" axis="0 1 0" range="0 .04"/>
    <geom type="box" size=".01 .01 .02" mass=".05"/></body>"""
    actuators = "".join(f'<motor joint="{one}" ctrlrange="-9 9"/>' for one in ("turn", "shoulder", "elbow"))
    actuators += '<general joint="slide" gainprm="80" biasprm="0 -100 -10" biastype="affine" ctrlrange="0 .05"/>'
    spec = described(tmp_path, arm(finger, actuators=actuators))
    assert spec.robot is not None
    assert [one.kind for one in spec.robot.control] == ["position", "position", "position", "torque"]
    assert [one.torque_limit for one in spec.robot.control[:3]] == [9.0, 9.0, 9.0]
    assert "the file's 3 motors became position servos" in words(spec)
    alone = described(tmp_path, arm(finger, after="", actuators=actuators))
    assert alone.robot is not None
    assert {one.kind for one in alone.robot.control} == {"torque"}, "nothing to reach: as the file has them"
    told = described(tmp_path, arm(finger, actuators=actuators), 'motors = "torque"')
    assert told.robot is not None
    assert {one.kind for one in told.robot.control} == {"torque"}


def distance(spec: EnvSpec, qpos: np.ndarray) -> float:
    env = make_environment(spec)
    return float(Kinematics(env.model, spec).read(qpos[None], np.zeros((1, spec.nv))).target_distance[0])


def stretched_to(spec: EnvSpec, place: tuple[float, float, float]) -> np.ndarray:
    """The arm straight up, whose site "end" is at (0, 0, 0.62), and the thing's frame at a place."""
    joint = next(one for one in spec.joints if one.kind == "free")
    qpos = np.zeros(spec.nq)
    qpos[joint.qpos_index : joint.qpos_index + 7] = [*place, 1, 0, 0, 0]
    return qpos


def test_the_distance_is_in_space_and_ends_where_the_thing_is_surely_touched(tmp_path: Path) -> None:
    spec = described(tmp_path, arm(SITES))
    assert spec.morphology.target_radius == pytest.approx(0.03), "half of the crate's thinnest side"
    assert distance(spec, stretched_to(spec, (0, 0, 0.05))) == pytest.approx(0.57 - 0.03), "above it is not at it"
    assert distance(spec, stretched_to(spec, (0, 0, 0.57))) == pytest.approx(0.02)
    assert distance(spec, stretched_to(spec, (0.3, 0.4, 0.62))) == pytest.approx(0.5 - 0.03)
    assert distance(spec, stretched_to(spec, (0, 0, 0.60))) == 0.0, "inside"


def test_the_distance_is_to_the_middle_of_the_shape_not_to_its_frame(tmp_path: Path) -> None:
    spec = described(tmp_path, arm(SITES, after=BOX.replace('type="box"', 'pos="0 0 0.1" type="box"')))
    assert distance(spec, stretched_to(spec, (0, 0, 0.42))) == pytest.approx(0.1 - 0.03)


def test_the_tip_follows_the_arm(tmp_path: Path) -> None:
    spec = described(tmp_path, arm())
    qpos = stretched_to(spec, (0.42, 0.0, 0.2))
    qpos[1] = np.pi / 2  # the shoulder lays the arm along x, its tip at x = 0.42
    assert distance(spec, qpos) == pytest.approx(0.0)
    qpos[1] = -np.pi / 2
    assert distance(spec, qpos) == pytest.approx(0.84 - 0.03)


ORDERS = {"the thing last": arm(SITES), "the thing first": arm(SITES, before=BOX, after="")}


@pytest.mark.parametrize("order", ORDERS)
def test_the_thing_lies_elsewhere_in_each_episode_and_the_policy_sees_where(tmp_path: Path, order: str) -> None:
    spec = described(tmp_path, ORDERS[order])
    assert spec.robot is not None
    assert spec.robot.loose == "crate"
    assert "laid within 5 cm of its place anew in each episode" in words(spec)
    joint = next(one for one in spec.joints if one.kind == "free")
    seen = [one.index for one in spec.observation if one.name in {f"{joint.name}.{axis}" for axis in "xyz"}]
    assert len(seen) == 3
    env = make_environment(spec)
    places, arms = [], []
    for seed in range(200):
        observed, _ = env.reset(seed=seed)
        place = env.data.body("crate").xpos.copy()
        assert observed[seen] == pytest.approx(place)
        assert not env.data.qvel[joint.qvel_index : joint.qvel_index + 6].any()
        places.append(place)
        arms.append(env.data.joint("elbow").qpos[0])
    away = np.linalg.norm(np.array(places)[:, :2] - [0.4, 0.1], axis=1)
    assert away.max() <= 0.05
    assert np.mean(away < 0.025) == pytest.approx(0.25, abs=0.1), "uniform in the disc"
    assert np.array(places)[:, 2] == pytest.approx(0.05), "neither in the floor nor above it"
    assert np.std(arms) > 0.005, "the arm begins with noise, as before"


@pytest.mark.parametrize("order", ORDERS)
def test_batches_and_the_replay_script_lay_it_at_the_same_place(tmp_path: Path, order: str) -> None:
    spec = described(tmp_path, ORDERS[order])
    assert spec.robot is not None
    env = make_environment(spec)
    fast = make_simulation(spec, 3)
    assert fast.engine == "batch"
    alone = Robot({"robot": spec.robot.model_dump(mode="json"), "frame_skip": spec.frame_skip, "env_kwargs": {}})
    frame = fast.reset([0, 1, 2], [5, 6, 7])
    for row, seed in enumerate((5, 6, 7)):
        observed, _ = env.reset(seed=seed)
        assert np.array_equal(frame.observations[row], observed)
        assert np.array_equal(alone.reset(seed=seed)[0], observed)
        action = np.full(3, 0.3, dtype=np.float32)
        assert np.array_equal(alone.step(action)[0], env.step(action)[0])


def test_a_thing_that_is_fixed_stays_and_another_loose_one_is_not_laid(tmp_path: Path) -> None:
    spec = described(tmp_path, arm(SITES, after=BOX + BALL), 'target = "toy"')
    assert spec.robot is not None
    assert spec.robot.loose == "toy"
    post = '<body name="post" pos="0.3 0 0.3"><geom type="sphere" size="0.03"/></body>'
    fixed = described(tmp_path, arm(SITES, after=post), 'target = "post"')
    assert fixed.robot is not None
    assert fixed.robot.loose is None
    assert fixed.morphology.target == "post"


def test_the_senses_of_an_arm_are_its_joints_not_the_thing(tmp_path: Path) -> None:
    senses = Senses.of(described(tmp_path, arm(SITES)), "robot")
    assert senses is not None
    assert senses.root is None
    assert senses.joints == ("turn", "shoulder", "elbow")


@pytest.mark.parametrize("order", ORDERS)
def test_an_arm_stands_on_no_terrain(tmp_path: Path, order: str) -> None:
    with pytest.raises(InvalidConfig, match="stays where it is"):
        Terrain(kind="rough", height=0.06).require(described(tmp_path, ORDERS[order]))


def test_the_camera_frames_the_arm_and_its_thing_whatever_else_stands_there(tmp_path: Path) -> None:
    wall = '<geom type="box" size=".1 3 3" pos="6 0 3"/>'
    spec = described(tmp_path, arm(before=wall))
    assert spec.robot is not None
    model = mujoco.MjModel.from_xml_string(spec.robot.xml)
    views = follow(model, spec, np.array([spec.robot.stance]))
    data = mujoco.MjData(model)
    data.qpos[:] = spec.robot.stance
    mujoco.mj_kinematics(model, data)
    seen = views.project(data.geom_xpos[None, model.geom_bodyid > 0], (640, 480))[0]
    assert ((seen > [100, 60]) & (seen < [540, 420])).all()
    assert abs((seen.min(axis=0) + seen.max(axis=0)) / 2 - [320, 240]).max() < 60  # in the middle
