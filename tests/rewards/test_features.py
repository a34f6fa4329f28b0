from dataclasses import fields
from itertools import pairwise

import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.envs import catalog
from p2p.rewards.features import FeatureTracker, measure_trajectory
from p2p.rewards.states import States
from p2p.worker.features.kinematics import Kinematics

ALL = catalog.known()


@pytest.fixture(scope="module")
def models():
    """The model of every environment by id."""
    found = {}
    for env_id in ALL:
        env = gymnasium.make(env_id, disable_env_checker=True)
        found[env_id] = env.unwrapped.model
        env.close()
    return found


def roll_out(env_id, steps, seed=0):
    """Positions, velocities and actions of a random episode, the state after the reset first."""
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    data, actions = env.unwrapped.data, []
    qpos, qvel = [data.qpos.copy()], [data.qvel.copy()]
    for _ in range(steps):
        actions.append(env.action_space.sample())
        env.step(actions[-1])
        qpos.append(data.qpos.copy())
        qvel.append(data.qvel.copy())
    env.close()
    return np.array(qpos), np.array(qvel), np.array(actions)


def scripted(models, env_id, qpos, actions=None):
    """Features of a sequence of poses."""
    spec, qpos = catalog.load(env_id), np.asarray(qpos, dtype=float)
    states = Kinematics(models[env_id], spec).read(qpos, np.zeros((len(qpos), spec.nv)))
    return measure_trajectory(spec, states, np.zeros((len(qpos) - 1, spec.action_dim)) if actions is None else actions)


def poses(models, env_id, n):
    return np.tile(mujoco.MjData(models[env_id]).qpos, (n, 1))


def rotated(angles, axis):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    return np.column_stack([np.cos(angles / 2), np.sin(angles / 2)[:, None] * axis])


def block(reader, episodes, low, high, starts):
    """Steps `low` to `high` of episodes side by side, as a tracker gets them."""
    qpos, qvel, actions = (np.stack([episode[k] for episode in episodes], axis=1) for k in range(3))
    before, after = (
        reader.read(
            qpos[low + k : high + k].reshape(-1, qpos.shape[2]), qvel[low + k : high + k].reshape(-1, qvel.shape[2])
        )
        for k in (0, 1)
    )
    return before, after, actions[low:high].reshape(-1, actions.shape[2]), starts


def beginning(steps, n, first=True):
    starts = np.zeros((steps, n), dtype=bool)
    starts[0] = first
    return starts


@pytest.mark.parametrize("env_id", ALL)
@pytest.mark.parametrize("cuts", [(0, 40), (0, 1, 2, 17, 40)])
def test_a_block_gives_to_the_bit_what_the_whole_trajectory_gives(models, env_id, cuts):
    spec, reader = catalog.load(env_id), Kinematics(models[env_id], catalog.load(env_id))
    episodes = [roll_out(env_id, 40, seed) for seed in range(3)]
    tracker = FeatureTracker(spec, 3)
    parts = [
        tracker.measure(*block(reader, episodes, low, high, beginning(high - low, 3, low == 0)))
        for low, high in pairwise(cuts)
    ]
    for number, (qpos, qvel, actions) in enumerate(episodes):
        whole = measure_trajectory(spec, reader.read(qpos, qvel), actions)
        assert tuple(whole) == tuple(parts[0]) == spec.feature_names
        for name, values in whole.items():
            side_by_side = np.concatenate([part[name].reshape(-1, 3)[:, number] for part in parts])
            assert side_by_side.tolist() == values.tolist(), name


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Reacher-v5"])
def test_an_episode_that_starts_within_a_block_starts_anew_and_alone(models, env_id):
    spec, reader = catalog.load(env_id), Kinematics(models[env_id], catalog.load(env_id))
    first, second = roll_out(env_id, 20, 1), roll_out(env_id, 10, 2)
    halves = block(reader, [first, first], 0, 10, beginning(10, 2))
    rest = tuple(array[10:] for array in first)
    begun = block(reader, [rest, second], 0, 10, np.stack([np.zeros(10, bool), np.arange(10) == 0], axis=1))
    joined = [rows_joined(a, b) for a, b in zip(halves, begun, strict=True)]
    last = FeatureTracker(spec, 2).measure(*joined)
    going_on = measure_trajectory(spec, reader.read(*first[:2]), first[2])
    restarted = measure_trajectory(spec, reader.read(*second[:2]), second[2])
    for name in spec.feature_names:
        assert last[name].reshape(20, 2)[:, 0].tolist() == going_on[name].tolist(), name
        assert last[name].reshape(20, 2)[10:, 1].tolist() == restarted[name].tolist(), name


