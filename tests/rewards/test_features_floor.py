"""Contacts, clearance and effort on scripted poses and settled robots."""

import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.envs import catalog
from p2p.rewards.features import measure_trajectory
from p2p.rewards.templates.jump_criteria import RISE
from p2p.worker.features.kinematics import Kinematics

WALKING = tuple(env_id for env_id in catalog.known() if "clearance" in catalog.load(env_id).feature_names)


def measured(env_id, qpos, actions=None, qvel=None):
    env = gymnasium.make(env_id, disable_env_checker=True)
    spec, model = catalog.load(env_id), env.unwrapped.model
    states = Kinematics(model, spec).read(qpos, np.zeros((len(qpos), spec.nv)) if qvel is None else qvel)
    env.close()
    return measure_trajectory(spec, states, np.zeros((len(qpos) - 1, spec.action_dim)) if actions is None else actions)


def settled(env_id):
    """The robot some seconds after it was dropped without control, and the index of its height in qpos."""
    env = gymnasium.make(env_id, disable_env_checker=True)
    model = env.unwrapped.model
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(4.0 / model.opt.timestep))
    env.close()
    return data.qpos.copy(), 1 if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_SLIDE else 2


@pytest.mark.parametrize("env_id", WALKING)
def test_a_robot_at_rest_has_clearance_zero_and_touches_the_floor(env_id):
    qpos, _ = settled(env_id)
    features = measured(env_id, np.stack([qpos, qpos]))
    assert features["clearance"][0] == pytest.approx(0.0, abs=2e-3)
    assert features["airborne"][0] == 0.0


@pytest.mark.parametrize("env_id", WALKING)
def test_a_lifted_robot_is_airborne_by_what_it_was_lifted(env_id):
    qpos, height = settled(env_id)
    lifted = qpos.copy()
    lifted[height] += 0.3
    features = measured(env_id, np.stack([qpos, lifted]))
    assert features["clearance"][0] == pytest.approx(0.3, abs=2e-3)
    assert features["airborne"][0] == 1.0
    assert features["feet_down"][0] == features["torso_contact"][0] == 0.0
    assert not any(values[0] for name, values in features.items() if name.startswith("contact_"))


@pytest.mark.parametrize("env_id", WALKING)
def test_a_jump_is_as_high_as_its_lowest_point_and_at_most_twice_as_its_torso_has_risen(env_id):
    qpos, height = settled(env_id)
    rows = np.tile(qpos, (9, 1))
    rows[:, height] += [0.3, 0.2, 0.0, 0.1, 0.3, 0.2, -0.004, 0.1, 0.0]
    clearance, risen = [0.2, 0.0, 0.1, 0.3, 0.2, -0.004, 0.1, 0.0], [-0.1, 0.0, 0.1, 0.3, 0.2, 0.0, 0.104, 0.0]
    features = measured(env_id, rows)
    assert features["flight_rise"] == pytest.approx(risen)
    assert features["jump_height"] == pytest.approx(np.minimum(clearance, np.array(risen) / RISE), abs=2e-3)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5"])
def test_robots_that_stand_by_themselves_stand_on_all_feet_and_not_on_the_trunk(env_id):
    qpos, _ = settled(env_id)
    features = measured(env_id, np.stack([qpos, qpos]))
    assert features["feet_down"][0] == 1.0
    assert features["torso_contact"][0] == 0.0
    contacts = [values[0] for name, values in features.items() if name.startswith("contact_")]
    assert contacts == [1.0] * len(catalog.load(env_id).morphology.feet)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5"])
def test_a_robot_on_its_back_touches_with_its_trunk(env_id):
    qpos = np.zeros((2, catalog.load(env_id).nq))
    qpos[:, 2] = np.pi / 2 if env_id != "HalfCheetah-v5" else np.pi
    qpos[:, 1] = 0.03 if env_id != "HalfCheetah-v5" else -0.68
    features = measured(env_id, qpos)
    assert features["torso_contact"][0] == 1.0
    assert features["height"][0] == pytest.approx(0.03 if env_id != "HalfCheetah-v5" else 0.02)


def test_the_highest_geom_of_a_cheetah_on_its_hind_leg_is_its_head():
    qpos = np.zeros((2, 9))
    qpos[:, 2] = -np.pi / 2
    assert measured("HalfCheetah-v5", qpos)["top_height"][0] == pytest.approx(0.7 + 0.6)


