"""Trainings and environments that go on from a saved state, beside those that were not interrupted."""

import numpy as np

from p2p.contracts.start_states import StartStates
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.rollout.starts import StartPlacer
from p2p.worker.rollout.training_env import TrainingEnv
from p2p.worker.training.train import Training, policy_of

STEPS = 128
"""Of a rollout of the runs that `policies_of_both` is given."""


def policies_of_both(run):
    """Policies of a training, and of one that went on from its state after three rollouts, two rollouts later."""
    first = Training(run, 1)
    for number in range(1, 4):
        first.learn(number * STEPS)
    state = {name: np.array(array) for name, array in first.state().items()}
    second = Training(run, 1)
    for part in (second._collector, second._learner):
        prefix = "collector." if part is second._collector else "learner."
        part.restore({name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)})
    for training in (first, second):
        training.learn(4 * STEPS)
        training.learn(5 * STEPS)
    return [policy_of(training._config, training._learner, training._collector) for training in (first, second)]


def random_actions(spec, seed, n):
    """Actions of n robots, in their range."""
    low, high = (np.array([getattr(one, end) for one in spec.action]) for end in ("low", "high"))
    return np.random.default_rng(seed).uniform(low, high, (n, len(low))).astype(np.float32)


def stepped_on(config, spec, n):
    """Environments, others that go on from their state after 17 steps, and what both see until step 40, to the bit.

    Args:
        config: With start states.
        spec: Which environment.
        n: How many.
    """

    def made():
        env = VecEnv(config, spec, n)
        assert isinstance(config.start_states, StartStates)
        return TrainingEnv(env, PolicyInputs(config, env), 0, StartPlacer(env, config.start_states, 0))

    env, other = made(), made()
    for t in range(17):
        env.step(random_actions(spec, t, n))
    env.take_block()
    other.restore({name: array.copy() for name, array in env.state().items()})
    seen = []
    for t in range(17, 40):
        for one in (env, other):
            one.step(random_actions(spec, t, n))
        assert np.array_equal(env.observations, other.observations)
        assert np.array_equal(env.reached, other.reached)
        seen.append(env.observations.copy())
    return env, other, np.array(seen)
