"""The speed of a training as `train` makes it, its metrics included, and of its updates alone; without evaluations."""

from p2p.lab.contracts.measurement import SpeedMeasurement
from p2p.lab.worker.speed.arithmetic import arithmetic_rate
from p2p.lab.worker.speed.stopwatch import Stopwatch
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training


def train(run: Run, watch: Stopwatch) -> SpeedMeasurement:
    """Train on one thread until it is enough.

    Raises:
        InvalidConfig, RewardFailed: as in a training.
    """
    training = Training(run, threads=1)
    size = run.config.n_envs * run.config.n_steps
    steps = 0
    watch.ready()
    while not watch.lap(steps):
        steps += size
        training.learn(steps)
    measured = watch.result(training.reward.report(1.0).method)
    rate = arithmetic_rate(run.config, training.simulation.observation_space.shape[0], run.spec.action_dim)
    return measured.model_copy(update={"arithmetic": rate})
