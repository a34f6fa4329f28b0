"""Check a vectorised task against the installed Gymnasium environment."""

from typing import Any

import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.worker.engine.batch_simulation import BatchSimulation
from p2p.worker.engine.tasks.task import VectorisedTask

_STEPS = 3
_RTOL = 1e-6
_ATOL = 1e-9
"""Gymnasium sums some costs in single precision."""


def disagreement(spec: EnvSpec, env: Any, task: VectorisedTask) -> str | None:
    """First difference in a reset and a few steps; None if there is none.

    Args:
        spec: Which environment.
        env: One such environment, unwrapped; it is stepped.
        task: The description.

    Raises:
        BatchUnavailable: MuJoCo refuses a batch of this model.
    """
    vectorised = BatchSimulation(spec, env, task, 1)
    space = env.action_space
    generator = np.random.default_rng(0)
    before = vectorised.reset([0], [0])
    observation, _ = env.reset(seed=0)
    if not _close(before.observations[0], observation):
        return "its first observation differs"
    for _ in range(_STEPS):
        action = generator.uniform(space.low, space.high).astype(np.float32)
        after = vectorised.step(action[None])
        observation, reward, terminated, _, info = env.step(action)
        found = vectorised.outcome(before, after, action[None])
        if not _close(after.observations[0], observation) or bool(after.terminated[0]) != bool(terminated):
            return "its observation or its end differs"
        if not _close(found.rewards[0], reward) or set(found.info) != set(info):
            return "its reward differs"
        if not all(_close(found.info[name][0], value) for name, value in info.items()):
            return "its info differs"
        before = after
    vectorised.close()
    return None


def _close(found: Any, expected: Any) -> bool:
    return np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=_RTOL, atol=_ATOL)