def rows_joined(a, b):
    if isinstance(a, States):
        return States(*(np.concatenate([getattr(part, f.name) for part in (a, b)]) for f in fields(States)))
    return np.concatenate([a, b])


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Swimmer-v5", "Humanoid-v5"])
def test_velocities_are_finite_differences_of_the_torso(models, env_id):
    qpos, qvel, actions = roll_out(env_id, 30)
    spec, model = catalog.load(env_id), models[env_id]
    data, torso, places = mujoco.MjData(model), model.body("torso").id, []
    for row in qpos:
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos[torso].copy())
    change = np.diff(places, axis=0) / spec.dt
    features = measure_trajectory(spec, Kinematics(model, spec).read(qpos, qvel), actions)
    for axis, name in enumerate(("velocity_x", "velocity_y", "velocity_z")):
        if name in features:
            assert features[name] == pytest.approx(change[:, axis], abs=1e-9)
    assert features["speed"] == pytest.approx(np.hypot(change[:, 0], change[:, 1]))
    moved = np.array(places[1:]) - places[0]
    assert features["displacement"] == pytest.approx(np.hypot(moved[:, 0], moved[:, 1]))
    assert features["displacement_x"] == pytest.approx(moved[:, 0])
    assert features["time"] == pytest.approx(np.arange(1, 31) * spec.dt)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 3)])
def test_a_body_spinning_about_a_known_axis_accumulates_its_angle(models, axis):
    qpos = poses(models, "Ant-v5", 101)
    angles = np.linspace(0.0, 9.0, 101)
    qpos[:, 3:7] = rotated(angles, axis)
    features = scripted(models, "Ant-v5", qpos)
    total = np.column_stack([features[f"rotation_{name}"] for name in "xyz"])
    assert total == pytest.approx(angles[1:, None] * np.array(axis) / np.linalg.norm(axis))
    assert features["up"][-1] == pytest.approx(_matrix(qpos[-1, 3:7])[2, 2])


def test_a_body_in_free_flight_accumulates_what_its_angular_velocity_says():
    xml = """<mujoco><option timestep=".001" gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 1" pos="0 0 -9"/>
    <body name="torso"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    ant = catalog.load("Ant-v5")
    bare = ant.morphology.model_copy(update={"feet": (), "trunk": ()})
    plain = tuple(feature for feature in ant.features if not feature.name.startswith("contact_"))
    spec = ant.model_copy(update={"morphology": bare, "features": plain})
    data = mujoco.MjData(model)
    data.qpos[3:7] = rotated(np.array([1.0]), (1, 1, 0))[0]
    data.qvel[:] = [0.3, 0.0, 0.0, 1.0, 2.0, -1.0]
    world = _matrix(data.qpos[3:7]) @ data.qvel[3:6]
    rows = []
    for _ in range(41):
        rows.append(data.qpos.copy())
        mujoco.mj_step(model, data, nstep=50)
    states = Kinematics(model, spec).read(np.array(rows), np.zeros((41, 6)))
    features = measure_trajectory(spec, states, np.zeros((40, 8)))
    for axis, name in enumerate("xyz"):
        assert features[f"rotation_{name}"] == pytest.approx(world[axis] * features["time"], abs=1e-6)
    assert features["yaw_rate"] == pytest.approx(np.full(40, world[2]), abs=1e-6)
    assert features["velocity_x"] == pytest.approx(np.full(40, 0.3))
    assert features["airborne"].tolist() == [1.0] * 40


def _matrix(quaternion):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
