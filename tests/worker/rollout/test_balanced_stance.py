"""The stance of a robot."""

import mujoco
import numpy as np
import pytest

from p2p.contracts.start_states import StartState
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.rewards.rotations import multiply, upness
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.rollout.balanced_stance import balanced_stance, way_to_stance


def leaning(env_id, seed):
    """Model of a robot, and a state in which it leans and moves, somewhere above the floor."""
    spec = catalog.load(env_id)
    env = VecEnv(TrainConfig(env_id=env_id), spec, 1)
    frame = env.reset([0], [seed])
    qpos, qvel = frame.qpos[0].copy(), frame.qvel[0] + 1.0
    if any(joint.kind == "free" for joint in spec.joints):
        tilt = 0.3 * np.random.default_rng(seed).uniform(-1, 1, 2)
        turn = np.array([1.0, *tilt, 0.0])
        qpos[3:7] = multiply(turn / np.linalg.norm(turn), qpos[3:7])
        qpos[:3] += (2.0, -1.0, 0.4)
    return env.simulation.model, spec, StartState(qpos=tuple(qpos), qvel=tuple(qvel), pitch_turns=0.25)


@pytest.mark.parametrize("env_id", ["Humanoid-v5", "Ant-v5"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_mass_is_above_the_feet_and_nothing_moves(env_id, seed):
    model, spec, state = leaning(env_id, seed)
    found = balanced_stance(model, spec, state)
    assert set(found.qvel) == {0.0}
    assert found.pitch_turns == 0.25
    low, high = model.jnt_range[1:].T
    assert np.array_equal(found.qpos[7:], np.clip(state.qpos[7:], low, high))  # the angles of its joints
    data = mujoco.MjData(model)
    data.qpos[:] = found.qpos
    mujoco.mj_forward(model, data)
    if len(spec.morphology.feet) == 2:
        touching = np.array([contact.pos for contact in data.contact if contact.pos[2] < 0.02])
        assert data.subtree_com[1][:2] == pytest.approx(touching.mean(axis=0)[:2], abs=0.02)
    upright = data.xmat[model.body(spec.morphology.torso).id].reshape(3, 3)[2, 2]
    assert upright > 0.9
    low = Kinematics(model, spec).read(np.array([found.qpos]), np.array([found.qvel])).low[0]
    assert low == pytest.approx(0.0, abs=1e-6)


def test_a_humanoid_let_go_there_falls_later():
    model, spec, state = leaning("Humanoid-v5", 1)

    def falls_after(start):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = start.qpos, 0.0
        while data.qpos[2] > 0.9:
            mujoco.mj_step(model, data)
        return data.time

    leans = balanced_stance(model, spec, state)
    dropped = state.model_copy(update={"qpos": (*state.qpos[:2], leans.qpos[2], *state.qpos[3:])})
    assert falls_after(leans) > 1.2 * falls_after(dropped)


def test_a_planar_robot_is_brought_to_rest_as_it_is():
    model, spec, state = leaning("Hopper-v5", 1)
    found = balanced_stance(model, spec, state)
    assert found.qpos == state.qpos
    assert set(found.qvel) == {0.0}


@pytest.mark.parametrize("env_id", ["Humanoid-v5", "Ant-v5", "Hopper-v5"])
def test_the_way_to_the_stance_blends_angles_and_velocities_on_the_floor(env_id):
    model, spec, state = leaning(env_id, 3)
    bent = state.model_copy(update={"qpos": (*state.qpos[:-1], state.qpos[-1] - 0.2)})
    stance = balanced_stance(model, spec, state)
    way = way_to_stance(model, spec, bent, stance, 4)
    assert len(way) == 4
    assert way[-1] == stance
    for number, share in enumerate((0.75, 0.5, 0.25)):
        between = way[number]
        last = stance.qpos[-1] + share * (bent.qpos[-1] - stance.qpos[-1])
        assert between.qpos[-1] == pytest.approx(last)
        assert between.qvel == pytest.approx(share * np.array(bent.qvel))
    ends = np.array([bent.qpos, *(one.qpos for one in way)])
    low = Kinematics(model, spec).read(ends, np.zeros((5, model.nv))).low
    assert low[1:-1] == pytest.approx(0.0, abs=1e-6)
    if spec.morphology.feet and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        norms = np.linalg.norm(ends[1:, 3:7], axis=1)
        assert norms == pytest.approx(1.0)
        tilts = np.array([upness(quaternion[None])[0] for quaternion in ends[:, 3:7]])
        assert (np.diff(tilts) > 0).all()


@pytest.mark.parametrize("env_id", ["Swimmer-v5", "Reacher-v5"])
def test_a_robot_that_cannot_move_up_keeps_its_height_on_the_way(env_id):
    model, spec, state = leaning(env_id, 3)
    way = way_to_stance(model, spec, state, balanced_stance(model, spec, state), 3)
    assert [one.qpos for one in way] == [pytest.approx(state.qpos)] * 3
    assert [max(one.qvel) for one in way] == pytest.approx([max(state.qvel) * share for share in (2 / 3, 1 / 3, 0)])
