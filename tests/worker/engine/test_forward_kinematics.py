import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.worker.engine import forward_kinematics
from p2p.worker.engine.forward_kinematics import ForwardKinematics, ForwardMotion


def states(env_id, count):
    env = gymnasium.make(env_id).unwrapped
    rng = np.random.default_rng(0)
    for index in range(count):
        env.reset(seed=index)
        turned = env.data.qpos + rng.normal(scale=0.5, size=env.model.nq)  # quaternions of any length among them
        yield env.model, turned, rng.normal(size=env.model.nv)


def block(env_id, count):
    models, qpos, qvel = zip(*states(env_id, count), strict=True)
    return models[0], np.array(qpos), np.array(qvel)


def fresh(model, qpos, qvel):
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    return data


@pytest.fixture(params=["batch", "loop"])
def route(request, monkeypatch):
    if request.param == "loop":
        monkeypatch.setattr(forward_kinematics, "unavailable", lambda: "not asked for")


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("env_id", ["Humanoid-v5", "Pusher-v5"])
@pytest.mark.parametrize("count", [0, 1, 64, 150])
def test_the_poses_of_a_block_are_those_of_each_state_alone(env_id, count):
    model, qpos, qvel = block(env_id, max(count, 1))
    poses = ForwardKinematics(model).read(qpos[:count])
    assert poses.geom_xmat.shape == (count, model.ngeom, 9)
    for index in range(count):
        data = fresh(model, qpos[index], qvel[index])
        for name in ("xpos", "xquat", "xmat", "geom_xpos", "geom_xmat"):
            assert np.array_equal(getattr(poses, name)[index], getattr(data, name))


@pytest.mark.usefixtures("route")
def test_the_motions_of_a_block_are_those_of_each_state_alone_whatever_was_read_before():
    model, qpos, qvel = block("Ant-v5", 100)
    reader = ForwardMotion(model, threads=2)
    reader.read(qpos[::-1], qvel)
    motions = reader.read(qpos, qvel)
    for index in range(100):
        data = fresh(model, qpos[index], qvel[index])
        for name in ("xpos", "xquat", "cvel"):
            assert np.array_equal(getattr(motions, name)[index], getattr(data, name))


def test_poses_are_not_overwritten_by_the_next_block():
    model, qpos, _ = block("HalfCheetah-v5", 3)
    reader = ForwardKinematics(model)
    poses = reader.read(qpos[:1])
    kept = poses.xpos.copy()
    reader.read(qpos[1:2])
    assert np.array_equal(poses.xpos, kept)
