"""The speed of the simulator alone, which no training in these environments can exceed."""

import numpy as np

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.measurement import Measurement
from p2p.contracts.rollout import Purpose, first_seed
from p2p.worker.engine.batch_simulation import BatchSimulation
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.measure.stopwatch import Stopwatch
from p2p.worker.training.selection import Run


def step(run: Run, watch: Stopwatch) -> Measurement:
    """Act at random until it is enough; only MuJoCo's part of the steps, and the resets they call for, count.

    Raises:
        EnvironmentProblem: these environments do not run as one MuJoCo batch.
    """
    config = run.config
    simulation = make_simulation(run.spec, config.n_envs, config.env_kwargs, config.terminate_when_unhealthy)
    if not isinstance(simulation, BatchSimulation):
        raise EnvironmentProblem(
            f"The physics of {run.spec.env_id} cannot be told apart: it runs as {simulation.engine}."
        )
    n, low, high = simulation.n, simulation.action_low, simulation.action_high
    first, generator = first_seed(Purpose.TRAINING, config.seed), np.random.default_rng(config.seed)
    simulation.reset(range(n), range(first, first + n))
    rollouts = 0
    watch.ready()
    while not watch.lap(rollouts * n * config.n_steps):
        rollouts += 1
        for _ in range(config.n_steps):
            with watch.paused():
                actions = generator.uniform(low, high, (n, len(low)))
            simulation.advance(actions)
            with watch.paused():
                ended = np.flatnonzero(simulation.frame().terminated).tolist()
            if ended:
                simulation.reset(ended, [None] * len(ended))
    return watch.result()
