"""Evaluate a reward block by block: read its inputs from the simulation, compute it, check the numbers."""

import json
import time
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.reward import RewardSpec
from p2p.contracts.reward_rules import Method
from p2p.contracts.training import RewardEvaluation
from p2p.worker.engine.simulation import Simulation
from p2p.worker.engine.vec_env import Block
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward.inputs import inputs_of
from p2p.worker.reward.recorded_steps import Columns, Evaluated, Floats, RecordedSteps, StepCounter, StepFailed
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.saved_state import State, joined, part

Reward = HostedReward | LoadedReward
"""Generated code is hosted in a process of its own. Only p2p's own rewards, in tests and benchmarks, are loaded
here."""
_NEXT = "next_obs"
_ACTIONS = "actions"
_COLUMNS = "columns"


def spec_of(reward: Reward) -> RewardSpec:
    """Description of a reward by itself."""
    return reward.spec if isinstance(reward, HostedReward) else RewardSpec.model_validate(reward.description.fields())


class BlockRewards(Protocol):
    """Reward evaluated block by block, in this process or another."""

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        ...

    @property
    def reason(self) -> str:
        """Reason for not being vectorised."""
        ...

    def evaluate(self, steps: RecordedSteps) -> Evaluated:
        """Total and terms of every row, shape (T * n, 1 + n_terms), and the names of the terms."""
        ...

    def state(self) -> dict[str, Any]:
        """Choices and counts so far, as JSON."""
        ...

    def restore(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Continue from a saved state; return the names of the terms."""
        ...

    def replay(self, steps: RecordedSteps) -> None:
        """Replay past steps."""
        ...


class RewardEvaluator:
    """Evaluate a reward once per block of a simulation.

    Args:
        reward: What to evaluate.
        simulation: Where the blocks come from.
        seed: Of the choice of rows by which a vectorised reward is checked.
    """

    def __init__(self, reward: Reward, simulation: Simulation, seed: int) -> None:
        self._inputs = inputs_of(simulation, reward.source)
        self._rewards: BlockRewards = (
            RewardRunner(reward, simulation.n, seed)
            if isinstance(reward, LoadedReward)
            else reward.begin(simulation.n, seed)
        )
        self._n = simulation.n
        self._counter = StepCounter(simulation.n)
        self._history = EpisodeHistory(simulation.n)
        self._rows = 0
        self._seconds = 0.0
        self.names: tuple[str, ...] = ()
        """Names of the terms, known after the first block."""

    def evaluate(self, block: Block) -> Floats:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, gave no answer, or returned what is not a finite number.
        """
        begun = time.perf_counter()
        steps = steps_of(block, self._inputs.read(block))
        table, self.names = self._counter.checked(self._rewards.evaluate, steps)
        self._counter.advance(steps.starts)
        if self._rewards.method == "loop":
            self._history.add(steps)
        else:  # proven to remember nothing
            self._history = EpisodeHistory(self._n)
        if self._rows:  # the first block also takes the proof
            self._seconds += time.perf_counter() - begun
        self._rows += len(table)
        return table

    def report(self, seconds: float) -> RewardEvaluation:
        """Evaluation method so far, and its share of `seconds`."""
        return RewardEvaluation(
            method=self._rewards.method,
            reason=self._rewards.reason,
            microseconds_per_step=1e6 * self._seconds / max(self._rows, 1),
            time_share=min(1.0, self._seconds / seconds),
        )

    def state(self) -> State:
        """All that the next block's rewards depend on."""
        own = {
            "rows": self._rows,
            "seconds": self._seconds,
            "steps": self._counter.steps,
            "ages": self._counter.ages.tolist(),
            "rewards": self._rewards.state(),
        }
        parts = {"inputs": self._inputs.state(), "history": self._history.state()}
        return {"own": np.array(json.dumps(own)), **joined(parts)}

    def restore(self, state: State) -> None:
        """Continue from a saved state; what the reward remembers of its episodes is made again.

        Raises:
            RewardFailed: the reward raised, or gave no answer.
            ValueError: the state is none.
        """
        own = json.loads(str(state["own"]))
        self._rows = own["rows"]
        self._seconds = own["seconds"]
        self._counter.steps = own["steps"]
        self._counter.ages = np.array(own["ages"], dtype=np.int64)
        self._inputs.restore(part(state, "inputs"))
        self.names = self._rewards.restore(own["rewards"])
        self._history.restore(part(state, "history"))
        if (steps := self._history.steps()) is not None:
            try:
                self._rewards.replay(steps)
            except StepFailed as failure:
                raise self._counter.failure(failure.args[0], steps, failure.row) from failure.__cause__


def steps_of(block: Block, columns: Columns) -> RecordedSteps:
    """A block as the arguments of a reward."""
    return RecordedSteps(block.before.observations, block.actions, block.after.observations, block.starts, columns)


def run_steps(reward: Reward, steps: RecordedSteps) -> Evaluated:
    """Total and terms of whole episodes side by side, step by step, and the names of the terms.

    Raises:
        RewardFailed: the reward raised, gave no answer, or returned what is not a finite number.
    """
    n = steps.starts.shape[1]
    run = RewardRunner(reward, n).run if isinstance(reward, LoadedReward) else reward.run
    return StepCounter(n).checked(run, steps)


class EpisodeHistory:
    """Inputs of a reward since the last reset of each of n environments, to rebuild its memory after a resume.

    Args:
        n: How many environments.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._first: list[NDArray[Any]] = []
        self._chunks: list[list[State]] = []

    def add(self, steps: RecordedSteps) -> None:
        """Add the next steps; drop the episodes that ended in them."""
        count = steps.starts.shape[0]
        starts = steps.starts.copy()
        if not self._chunks:
            self._first = [np.empty(0)] * self._n
            self._chunks = [[] for _ in range(self._n)]
            starts[0] = True
        arrays = {_NEXT: steps.next_obs, _ACTIONS: steps.actions, **joined({_COLUMNS: steps.columns})}
        grids = {name: array.reshape(count, self._n, *array.shape[1:]) for name, array in arrays.items()}
        for i in range(self._n):
            begun = np.flatnonzero(starts[:, i])
            first = int(begun[-1]) if len(begun) else 0
            if len(begun):
                self._first[i] = steps.obs[first * self._n + i].copy()
                self._chunks[i] = []
            self._chunks[i].append({name: grid[first:, i].copy() for name, grid in grids.items()})

    def steps(self) -> RecordedSteps | None:
        """All episodes so far, side by side, aligned at their ends; None without any.

        In front of a shorter one its first step is repeated, as so many episodes of one step: a reward forgets them.
        """
        if not self._chunks:
            return None
        episodes = self._episodes()
        obs = [np.concatenate([first[None], one[_NEXT][:-1]]) for first, one in zip(self._first, episodes, strict=True)]
        longest = max(len(rows) for rows in obs)
        missing = [longest - len(rows) for rows in obs]
        arrays = {name: _side_by_side([one[name] for one in episodes], missing) for name in episodes[0]}
        return RecordedSteps(
            obs=_side_by_side(obs, missing),
            actions=arrays[_ACTIONS],
            next_obs=arrays[_NEXT],
            starts=np.arange(longest)[:, None] <= np.array(missing),
            columns=part(arrays, _COLUMNS),
        )

    def state(self) -> State:
        """Episodes of all environments; empty without any."""
        if not self._chunks:
            return {}
        episodes = {str(i): episode for i, episode in enumerate(self._episodes())}
        return {"first": np.array(self._first), **joined(episodes)}

    def restore(self, state: State) -> None:
        """Continue from a saved history."""
        self._first = list(state.get("first", []))
        self._chunks = [[part(state, str(i))] for i in range(len(self._first))]

    def _episodes(self) -> list[State]:
        """Join each episode in place of its parts: both together would need the memory twice."""
        for i, chunks in enumerate(self._chunks):
            self._chunks[i] = [{name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}]
        return [chunks[0] for chunks in self._chunks]


def _side_by_side(rows: list[NDArray[Any]], missing: list[int]) -> NDArray[Any]:
    """Rows of each environment, padded with the first one, in the order of steps."""
    padded = [
        np.concatenate([np.repeat(one[:1], count, axis=0), one]) for one, count in zip(rows, missing, strict=True)
    ]
    return np.stack(padded, axis=1).reshape(-1, *rows[0].shape[1:])
