"""Mirror images of robots and of rollouts."""

import numpy as np
import pytest

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.iterations import IterationRecord
from p2p.worker.rollout.mirror import find_mirror
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training

FORWARD = "def reward_fn(obs, action, next_obs, info):\n    v = info['velocity_x']\n    return v, {'v': v}\n"
LEFT = FORWARD.replace("velocity_x", "yaw_rate")
SIZES = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "net_arch": (8, 8), "episode_s": 1.0}


def run_of(directory, env_id, source=FORWARD, **options):
    record = IterationRecord(directory)
    record.save_config(TrainConfig(env_id=env_id, **{**SIZES, **options}))
    record.save_env_spec(catalog.load(env_id))
    record.save_reward_source(source)
    return Run.open(record)


def mirror_of(directory, env_id, source=FORWARD, **options):
    run = run_of(directory, env_id, source, **options)
    return find_mirror(run.config, run.spec, run.reward)


@pytest.mark.parametrize("env_id", ["Ant-v5", "Walker2d-v5", "Swimmer-v5"])
def test_a_mirror_shows_the_other_side_and_twice_the_robot_itself(env_id, tmp_path):
    mirror = mirror_of(tmp_path, env_id)
    for order in (mirror.observations, mirror.actions):
        rows = np.random.default_rng(1).normal(size=(5, len(order.index)))
        assert not np.array_equal(order.apply(rows), rows)
        assert np.array_equal(order.apply(order.apply(rows)), rows)


def test_the_legs_of_an_ant_change_places(tmp_path):
    actuators = catalog.load("Ant-v5").action
    order = mirror_of(tmp_path, "Ant-v5").actions
    images = {one.joint: (actuators[order.index[one.index]].joint, order.sign[one.index]) for one in actuators}
    assert images["hip_1"] == ("hip_4", -1.0)
    assert images["ankle_2"] == ("ankle_3", 1.0)


@pytest.mark.parametrize(
    ("env_id", "source", "message"),
    [
        ("HalfCheetah-v5", FORWARD, "have no left and right"),
        ("Humanoid-v5", FORWARD, "'right_hip_y' and 'left_hip_y' are not alike, their armature is 0.008 and 0.01"),
        ("Ant-v5", LEFT, "tells left from right .'v' differs most"),
    ],
)
def test_what_is_not_symmetric_is_refused(env_id, source, message, tmp_path):
    with pytest.raises(InvalidConfig, match=message):
        mirror_of(tmp_path, env_id, source)


def test_what_a_policy_is_told_of_its_turns_is_mirrored_too(tmp_path):
    order = mirror_of(tmp_path, "Ant-v5", observe={"features": ["time", "yaw_turns"]}).observations
    assert order.index[-2:].tolist() == [105, 106]
    assert order.sign[-2:].tolist() == [1.0, -1.0]


def test_commands_are_mirrored_as_the_motion_that_is_to_follow_them(tmp_path):
    commands = {"velocity_x": [0.0, 1.0], "velocity_y": [-0.3, 0.3], "resample_s": 0.1}
    reward = FORWARD.replace("velocity_x", "velocity_error")
    mirror = mirror_of(tmp_path, "Ant-v5", reward, commands=commands)
    assert mirror.observations.index[-3:].tolist() == [105, 106, 107]
    assert mirror.observations.sign[-3:].tolist() == [1.0, -1.0, -1.0]
    reward = FORWARD.replace("velocity_x", "heading_error")
    more = commands | {"heading": [-3.0, 3.0], "height": [0.4, 0.7]}
    mirror = mirror_of(tmp_path, "Ant-v5", reward, commands=more)
    assert mirror.observations.index[-4:].tolist() == [105, 106, 107, 108]
    assert mirror.observations.sign[-4:].tolist() == [1.0, -1.0, -1.0, 1.0]


@pytest.mark.parametrize("learner", ["fast", pytest.param("sb3", marks=pytest.mark.slow)])
def test_a_rollout_is_learnt_from_with_its_image(learner, tmp_path):
    training = Training(run_of(tmp_path, "Ant-v5", mirror=True, learner=learner), threads=1)
    batch = training._collector.collect()
    assert len(batch) == 256
    half = slice(128, None)
    found = training._learner.log_probs(batch.observations, batch.actions)
    assert found == pytest.approx(batch.log_probs, abs=1e-4)
    assert np.array_equal(batch.advantages[half], batch.advantages[:128])
    order = training._collector._mirror.actions
    assert np.array_equal(order.apply(batch.actions[:128]), batch.actions[half])
    training.learn(256)
