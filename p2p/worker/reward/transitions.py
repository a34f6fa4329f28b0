"""Real transitions to try a reward on: standing still, acting at random, acting as hard as possible."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import CheckRequest
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.runner import info_rows
from p2p.worker.rollout.vec_env import VecEnv

Floats = NDArray[np.float64]
STARTS = 2
"""Environments per way of acting."""
EPISODES = 2
"""Times each of them is begun anew."""
MIN_STEPS = 50
"""Per episode, so that the robot has time to move, and to fall."""


@dataclass(frozen=True, slots=True)
class Transition:
    """The arguments of a reward."""

    obs: Floats
    action: Floats
    next_obs: Floats
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """Whole episodes, one after the other; B steps in all."""

    obs: Floats
    """Shape (B, obs_dim)."""
    actions: Floats
    """Shape (B, action_dim)."""
    next_obs: Floats
    """Shape (B, obs_dim)."""
    columns: dict[str, NDArray[Any]]
    """What rewards read as `info`: name -> shape (B,) or (B, ...)."""
    starts: NDArray[np.bool_]
    """First step of an episode, shape (B,)."""

    def episodes(self) -> list[list[Transition]]:
        """The same, step by step."""
        infos = info_rows(self.columns, len(self.starts))
        rows = zip(self.obs, self.actions, self.next_obs, infos, strict=True)
        transitions = [Transition(*row) for row in rows]
        cuts = [*np.flatnonzero(self.starts).tolist(), len(transitions)]
        return [transitions[low:high] for low, high in pairwise(cuts)]


def record_episodes(spec: EnvSpec, request: CheckRequest) -> Recording:
    """Episodes of at least `n_transitions` transitions in all."""
    config = TrainConfig(
        env_id=spec.env_id,
        env_kwargs=request.env_kwargs,
        side_info=request.side_info,
        terminate_when_unhealthy=request.terminate_when_unhealthy,
    )
    env = VecEnv(config, spec, 3 * STARTS, terminate=True)
    rng = np.random.default_rng(0)
    steps = max(MIN_STEPS, -(-request.n_transitions // (env.n * EPISODES)))
    for number in range(EPISODES):
        env.reset(range(env.n), range(number * env.n, (number + 1) * env.n))
        for _ in range(steps):
            ended = np.flatnonzero(env.step(_actions(env, rng)).terminated).tolist()
            if ended:
                env.reset(ended, [None] * len(ended))
    recording = _in_order(env)
    env.close()
    return recording


def _in_order(env: VecEnv) -> Recording:
    """What the environments did, one environment after the other."""
    block = env.take_block()
    columns = RewardInputs(env.simulation).read(block)
    rows = np.arange(block.starts.size).reshape(block.starts.shape).T.ravel()
    return Recording(
        obs=block.before.observations[rows],
        actions=np.asarray(block.actions[rows], dtype=np.float64),
        next_obs=block.after.observations[rows],
        columns={name: column[rows] for name, column in columns.items()},
        starts=block.starts.ravel()[rows],
    )


def _actions(env: VecEnv, rng: np.random.Generator) -> Floats:
    """At random, none, and to the ends of the range, for the three groups of environments."""
    low = np.array([actuator.low for actuator in env.spec.action])
    high = np.array([actuator.high for actuator in env.spec.action])
    shape = (STARTS, len(low))
    none = np.clip(np.zeros(shape), low, high)
    extreme = np.where(rng.random(shape) < 0.5, low, high)
    return np.concatenate([rng.uniform(low, high, shape), none, extreme])
