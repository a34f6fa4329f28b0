"""What clips show, computed from their joints with MuJoCo alone, against what they are said to show."""

import re

import mujoco
import numpy as np
import pytest

from p2p.contracts.known_motions import ClipSet
from p2p.envs import catalog
from p2p.worker.engine.environment import compiled_model
from p2p.worker.known_motions.clips import MadeClip

Made = tuple[ClipSet, list[MadeClip]]
FREE = 7


@pytest.fixture
def model(made: Made) -> mujoco.MjModel:
    return compiled_model(catalog.load(made[0].env_id), {})


def named(made: Made, pattern: str) -> list[MadeClip]:
    return [one for one in made[1] if re.match(pattern, one.clip.motion)]


def attitude(one: MadeClip, model: mujoco.MjModel) -> np.ndarray:
    """Rotation matrix of the torso at every state, shape (T + 1, 3, 3)."""
    data, rows = mujoco.MjData(model), []
    torso = model.body("torso").id
    for qpos in one.played.qpos:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        rows.append(data.xmat[torso].reshape(3, 3).copy())
    return np.array(rows)


def touches(one: MadeClip, model: mujoco.MjModel) -> np.ndarray:
    """Where MuJoCo's own collision detection finds a contact with the world, shape (T + 1,)."""
    data, flags = mujoco.MjData(model), []
    for qpos in one.played.qpos:
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        bodies = [model.geom_bodyid[list(contact.geom)] for contact in data.contact[: data.ncon]]
        flags.append(any(0 in pair for pair in bodies))
    return np.array(flags)


def test_travel_has_the_velocity_it_says(made: Made) -> None:
    found = named(made, "travel (as asked|at 80|the wrong way|too fast|to the side|askew)|crawl$|hop forward")
    assert found
    for one in found:
        gone = (one.played.qpos[-1, :2] - one.played.qpos[0, :2]) / one.clip.seconds
        assert gone[0] == pytest.approx(one.clip.parameters.get("vx", 0.0), abs=1e-9)
        if "vy" in one.clip.parameters:
            assert gone[1] == pytest.approx(one.clip.parameters["vy"], abs=1e-9)


def test_sliding_feet_are_always_on_the_floor_and_walking_ones_are_not(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, "slide on still feet|travel as asked"):
        joints = one.played.qpos[:, FREE if model.jnt_type[0] == 0 else 3 :]
        slides = one.clip.motion.startswith("slide")
        assert bool(np.ptp(joints, axis=0).max() == 0.0) is slides
        gone = (one.played.qpos[-1, :2] - one.played.qpos[0, :2]) / one.clip.seconds
        assert np.abs(gone).max() == pytest.approx(max(map(abs, one.clip.parameters.values())))
        if slides:
            assert touches(one, model).all()


def test_spikes_and_bursts_get_the_same_place_while_standing_almost_always(made: Made) -> None:
    for one in named(made, "one velocity spike|a burst"):
        path = one.played.qpos[:, 0]
        moving = np.abs(np.diff(path)) > 1e-9
        assert np.mean(moving) < 0.1
        assert abs(path[-1]) == pytest.approx(abs(one.clip.parameters.get("vx", 0.0)) * one.clip.seconds)


def test_there_and_back_ends_where_it_began(made: Made) -> None:
    for one in named(made, "there and back|shake to and fro"):
        speed = max(map(abs, one.clip.parameters.values()))
        assert np.abs(one.played.qpos[-1, :2] - one.played.qpos[0, :2]).max() < 0.15 * speed * one.clip.seconds


def test_jumps_are_as_many_and_as_high_as_they_say(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, r"jump \d times$|jump high|jump 80 %|jump 3 times, 80"):
        height = one.played.qpos[:, 2 if model.nq >= FREE + 1 and model.jnt_type[0] == 0 else 1]
        assert np.ptp(height) == pytest.approx(one.clip.parameters["height"], rel=0.06)
        down = touches(one, model)
        assert np.sum(~down[1:] & down[:-1]) == one.clip.parameters["jumps"]


def test_legs_that_are_drawn_up_leave_the_floor_and_the_torso_does_not_rise(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, "draw up"):
        height = one.played.qpos[:, 2 if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 1]
        assert height.max() - height[0] < 0.2 * one.clip.parameters["height"]
        off = ~touches(one, model)
        assert np.sum(off[1:] & ~off[:-1]) == one.clip.parameters["times"]


def test_flips_turn_as_far_as_they_say_and_off_the_floor(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, r"flip [\d.]+ (back|for)ward"):
        forward = attitude(one, model)[:, :, 0]
        pitch = np.unwrap(np.arctan2(forward[:, 2], forward[:, 0]))
        assert (pitch[-1] - pitch[0]) / (2 * np.pi) == pytest.approx(one.clip.parameters["turns"], abs=1e-6)
        turning = np.abs(np.diff(pitch, prepend=pitch[0])) > 0.05
        assert not (touches(one, model) & turning).any()


def test_turning_over_on_the_floor_never_leaves_it(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, r"turn over (back|for)ward on the floor|roll over|roll half"):
        assert touches(one, model).all()


def test_spins_turn_as_far_as_they_say(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, r"spin [\d.]+ to the (left|right)$|turn to the \w+ in a few steps"):
        forward = attitude(one, model)[:, :, 0]
        yaw = np.unwrap(np.arctan2(forward[:, 1], forward[:, 0]))
        assert (yaw[-1] - yaw[0]) / (2 * np.pi) == pytest.approx(one.clip.parameters["turns"], abs=1e-6)


def test_what_falls_or_lies_is_not_upright_at_the_end(made: Made, model: mujoco.MjModel) -> None:
    pattern = ".*fall in the last second|fall (at|the)|lie still|slide on the back|cross the line|crawl on the back"
    for one in named(made, pattern):
        assert attitude(one, model)[-1, 2, 2] < 0.1


def test_what_falls_in_the_last_second_stands_before(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, ".*fall in the last second"):
        upright = attitude(one, model)[:, 2, 2]
        assert (upright[: int(0.75 * len(upright))] > 0.9).all()


def test_crawling_is_lower_than_standing(made: Made) -> None:
    standing = named(made, "stand$")[0].played.features
    for one in named(made, "crawl"):
        if "back" not in one.clip.motion:
            assert one.played.features["height"].mean() < 0.85 * standing["height"].mean()


def test_rearing_lasts_as_long_as_it_says(made: Made, model: mujoco.MjModel) -> None:
    for one in named(made, "rear for"):
        forward = attitude(one, model)[:, :, 0]
        pitch = np.unwrap(np.arctan2(forward[:, 2], forward[:, 0]))
        held = np.sum(np.abs(pitch) > 0.94 * abs(one.clip.parameters["pitch"])) * made[0].dt
        assert held == pytest.approx(one.clip.parameters["hold"], abs=0.2)
