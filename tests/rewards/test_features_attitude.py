"""Turns, leans and headings on scripted poses, each against its definition by hand."""

import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.envs import catalog
from p2p.rewards.features import measure_trajectory
from p2p.worker.features.kinematics import Kinematics

PLANAR = ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5")
FREE = ("Ant-v5", "Humanoid-v5")


def scripted(env_id, change, n=61):
    """Features while the initial pose is changed: `change(qpos, share)` with the share of time passed, in [0, 1]."""
    env = gymnasium.make(env_id, disable_env_checker=True)
    model, spec = env.unwrapped.model, catalog.load(env_id)
    qpos = np.tile(mujoco.MjData(model).qpos, (n, 1))
    change(qpos, np.linspace(0.0, 1.0, n))
    states = Kinematics(model, spec).read(qpos, np.zeros((n, model.nv)))
    env.close()
    return measure_trajectory(spec, states, np.zeros((n - 1, spec.action_dim)))


def at_rest(qpos, _):
    """Leaves the initial pose as it is."""
    del qpos


def about(axis, angles):
    """Quaternions that turn by `angles` about a world axis."""
    return np.column_stack([np.cos(angles / 2), np.sin(angles / 2)[:, None] * np.array(axis, dtype=float)])


def product(a, b):
    rows = np.zeros((len(a), 4))
    for row, left, right in zip(rows, a, b, strict=True):
        mujoco.mju_mulQuat(row, left, right)
    return rows


@pytest.mark.parametrize("env_id", [name for name in catalog.known() if "up" in catalog.load(name).feature_names])
def test_at_the_start_every_robot_but_the_lying_one_is_upright_and_faces_x(env_id):
    features = scripted(env_id, at_rest)
    lying = env_id == "HumanoidStandup-v5"
    assert features["up"][0] == pytest.approx(0.0 if lying else 1.0, abs=1e-9)
    assert features["pitch"][0] == pytest.approx(np.pi / 2 if lying else 0.0, abs=1e-9)
    assert features["forward_velocity"][0] == 0.0


@pytest.mark.parametrize("env_id", PLANAR)
@pytest.mark.parametrize(("nose", "turns"), [("up", 1.0), ("down", -1.0)])
def test_a_planar_flip_counts_one_turn_positive_when_backward(env_id, nose, turns):
    sign = -1.0 if nose == "up" else 1.0

    def flip(qpos, share):
        qpos[:, 2] = sign * 2 * np.pi * share

    features = scripted(env_id, flip)
    assert features["pitch_turns"][-1] == pytest.approx(turns)
    assert features["rotation_y"][-1] == pytest.approx(-2 * np.pi * turns)
    assert features["pitch"][14] == pytest.approx(turns * np.pi / 2)
    assert features["up"][29] == pytest.approx(-1.0)
    assert features["pitch_rate"] == pytest.approx(np.full(60, turns * 2 * np.pi / 60 / catalog.load(env_id).dt))


def test_the_nose_of_the_cheetah_is_its_head():
    env = gymnasium.make("HalfCheetah-v5", disable_env_checker=True)
    model = env.unwrapped.model
    data = mujoco.MjData(model)
    data.joint("rooty").qpos[0] = -0.5
    mujoco.mj_kinematics(model, data)
    assert data.geom("head").xpos[2] > data.body("torso").xpos[2] + 0.2

    def lean(qpos, _):
        qpos[:, 2] = -0.5

    assert scripted("HalfCheetah-v5", lean)["pitch"][0] == pytest.approx(0.5)
    env.close()


@pytest.mark.parametrize("env_id", FREE)
@pytest.mark.parametrize("turns", [2.0, -1.25])
def test_turning_left_counts_positive_and_beyond_one_turn(env_id, turns):
    def spin(qpos, share):
        qpos[:, 3:7] = about((0, 0, 1), 2 * np.pi * turns * share)

    features = scripted(env_id, spin)
    assert features["yaw_turns"][-1] == pytest.approx(turns)
    assert features["rotation_z"][-1] == pytest.approx(2 * np.pi * turns)
    assert features["yaw_rate"] == pytest.approx(np.full(60, 2 * np.pi * turns / 60 / catalog.load(env_id).dt))
    assert np.abs(features["yaw"]).max() <= np.pi
    assert features["yaw"][5] == pytest.approx(2 * np.pi * turns * 6 / 60)
    assert features["pitch_turns"][-1] == pytest.approx(0.0, abs=1e-9)
    assert features["up"] == pytest.approx(np.ones(60))


def test_the_swimmer_turns_left_with_its_root_hinge():
    def spin(qpos, share):
        qpos[:, 2] = 5 * np.pi * share

    features = scripted("Swimmer-v5", spin)
    assert features["yaw_turns"][-1] == pytest.approx(2.5)
    assert np.abs(features["yaw"]).max() <= np.pi


