import mujoco
import numpy as np
import pytest
from constructed_motions import ANT

from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.engine.environment import compiled_model
from p2p.worker.pictures.slow_motion import RecordedStates, refine
from p2p.worker.rollout.episodes import run_episodes

ENVIRONMENTS = ("HalfCheetah-v5", "Hopper-v5", "Ant-v5", "Humanoid-v5", "Pusher-v5", "InvertedDoublePendulum-v5")


class Flailing:
    """Acts at random, the same in every run."""

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self._rng, self._low, self._high = np.random.default_rng(3), low, high

    def act(self, observations: np.ndarray) -> np.ndarray:
        shape = (len(observations), len(self._low))
        return self._rng.uniform(self._low, self._high, shape).astype(np.float32)


def recorded(env_id: str, seconds: float = 1.0) -> RecordedStates:
    spec = catalog.load(env_id)
    policy = Flailing(np.array([a.low for a in spec.action]), np.array([a.high for a in spec.action]))
    config = TrainConfig(env_id=env_id, episode_s=seconds)
    arrays = run_episodes(config, spec, policy, [5])[0].arrays
    return RecordedStates(*(arrays[name] for name in ("initial_qpos", "initial_qvel", "qpos", "qvel", "action")))


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_what_is_simulated_again_meets_what_was_recorded_to_the_bit(env_id: str) -> None:
    states, spec = recorded(env_id), catalog.load(env_id)
    motion = refine(compiled_model(spec), states, spec.frame_skip)
    assert (motion.interpolated, motion.worst) == (0, 0.0)
    assert motion.note == "simulated again between control steps"
    assert motion.qpos.shape == (len(states.qpos) * spec.frame_skip, spec.nq)
    np.testing.assert_array_equal(motion.qpos[spec.frame_skip - 1 :: spec.frame_skip], states.qpos)


def test_states_between_control_steps_are_those_of_the_physics() -> None:
    states, spec = recorded("Hopper-v5"), catalog.load("Hopper-v5")
    model = compiled_model(spec)
    motion = refine(model, states, spec.frame_skip)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = states.initial_qpos, states.initial_qvel
    mujoco.mj_forward(model, data)
    for row, expected in enumerate(motion.qpos):
        data.ctrl[:] = states.action[row // spec.frame_skip]
        mujoco.mj_step(model, data)
        np.testing.assert_allclose(expected, data.qpos, atol=1e-9)


def test_steps_that_cannot_be_simulated_again_are_interpolated_and_counted() -> None:
    states = recorded("Ant-v5")
    states.qpos[10:, 0] += 0.5  # something moved it that no action explains
    motion = refine(compiled_model(ANT), states, ANT.frame_skip)
    assert motion.interpolated == 1
    assert "1 control steps could not be simulated again and are interpolated" in motion.note
    part = motion.qpos[10 * ANT.frame_skip - 1 : 11 * ANT.frame_skip]
    np.testing.assert_allclose(np.diff(part[:, 0]), np.diff(part[:, 0])[0])
    np.testing.assert_array_equal(part[-1], states.qpos[10])
    np.testing.assert_allclose(np.linalg.norm(motion.qpos[:, 3:7], axis=1), 1.0, atol=1e-6)


def test_actions_of_another_number_than_the_motors_are_not_simulated() -> None:
    states = recorded("Hopper-v5")
    spec = catalog.load("Hopper-v5")
    other = RecordedStates(states.initial_qpos, states.initial_qvel, states.qpos, states.qvel, states.action[:, :2])
    motion = refine(compiled_model(spec), other, spec.frame_skip)
    assert motion.interpolated == len(states.qpos)
    np.testing.assert_array_equal(motion.qpos[spec.frame_skip - 1 :: spec.frame_skip], states.qpos)
