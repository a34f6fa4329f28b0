"""What it costs a training that its reward runs in a process of its own: the two ways alternate, rollout by rollout."""

import time
from dataclasses import replace
from statistics import median

from p2p.contracts.reward_rules import Method
from p2p.lab.contracts.measurement import SpeedMeasurement
from p2p.lab.worker.speed.stopwatch import WARM_UP_LAPS, Stopwatch
from p2p.worker.reward.evaluator import BlockRewards
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward.recorded_steps import Evaluated, RecordedSteps
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training

FIRST = 2 * WARM_UP_LAPS
"""Rollouts before the first that counts: each way proves its reward in its first one."""


def train(run: Run, watch: Stopwatch) -> SpeedMeasurement:
    """Train on one thread until it is enough, with a reward that is a text of the benchmark's own.

    Raises:
        InvalidConfig, RewardFailed: as in a training.
    """
    training = Training(replace(run, reward=TwoWays(run.reward.source)), threads=1)
    steps = 0
    seconds = list[float]()
    watch.ready()
    while not watch.lap(steps):
        steps += run.config.n_envs * run.config.n_steps
        begun = time.perf_counter()
        training.learn(steps)
        seconds.append(time.perf_counter() - begun)
    found = watch.result(training.reward.report(1.0).method)
    hosted = seconds[FIRST::2]
    inside = seconds[FIRST + 1 :: 2]
    return found.model_copy(
        update={"hosted_rollout_s": median(hosted or seconds), "in_process_rollout_s": median(inside or seconds)}
    )


class TwoWays(HostedReward):
    """A reward that is evaluated in its own process, and then in this one, in turns.

    Args:
        source: Text of the file.
    """

    def begin(self, n: int, seed: int) -> "InTurns":  # type: ignore[override]  # stands for both
        """Evaluate blocks of `n` environments from now on."""
        return InTurns(super().begin(n, seed), RewardRunner(LoadedReward(self.source), n, seed))


class InTurns:
    """Two evaluations, of which each gets every other block."""

    def __init__(self, first: BlockRewards, second: BlockRewards) -> None:
        self._next = first
        self._other = second

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        return self._other.method

    @property
    def reason(self) -> str:
        """Why not all rows at once."""
        return self._other.reason

    def evaluate(self, steps: RecordedSteps) -> Evaluated:
        """Total and terms of every row of the next block, and the names of the terms."""
        self._next, self._other = self._other, self._next
        return self._other.evaluate(steps)