@pytest.mark.parametrize("heading", [0.0, np.pi / 2, 2.5, -3.0])
@pytest.mark.parametrize(("side", "key"), [((0, -1, 0), "pitch_turns"), ((1, 0, 0), "roll_turns")])
def test_flips_and_rolls_are_about_the_robots_own_axes_whatever_its_heading(heading, side, key):
    def tumble(qpos, share):
        qpos[:, 3:7] = product(about((0, 0, 1), np.full(len(share), heading)), about(side, 4 * np.pi * share))

    features = scripted("Ant-v5", tumble)
    found = {name: features[name][-1] for name in ("roll_turns", "pitch_turns", "yaw_turns")}
    assert found == pytest.approx({"roll_turns": 0.0, "pitch_turns": 0.0, "yaw_turns": 0.0} | {key: 2.0}, abs=1e-9)


@pytest.mark.parametrize("roll", [0.5, -1.0])
def test_of_a_flip_about_a_tilted_axis_the_horizontal_part_counts(roll):
    def flip(qpos, share):
        tilted = about((1, 0, 0), np.full(len(share), roll))
        qpos[:, 3:7] = product(tilted, about((0, -1, 0), 2 * np.pi * share))

    features = scripted("Humanoid-v5", flip)
    assert features["pitch_turns"][-1] == pytest.approx(np.cos(roll))
    assert features["yaw_turns"][-1] == pytest.approx(-np.sin(roll))


@pytest.mark.parametrize("heading", [0.3, 1.5])
def test_rolling_over_is_no_flip_even_when_slightly_askew(heading):
    def roll_over(qpos, share):
        askew = product(about((0, 0, 1), np.full(len(share), heading)), about((1, 0, 0), np.full(len(share), 1.5)))
        axis = (-np.sin(heading), np.cos(heading), 0)
        qpos[:, 3:7] = product(about(axis, 2 * np.pi * share), askew)

    features = scripted("Ant-v5", roll_over)
    assert np.hypot(features["rotation_x"][-1], features["rotation_y"][-1]) == pytest.approx(2 * np.pi)
    assert abs(features["pitch_turns"][-1]) < 0.12


def test_spinning_on_its_side_is_not_flipping():
    def spin(qpos, share):
        qpos[:, 3:7] = product(about((0, 0, 1), 4 * np.pi * share), about((1, 0, 0), np.full(len(share), 1.5)))

    features = scripted("Ant-v5", spin)
    assert features["yaw_turns"][-1] == pytest.approx(2.0)
    assert features["pitch_turns"][-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("yaw", [0.0, 1.2, -2.0])
@pytest.mark.parametrize("roll", [-0.9, 0.0, 0.4])
@pytest.mark.parametrize("pitch", [-2.8, -0.5, 0.0, 1.2, 2.0])
def test_roll_pitch_and_yaw_are_those_the_pose_was_made_of(yaw, roll, pitch):
    def lean(qpos, share):
        ones = np.ones(len(share))
        tilt = product(about((1, 0, 0), roll * ones), about((0, -1, 0), pitch * ones))
        qpos[:, 3:7] = product(about((0, 0, 1), yaw * ones), tilt)

    features = scripted("Ant-v5", lean, n=2)
    assert [features[name][0] for name in ("roll", "pitch", "yaw")] == pytest.approx([roll, pitch, yaw])
    assert features["up"][0] == pytest.approx(np.cos(roll) * np.cos(pitch))


@pytest.mark.parametrize("env_id", FREE)
def test_forward_and_left_follow_the_heading(env_id):
    def sidestep(qpos, share):
        qpos[:, 3:7] = about((0, 0, 1), np.full(len(share), np.pi / 2))
        qpos[:, 0], qpos[:, 1] = 0.6 * share, 1.2 * share

    features, dt = scripted(env_id, sidestep), catalog.load(env_id).dt
    assert features["forward_velocity"] == pytest.approx(np.full(60, 0.02 / dt))
    assert features["lateral_velocity"] == pytest.approx(np.full(60, -0.01 / dt))
    assert features["velocity_x"] == pytest.approx(np.full(60, 0.01 / dt))


def test_the_heading_does_not_turn_round_in_a_flip():
    def flying_flip(qpos, share):
        qpos[:, 2], qpos[:, 0] = -2 * np.pi * share, 3.0 * share

    features = scripted("HalfCheetah-v5", flying_flip)
    assert features["forward_velocity"] == pytest.approx(np.full(60, 1.0))


def test_a_humanoid_that_stands_up_ends_upright():
    """Half way between lying on its back and standing, it leans back by 45 degrees."""

    def stand_up(qpos, share):
        qpos[:, 3:7] = about((0, 1, 0), np.pi / 2 * share)

    features = scripted("HumanoidStandup-v5", stand_up)
    assert features["up"][-1] == pytest.approx(1.0)
    assert features["pitch"][29] == pytest.approx(np.pi / 4)
    assert features["pitch_turns"][-1] == pytest.approx(-0.25)
