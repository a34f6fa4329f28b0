"""The reward of whole blocks, for a learner: what it reads of the simulation, and what it makes of that."""

import json
import time
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from p2p.contracts.reward import RewardSpec
from p2p.contracts.reward_rules import Method
from p2p.contracts.training import RewardEvaluation
from p2p.worker.engine.simulation import Simulation
from p2p.worker.reward.history import EpisodeHistory
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward.inputs import inputs_of
from p2p.worker.reward.loader import LoadedReward
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward.steps import Columns, Floats, Steps
from p2p.worker.reward.steps_evaluator import StepsEvaluator
from p2p.worker.rollout.vec_env import Block
from p2p.worker.saved_state import State, joined, part

Reward = HostedReward | LoadedReward
"""What a model wrote is hosted, in a process of its own. Only what p2p itself wrote, for tests and for the measurement
of what that process costs, is loaded into this one."""


def spec_of(reward: Reward) -> RewardSpec:
    """What a reward says about itself."""
    return reward.spec if isinstance(reward, HostedReward) else RewardSpec.model_validate(reward.description.fields())


class Evaluation(Protocol):
    """The evaluation of block after block, wherever it takes place."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, known after the first block."""
        ...

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        ...

    @property
    def reason(self) -> str:
        """Why not all rows at once."""
        ...

    def evaluate(self, steps: Steps) -> Floats:
        """Total and terms of every row, shape (T * n, 1 + n_terms)."""
        ...

    def state(self) -> dict[str, Any]:
        """What was chosen and counted so far, as JSON."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        ...

    def replay(self, steps: Steps) -> None:
        """Live through steps again that are over."""
        ...


class RewardEvaluator:
    """Evaluates a reward once per block.

    Args:
        reward: What to evaluate.
        simulation: Where the blocks come from.
        seed: Of the choice of rows by which a batch is checked.
    """

    def __init__(self, reward: Reward, simulation: Simulation, seed: int) -> None:
        self._inputs = inputs_of(simulation, reward.source)
        self._evaluation: Evaluation = (
            StepsEvaluator(reward, simulation.n, seed)
            if isinstance(reward, LoadedReward)
            else reward.evaluation(simulation.n, seed)
        )
        self._n, self._history = simulation.n, EpisodeHistory(simulation.n)
        self._rows, self._seconds = 0, 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, known after the first block."""
        return self._evaluation.names

    def evaluate(self, block: Block) -> Floats:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, gave no answer, or returned what is not a finite number.
        """
        begun = time.perf_counter()
        steps = steps_of(block, self._inputs.read(block))
        table = self._evaluation.evaluate(steps)
        if self._evaluation.method == "loop":
            self._history.add(steps)
        else:  # proven to remember nothing
            self._history = EpisodeHistory(self._n)
        if self._rows:  # the first block is proven besides
            self._seconds += time.perf_counter() - begun
        self._rows += len(table)
        return table

    def report(self, seconds: float) -> RewardEvaluation:
        """How the reward was evaluated so far, and its share of `seconds`."""
        return RewardEvaluation(
            method=self._evaluation.method,
            reason=self._evaluation.reason,
            microseconds_per_step=1e6 * self._seconds / max(self._rows, 1),
            time_share=min(1.0, self._seconds / seconds),
        )

    def state(self) -> State:
        """All that the next block's rewards depend on."""
        own = {"rows": self._rows, "seconds": self._seconds, "evaluation": self._evaluation.state()}
        parts = {"inputs": self._inputs.state(), "history": self._history.state()}
        return {"own": np.array(json.dumps(own)), **joined(parts)}

    def restore(self, state: State) -> None:
        """Go on where another one stood; what the reward remembers of its episodes is made again.

        Raises:
            RewardFailed: the reward raised, or gave no answer.
            ValueError: the state is none.
        """
        own = json.loads(str(state["own"]))
        self._rows, self._seconds = own["rows"], own["seconds"]
        self._inputs.restore(part(state, "inputs"))
        self._evaluation.restore(own["evaluation"])
        self._history.restore(part(state, "history"))
        if (steps := self._history.steps()) is not None:
            self._evaluation.replay(steps)


def steps_of(block: Block, columns: Columns) -> Steps:
    """A block as the arguments of a reward."""
    return Steps(block.before.observations, block.actions, block.after.observations, block.starts, columns)


def run_steps(reward: Reward, steps: Steps) -> tuple[Floats, tuple[str, ...]]:
    """Total and terms of whole episodes side by side, step after step, and the names of the terms.

    Raises:
        RewardFailed: the reward raised, gave no answer, or returned what is not a finite number.
    """
    if isinstance(reward, LoadedReward):
        runner = RewardRunner(reward, steps.starts.shape[1])
        return runner.run(steps), runner.names
    return reward.run(steps)
