"""Real transitions to try a reward on: standing still, acting at random, acting as hard as possible."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import CheckRequest
from p2p.worker.vec_env import VecEnv

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


def record_episodes(spec: EnvSpec, request: CheckRequest) -> list[list[Transition]]:
    """Episodes of at least `n_transitions` transitions in all."""
    config = TrainConfig(
        env_id=spec.env_id,
        env_kwargs=request.env_kwargs,
        side_info=request.side_info,
        terminate_when_unhealthy=request.terminate_when_unhealthy,
    )
    env = VecEnv(config, spec, 3 * STARTS, None, terminate=True)
    rng = np.random.default_rng(0)
    steps = max(MIN_STEPS, -(-request.n_transitions // (env.n * EPISODES)))
    episodes: list[list[Transition]] = []
    for number in range(EPISODES):
        episodes += _record(env, rng, number * env.n, steps)
    env.close()
    return episodes


def _record(env: VecEnv, rng: np.random.Generator, first_seed: int, steps: int) -> list[list[Transition]]:
    observations = env.reset(range(env.n), list(range(first_seed, first_seed + env.n))).observations
    running: list[list[Transition]] = [[] for _ in range(env.n)]
    finished = []
    for _ in range(steps):
        actions = _actions(env, rng)
        step = env.step(actions)
        for i, episode in enumerate(running):
            episode.append(Transition(observations[i], actions[i], step.observations[i], step.infos[i]))
        observations = step.observations.copy()
        ended = np.flatnonzero(step.terminated).tolist()
        if ended:
            finished += [running[i] for i in ended]
            observations[ended] = _restart(env, ended, running)
    return finished + [episode for episode in running if episode]


def _restart(env: VecEnv, ended: list[int], running: list[list[Transition]]) -> Floats:
    for i in ended:
        running[i] = []
    return env.reset(ended, [None] * len(ended)).observations


def _actions(env: VecEnv, rng: np.random.Generator) -> Floats:
    """At random, none, and to the ends of the range, for the three groups of environments."""
    low = np.array([actuator.low for actuator in env.spec.action])
    high = np.array([actuator.high for actuator in env.spec.action])
    shape = (STARTS, len(low))
    none = np.clip(np.zeros(shape), low, high)
    extreme = np.where(rng.random(shape) < 0.5, low, high)
    return np.concatenate([rng.uniform(low, high, shape), none, extreme])
