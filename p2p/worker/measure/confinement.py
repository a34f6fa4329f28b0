"""What it costs a training that its reward runs in a process of its own: the two ways alternate, rollout by rollout."""

import time
from dataclasses import replace
from statistics import median

from p2p.contracts.measurement import Measurement
from p2p.contracts.reward_rules import Method
from p2p.worker.measure.stopwatch import WARM_UP_LAPS, Stopwatch
from p2p.worker.reward.evaluator import Evaluation
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward.loader import LoadedReward
from p2p.worker.reward.steps import Floats, Steps
from p2p.worker.reward.steps_evaluator import StepsEvaluator
from p2p.worker.training.selection import Run
from p2p.worker.training.train import Training

FIRST = 2 * WARM_UP_LAPS
"""Rollouts before the first that counts: each way proves its reward in its first one."""


def train(run: Run, watch: Stopwatch) -> Measurement:
    """Train on one thread until it is enough, with a reward that is a text of the benchmark's own.

    Raises:
        InvalidConfig, RewardFailed: as in a training.
    """
    training = Training(replace(run, reward=TwoWays(run.reward.source)), threads=1)
    steps, seconds = 0, list[float]()
    watch.ready()
    while not watch.lap(steps):
        steps += run.config.n_envs * run.config.n_steps
        begun = time.perf_counter()
        training.learn(steps)
        seconds.append(time.perf_counter() - begun)
    found = watch.result(training.reward.report(1.0).method)
    hosted, inside = seconds[FIRST::2], seconds[FIRST + 1 :: 2]
    return found.model_copy(
        update={"hosted_rollout_s": median(hosted or seconds), "in_process_rollout_s": median(inside or seconds)}
    )


class TwoWays(HostedReward):
    """A reward that is evaluated in its own process, and then in this one, in turns.

    Args:
        source: Text of the file.
    """

    def evaluation(self, n: int, seed: int) -> "InTurns":  # type: ignore[override]  # stands for both
        """The evaluation of the blocks of `n` environments."""
        return InTurns(super().evaluation(n, seed), StepsEvaluator(LoadedReward(self.source), n, seed))


class InTurns:
    """Two evaluations, of which each gets every other block."""

    def __init__(self, first: Evaluation, second: Evaluation) -> None:
        self._next, self._other = first, second

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms."""
        return self._other.names

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        return self._other.method

    @property
    def reason(self) -> str:
        """Why not all rows at once."""
        return self._other.reason

    def evaluate(self, steps: Steps) -> Floats:
        """Total and terms of every row of the next block."""
        self._next, self._other = self._other, self._next
        return self._other.evaluate(steps)
