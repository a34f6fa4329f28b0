"""Facts of MuJoCo and Gymnasium that are easily got wrong, each against the simulator."""

import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.envs import catalog
from p2p.worker.features.kinematics import Kinematics

SPINNER = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <body name="torso">
      <freejoint/>
      <geom type="box" size=".1 .1 .1" mass="100"/>
      <body name="child" pos="0.5 0 0"><geom type="sphere" size=".01" mass=".001"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def spinner():
    model = mujoco.MjModel.from_xml_string(SPINNER)
    return model, mujoco.MjData(model)


def test_angular_velocity_of_a_free_joint_is_in_the_body_frame(spinner):
    model, data = spinner
    data.qpos[3:7] = [np.sqrt(0.5), np.sqrt(0.5), 0, 0]  # a quarter turn about x
    data.qvel[3:6] = [0, 0, 1]
    mujoco.mj_forward(model, data)
    point, before = model.body("child").id, data.body("child").xpos.copy()
    assert before == pytest.approx([0.5, 0, 0])
    world = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, point, world, 0)
    assert world[:3] == pytest.approx([0, -1, 0])
    mujoco.mj_integratePos(model, data.qpos, data.qvel, 1e-6)
    mujoco.mj_kinematics(model, data)
    moved = (data.body("child").xpos - before) / 1e-6
    assert moved == pytest.approx(np.cross([0, -1, 0], before), abs=1e-5)


def test_linear_velocity_of_a_free_joint_is_in_the_world_frame(spinner):
    model, data = spinner
    data.qpos[3:7] = [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    data.qvel[:3] = [0, 0, 1]
    mujoco.mj_integratePos(model, data.qpos, data.qvel, 1.0)
    assert data.qpos[:3] == pytest.approx([0, 0, 1])


def test_cvel_is_not_the_velocity_of_the_body(spinner):
    model, data = spinner
    data.qvel[5] = 1.0
    mujoco.mj_forward(model, data)
    child = model.body("child").id
    before = data.xpos[child].copy()
    claimed = np.linalg.norm(data.cvel[child, 3:])
    true = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, child, true, 0)
    mujoco.mj_integratePos(model, data.qpos, data.qvel, 1e-6)
    mujoco.mj_kinematics(model, data)
    assert np.linalg.norm(data.xpos[child] - before) / 1e-6 == pytest.approx(0.5, rel=1e-4)
    assert np.linalg.norm(true[3:]) == pytest.approx(0.5)
    assert claimed < 0.01


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5"])
def test_world_positions_lag_a_sub_step_behind_and_ours_do_not(env_id):
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=1)
    for _ in range(5):
        env.step(env.action_space.high)
    model, data, spec = env.unwrapped.model, env.unwrapped.data, catalog.load(env_id)
    fresh = mujoco.MjData(model)
    fresh.qpos[:] = data.qpos
    mujoco.mj_kinematics(model, fresh)
    torso = model.body("torso").id
    ours = Kinematics(model, spec).read(data.qpos[None], data.qvel[None]).position[0]
    assert ours.tolist() == fresh.xpos[torso].tolist()
    gap = data.xpos[torso] - fresh.xpos[torso]
    assert np.linalg.norm(gap) > 1e-5
    one_sub_step = model.opt.timestep * np.linalg.norm(data.qvel[:3])
    assert np.linalg.norm(gap) < 3 * one_sub_step
    env.close()


@pytest.mark.parametrize("env_id", catalog.known())
def test_rest_positions_do_not_depend_on_the_noise_of_a_reset(env_id):
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=7)
    model = env.unwrapped.model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    rest = np.array([body.rest_position for body in catalog.load(env_id).bodies])
    assert rest == pytest.approx(data.xpos[1:], abs=1e-6)
    env.close()


def test_ant_observes_105_values():
    kinds = [entry.name.split("[")[0] for entry in catalog.load("Ant-v5").observation]
    assert len(kinds) == 105
    assert kinds.count("cfrc_ext") == 78


def test_half_cheetah_reads_a_height_relative_to_its_start():
    env = gymnasium.make("HalfCheetah-v5", disable_env_checker=True)
    env.reset(seed=0)
    model, qpos = env.unwrapped.model, env.unwrapped.data.qpos
    height = Kinematics(model, catalog.load("HalfCheetah-v5")).read(qpos[None], np.zeros((1, 9))).position[0, 2]
    assert height == pytest.approx(qpos[1] + 0.7)
    assert catalog.load("HalfCheetah-v5").observation[0].quantity == "position, z of torso minus 0.7"
    env.close()


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5"])
def test_a_positive_root_hinge_puts_the_nose_of_planar_robots_down(env_id):
    env = gymnasium.make(env_id, disable_env_checker=True)
    model = env.unwrapped.model
    data = mujoco.MjData(model)
    data.joint("rooty").qpos[0] = 0.3
    mujoco.mj_kinematics(model, data)
    assert data.body("torso").xmat.reshape(3, 3)[2, 0] == pytest.approx(-np.sin(0.3))
    env.close()


@pytest.mark.parametrize("env_id", ["Ant-v5", "HalfCheetah-v5"])
def test_a_standing_robot_is_not_at_distance_zero_from_the_floor(env_id):
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=0)
    data, model, spec = env.unwrapped.data, env.unwrapped.model, catalog.load(env_id)
    mujoco.mj_step(model, data, nstep=500)
    states = Kinematics(model, spec).read(data.qpos[None], data.qvel[None])
    assert abs(states.low[0]) > 0.003
    assert states.low[0] == pytest.approx(spec.rest_clearance, abs=2e-3)
    assert states.touching[0] == 1.0
    env.close()
