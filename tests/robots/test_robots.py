"""A robot from a model file: described, equal on both simulations, and refused with a reason."""

import json
import re
import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_files import PONY, SNAKE

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.environment import make_environment
from p2p.worker.engine.gym_simulation import GymSimulation
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.export.standalone import Robot
from p2p.worker.robots.model_file import MAX_PARTS, read

ARM = """<?xml version="1.0"?><robot name="arm">
<link name="base"><inertial><mass value="5"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<origin xyz="0 0 0.5"/><limit lower="-1" upper="1" effort="20" velocity="5"/></joint>
<link name="upper"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry>{shape}</geometry><origin xyz="0 0 0.1"/></collision></link></robot>"""


@pytest.fixture(scope="module")
def pony() -> EnvSpec:
    return describe_robot("pony", PONY)


def cube(path: Path, half: float = 0.1) -> None:
    """A binary STL of a cube with corners at +-half."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
    faces += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    with path.open("wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(faces)))
        for face in faces:
            file.write(struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0))


def test_what_is_derived_from_the_model(pony: EnvSpec) -> None:
    assert pony.robot is not None
    assert re.fullmatch(r"pony-[0-9a-f]{8}", pony.env_id)
    assert pony.morphology.torso == "trunk"
    assert pony.morphology.feet == ("fl_foot", "fr_foot", "rl_foot", "rr_foot")
    assert pony.morphology.trunk == ("barrel", "head")
    assert pony.dt == pytest.approx(0.02)
    assert 0.25 < pony.rest_height < 0.33
    assert [actuator.unit for actuator in pony.action] == ["rad"] * 8
    assert {"forward_velocity", "contact_fl_foot", "yaw"} <= set(pony.feature_names)
    env = make_environment(pony)
    assert env.observation_space.shape == (pony.obs_dim,)
    assert [name.name for name in pony.observation][:3] == ["base.z", "base.qw", "base.qx"]


def test_an_action_of_zero_holds_the_stance(pony: EnvSpec) -> None:
    env = make_environment(pony)
    env.reset(seed=0)
    env.set_state(env.init_qpos, env.init_qvel)
    for _ in range(250):
        env.step(np.zeros(8, dtype=np.float32))
    assert np.linalg.norm(env.data.qpos[:3] - env.init_qpos[:3]) < 0.02
    assert env.data.body("trunk").xmat[8] > np.cos(np.deg2rad(5))


def test_an_action_of_one_asks_for_half_a_radian_more(pony: EnvSpec) -> None:
    env = make_environment(pony)
    env.reset(seed=0)
    env.model.opt.gravity[:] = 0
    env.set_state(env.init_qpos + np.eye(len(env.init_qpos))[2], env.init_qvel)
    for _ in range(100):
        env.step(np.eye(8, dtype=np.float32)[0])
    assert env.data.joint("fl_hip").qpos[0] == pytest.approx(0.7 + 0.5, abs=0.02)
    assert env.data.joint("fr_hip").qpos[0] == pytest.approx(0.7, abs=0.02)


def test_its_motors_do_what_the_facts_of_its_control_say(pony: EnvSpec) -> None:
    assert pony.robot is not None
    env = make_environment(pony)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    limited = 0
    for _ in range(50):
        action = rng.uniform(-1, 1, 8)
        env.data.ctrl[:] = action
        mujoco.mj_forward(env.model, env.data)
        for i, one in enumerate(pony.robot.control):
            joint = env.data.joint(one.actuator)
            torque = one.kp * (one.centre + one.scale * action[i] - joint.qpos[0]) - one.kd * joint.qvel[0]
            assert one.kind == "position"
            assert one.torque_limit == 24.0
            limited += abs(torque) > one.torque_limit
            assert env.data.actuator_force[i] == pytest.approx(np.clip(torque, -24.0, 24.0), abs=1e-9)
        mujoco.mj_step(env.model, env.data, nstep=env.frame_skip)
    assert limited
    told = "8 position targets: stance + 0.5 rad or m x action, kp 60, kd 1.5, torque at most 24 N m or N"
    assert f"actions: {told}" in pony.robot.choices


def test_motors_of_a_robot_that_walks_become_servos_of_their_torque(tmp_path: Path) -> None:
    text = re.sub("<position joint", '<motor gear="10" ctrlrange="-2 2" ctrllimited="true" joint', PONY.read_text())
    text = text.replace('<position kp="60" kv="1.5" forcerange="-24 24"/>', "")
    file = tmp_path / "motors.xml"
    file.write_text(text.replace('timestep="0.004"', 'timestep="0.003"'))
    made = describe_robot("motors", file)
    assert made.robot is not None
    assert {one.kind for one in made.robot.control} == {"position"}
    assert {one.torque_limit for one in made.robot.control} == {20.0}
    assert [one.unit for one in made.action] == ["rad"] * 8
    assert any("8 motors became position servos" in choice for choice in made.robot.choices)
    assert made.dt == pytest.approx(0.021)
    assert any("settled" in choice for choice in made.robot.choices), "with them it stands"


def test_a_file_beside_the_model_says_how_it_is_controlled(tmp_path: Path) -> None:
    file = tmp_path / "pony.xml"
    file.write_text(PONY.read_text())
    (tmp_path / "pony.toml").write_text("kp = 40.0\nkd = 2.0\naction_scale = 0.25\n")
    made = describe_robot("pony", file)
    assert made.robot is not None
    assert {(one.kp, one.kd, one.scale, one.torque_limit) for one in made.robot.control} == {(40.0, 2.0, 0.25, 24.0)}
    assert "gains of its servos: kp 40 and kd 2, as pony.toml says" in made.robot.choices
    joint = next(one.name for one in made.joints if one.kind == "hinge")
    (tmp_path / "pony.toml").write_text(f"[action_scale]\n{joint} = 0.3\n")
    robot = describe_robot("pony", file).robot
    assert robot is not None
    assert sorted({one.scale for one in robot.control}) == [0.3, 0.5]
    (tmp_path / "pony.toml").write_text("[action_scale]\nnose = 0.3\n")
    with pytest.raises(UnknownName, match=r"joint in action_scale.*nose"):
        describe_robot("pony", file)
    file.write_text(re.sub("<position joint", '<motor gear="10" ctrlrange="-2 2" joint', PONY.read_text()))
    (tmp_path / "pony.toml").write_text('motors = "torque"\n')
    torques = describe_robot("pony", file)
    assert torques.robot is not None
    assert {one.kind for one in torques.robot.control} == {"torque"}


@pytest.mark.parametrize("file", [PONY, SNAKE], ids=["pony", "snake"])
def test_both_simulations_agree_to_the_bit(file: Path) -> None:
    spec = describe_robot(file.stem, file)
    batch = make_simulation(spec, 3, terminate_when_unhealthy=True)
    plain = GymSimulation(spec, lambda: make_environment(spec, terminate_when_unhealthy=True), 3)
    assert batch.engine == "batch"
    generator = np.random.default_rng(1)
    ended = 0
    seen = [one.reset([0, 1, 2], [4, 5, 6]) for one in (batch, plain)]
    for step in range(300):
        actions = generator.uniform(-1, 1, (3, len(spec.action))).astype(np.float32)
        now = [one.step(actions) for one in (batch, plain)]
        paid = [
            one.outcome(before, after, actions) for one, before, after in zip((batch, plain), seen, now, strict=True)
        ]
        for name in ("observations", "qpos", "qvel", "terminated"):
            assert np.array_equal(getattr(now[0], name), getattr(now[1], name)), (step, name)
        assert np.array_equal(paid[0].rewards, paid[1].rewards)
        ended += int(now[0].terminated.sum())
        if step % 50 == 49:
            now = [one.reset([1], [None]) for one in (batch, plain)]
            assert np.array_equal(now[0].qpos, now[1].qpos)
            now = [one.step(actions) for one in (batch, plain)]
        seen = now
    assert bool(ended) is (file == PONY), "a robot that moves at random falls, if it has legs"


def test_a_small_robot_begins_nearer_to_its_stance(pony: EnvSpec) -> None:
    snake = describe_robot("snake", SNAKE)
    assert snake.robot is not None
    assert snake.robot.start_noise_m == pytest.approx(0.0045)
    assert "start: within 0.0045 m of the stance, 0.1 times its torso's height" in snake.robot.choices
    assert pony.robot is not None
    assert pony.robot.start_noise_m is None
    away = make_simulation(snake, 200).reset(range(200), range(200)).qpos - snake.robot.stance
    assert 0.004 < np.abs(away[:, :3]).max() < 0.0045
    assert 0.018 < np.abs(away[:, 3:]).max() < 0.02
    replayed = Robot({"robot": snake.robot.model_dump(mode="json"), "frame_skip": snake.frame_skip, "env_kwargs": {}})
    replayed.reset(seed=7)
    assert np.array_equal(replayed.data.qpos - snake.robot.stance, away[7])


def test_a_hull_collides_as_its_mesh_did(tmp_path: Path) -> None:
    cube(tmp_path / "box.stl")
    text = PONY.read_text().replace(
        "<worldbody>", '<asset><mesh name="box" file="box.stl" scale="1 .5 .4"/></asset><worldbody>'
    )
    text = text.replace(
        '<geom name="barrel"',
        '<geom name="pack" type="mesh" mesh="box" pos="0 0.02 0.1" euler="0.2 0.1 0"/><geom name="barrel"',
    )
    file = tmp_path / "laden.xml"
    file.write_text(text)
    before = mujoco.MjModel.from_xml_path(str(file))
    spec, choices = read(file)
    after = spec.compile()
    assert "1 meshes became" in " ".join(choices)
    assert after.body_mass == pytest.approx(before.body_mass)
    assert after.body_inertia == pytest.approx(before.body_inertia, rel=1e-5)
    found = []
    for model in (before, after):
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        at = model.geom("pack").id
        corners = model.mesh_vert @ data.geom_xmat[at].reshape(3, 3).T + data.geom_xpos[at]
        found.append(np.array(sorted(corners.round(5).tolist())))
    assert found[0] == pytest.approx(np.unique(found[1], axis=0), abs=2e-5)


@pytest.mark.parametrize("package", ["arm", "many-robots/robots/arm"])
def test_a_urdf_with_a_package_of_meshes_gets_servos(package: str, tmp_path: Path) -> None:
    (tmp_path / "arm" / "urdf").mkdir(parents=True)
    (tmp_path / "arm" / "meshes").mkdir()
    cube(tmp_path / "arm" / "meshes" / "upper.stl", 0.05)
    file = tmp_path / "arm" / "urdf" / "arm.urdf"
    file.write_text(ARM.format(shape=f'<mesh filename="package://{package}/meshes/upper.stl"/>'))
    spec = describe_robot("arm", file)
    assert spec.robot is not None
    assert spec.robot.healthy is None
    assert [one.name for one in spec.action] == ["shoulder"]
    env = make_environment(spec)
    env.reset(seed=0)
    for _ in range(100):
        env.step(np.zeros(1, dtype=np.float32))
    assert abs(env.data.qpos[0]) < 0.1, "a servo that was added holds the arm"


def test_a_urdf_is_fixed_to_the_ground_unless_its_base_floats(tmp_path: Path) -> None:
    fixed, free = tmp_path / "fixed.urdf", tmp_path / "free.urdf"
    text = ARM.format(shape='<sphere radius="0.05"/>').replace('xyz="0 0 0.5"', 'xyz="0.2 0 0"')
    text = text.replace(
        "</inertial></link>", '</inertial><collision><geometry><box size="1 1 .2"/></geometry></collision></link>', 1
    )
    fixed.write_text(text)
    floating = '<joint name="root" type="floating"><parent link="world"/><child link="base"/></joint>'
    floating = f'<link name="world"/>{floating}</robot>'
    free.write_text(text.replace("</robot>", floating))
    one, other = describe_robot("fixed", fixed), describe_robot("free", free)
    assert one.robot is not None
    assert "fixed to the ground" in " ".join(one.robot.choices)
    assert other.robot is not None
    assert other.robot.healthy is not None
    assert other.morphology.torso == "base"
    assert {"forward_velocity", "up"} <= set(other.feature_names)


def test_a_changed_file_is_another_robot(tmp_path: Path, pony: EnvSpec) -> None:
    file = tmp_path / "pony.xml"
    file.write_text(PONY.read_text().replace('mass="6"', 'mass="7"'))
    other = describe_robot("pony", file)
    assert other.env_id != pony.env_id
    assert other.total_mass == pytest.approx(pony.total_mass + 1)
    file.write_text(PONY.read_text())
    assert describe_robot("pony", file).env_id == pony.env_id


TOO_MANY = "<geom size='0.1'/>" * (MAX_PARTS["geoms"] + 1)
REFUSED = {
    "not XML": ("<mujoco><worldbody>", "does not take"),
    "an attribute that there is not": ("<mujoco><worldbody><geom sise='1'/></worldbody></mujoco>", "line 1"),
    "a file outside": (
        "<mujoco><asset><mesh name='m' file='../outside.stl'/></asset>"
        "<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
        "expected files in",
    ),
    "a mesh that is not there": (
        "<mujoco><asset><mesh name='m' file='gone.stl'/></asset>"
        "<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
        "put the file there",
    ),
    "an include of itself": ("<mujoco><include file='robot.xml'/></mujoco>", "does not take"),
    "too many geoms": (f"<mujoco><worldbody>{TOO_MANY}</worldbody></mujoco>", "expected at most 2,000"),
    "a timestep in which nothing ends": (PONY.read_text().replace("0.004", "1e-7"), "timestep"),
    "too large a file": ("<mujoco><!--" + "x" * 5_000_001 + "--></mujoco>", "expected a model file of at most"),
    "inertia that is not a number": (
        "<mujoco><worldbody><body><freejoint/><inertial pos='0 0 0' mass='nan' diaginertia='1 1 1'/></body>"
        "</worldbody></mujoco>",
        "does not take",
    ),
    "feet that fall through": (
        "<mujoco><worldbody><geom type='plane' size='1 1 1' contype='2' conaffinity='0'/>"
        "<body pos='0 0 1'><freejoint/><geom size='0.1' contype='0' conaffinity='1'/><body pos='0 0 .2'>"
        "<joint/><geom size='0.1' contype='0' conaffinity='1'/></body></body></worldbody></mujoco>",
        "falls through the floor",
    ),
    "nothing that moves": ("<mujoco><worldbody><geom size='0.1'/></worldbody></mujoco>", "nothing that moves"),
    "a height field": (
        "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody/></mujoco>",
        "has hfields",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    text, words = REFUSED[case]
    (tmp_path / "outside.stl").write_bytes(b"")
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "robot.xml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=words):
        describe_robot("robot", file)


def test_a_spec_survives_being_written_down(pony: EnvSpec) -> None:
    assert EnvSpec.model_validate(json.loads(pony.model_dump_json())) == pony


@pytest.mark.parametrize("axis", ["x", "y", "-x", "-y"])
def test_a_robot_begins_facing_the_way_in_which_forwards_is_measured(axis: str, tmp_path: Path) -> None:
    file = tmp_path / "pony.xml"
    file.write_text(PONY.read_text())
    file.with_suffix(".toml").write_text(f'forward = "{axis}"')
    spec = describe_robot("pony", file)
    assert spec.robot is not None
    alike = abs(np.dot(spec.robot.stance[3:7], spec.morphology.upright))  # 1 for the same orientation
    assert alike == pytest.approx(1.0, abs=1e-3)
    assert any("turned in its stance" in one for one in spec.robot.choices) == (axis != "x")