def test_effort_and_its_change_read_the_scaled_action():
    qpos = np.zeros((4, 2))
    features = measured("InvertedPendulum-v5", qpos, actions=np.array([[3.0], [-1.5], [9.0]]))
    assert features["control_effort"] == pytest.approx([1.0, 0.25, 1.0])
    assert features["action_rate"] == pytest.approx([0.0, 1.5**2, 1.5**2])


def test_effort_of_many_motors_is_their_mean():
    actions = np.zeros((2, 17))
    actions[1, :5] = 0.4
    qpos = np.tile(mujoco.MjData(gymnasium.make("Humanoid-v5").unwrapped.model).qpos, (3, 1))
    features = measured("Humanoid-v5", qpos, actions)
    assert features["control_effort"] == pytest.approx([0.0, 5 / 17])
    assert features["action_rate"] == pytest.approx([0.0, 5 / 17])


def test_joint_speed_leaves_out_how_the_robot_as_a_whole_moves():
    qvel = np.zeros((2, 9))
    qvel[1] = [5, 5, 5, 1, -2, 3, 0, 0, -6]
    assert measured("HalfCheetah-v5", np.zeros((2, 9)), qvel=qvel)["joint_speed"][0] == pytest.approx(2.0)


def test_pole_features_of_a_leaning_pendulum():
    features = measured("InvertedPendulum-v5", np.array([[0.0, 0.0], [0.2, -0.5]]))
    assert features["cart_position"][0] == pytest.approx(0.2)
    assert features["velocity_x"][0] == pytest.approx(0.2 / 0.04)
    assert features["pole_angle"][0] == pytest.approx(0.5)
    assert features["pole_height"][0] == pytest.approx(0.6 * np.cos(0.5), abs=1e-3)


def test_the_pushed_object_is_measured_to_the_goal():
    qpos = np.zeros((2, 11))
    qpos[:, 7:9] = [-0.3, 0.4]
    assert measured("Pusher-v5", qpos)["target_distance"][0] == pytest.approx(0.5)


def idle_time(model, spec, qpos):
    """The definition step by step: each foot has a clock that is set back when it comes down after having been up."""
    data = mujoco.MjData(model)
    feet = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in spec.morphology.feet]
    floor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "floor")
    clocks, raised, found = [0] * len(feet), [False] * len(feet), []
    for row in qpos[1:]:
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        for i, foot in enumerate(feet):
            height = mujoco.mj_geomDistance(model, data, floor, foot, 10.0, None)
            margin = model.geom_margin[foot] + model.geom_margin[floor]
            clocks[i] += 1
            if height < margin:
                clocks[i] = 0 if raised[i] else clocks[i]
                raised[i] = False
            raised[i] = raised[i] or height >= margin + 0.02
        found.append(max(clocks) * spec.dt)
    return found


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Hopper-v5"])
def test_the_idle_time_is_that_of_the_foot_that_was_not_put_down_for_longest(env_id):
    qpos, height = settled(env_id)
    spec, model = catalog.load(env_id), gymnasium.make(env_id).unwrapped.model
    rng = np.random.default_rng(4)
    rows = np.tile(qpos, (200, 1))
    rows[:, height] += np.clip(0.05 * np.cumsum(rng.standard_normal(200)) ** 2 % 0.06 - 0.02, 0.0, None)
    rows[:, height + 1 :] += 0.02 * rng.standard_normal(rows[:, height + 1 :].shape)
    found = measured(env_id, rows)["foot_idle_time"]
    assert found == pytest.approx(idle_time(model, spec, rows))
    assert 0.0 < np.mean(np.diff(found) < 0.0) < 0.5


@pytest.mark.parametrize("env_id", WALKING)
def test_a_foot_that_stays_down_or_up_or_trembles_is_idle_from_the_start(env_id):
    qpos, height = settled(env_id)
    time = catalog.load(env_id).dt * np.arange(1, 21)
    for lift in (np.zeros(21), np.full(21, 0.3), 0.015 * (np.arange(21) % 2)):
        rows = np.tile(qpos, (21, 1))
        rows[:, height] += lift
        assert measured(env_id, rows)["foot_idle_time"] == pytest.approx(time)
