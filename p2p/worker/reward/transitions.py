"""Real transitions for trying a reward: standing still, random actions, extreme actions."""

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import CheckRequest
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.recording import Recording
from p2p.worker.reward_source.info_names import texts_in

Floats = NDArray[np.float64]
STARTS = 2
"""Environments per way of acting."""
EPISODES = 2
"""Times each of them is begun anew."""
MIN_STEPS = 50
"""Per episode, so that the robot has time to move, and to fall."""


def record_episodes(spec: EnvSpec, request: CheckRequest, source: str = "") -> Recording:
    """Episodes of at least `n_transitions` transitions in all, with the features of parts that a source names."""
    config = TrainConfig(
        env_id=spec.env_id,
        env_kwargs=request.env_kwargs,
        side_info=request.side_info,
        terminate_when_unhealthy=request.terminate_when_unhealthy,
        commands=spec.commands,
    )
    env = VecEnv(config, spec, 3 * STARTS, training=True)
    rng = np.random.default_rng(0)
    steps = max(MIN_STEPS, -(-request.n_transitions // (env.n * EPISODES)))
    low = np.array([actuator.low for actuator in env.spec.action])
    high = np.array([actuator.high for actuator in env.spec.action])
    shape = (STARTS, len(low))
    none = np.clip(np.zeros(shape), low, high)
    for number in range(EPISODES):
        env.reset(range(env.n), range(number * env.n, (number + 1) * env.n))
        for _ in range(steps):
            # Random, zero and extreme actions, for the three groups of environments.
            extreme = np.where(rng.random(shape) < 0.5, low, high)
            actions = np.concatenate([rng.uniform(low, high, shape), none, extreme])
            ended = np.flatnonzero(env.step(actions).terminated).tolist()
            if ended:
                env.reset(ended, [None] * len(ended))
    block = env.take_block()
    columns = RewardInputs(env.simulation, None, texts_in(source)).read(block)
    # One environment after the other.
    rows = np.arange(block.starts.size).reshape(block.starts.shape).T.ravel()
    recording = Recording(
        obs=block.before.observations[rows],
        actions=np.asarray(block.actions[rows], dtype=np.float64),
        next_obs=block.after.observations[rows],
        columns={name: column[rows] for name, column in columns.items()},
        starts=block.starts.ravel()[rows],
    )
    env.close()
    return recording
