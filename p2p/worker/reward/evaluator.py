"""The reward of whole blocks: all rows at once where that is proven to be the same, step after step otherwise."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.reward import Method
from p2p.contracts.training import RewardEvaluation
from p2p.worker.engine.simulation import Simulation
from p2p.worker.reward.info_names import names_read
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.loader import FAILURES, LoadedReward, named
from p2p.worker.reward.runner import Columns, RewardRunner, info_rows
from p2p.worker.rollout.vec_env import Block
from p2p.worker.vectorise import NotVectorised, VectorReward, prove, vectorise

Floats = NDArray[np.float64]
PROOF_ROWS = 2048
"""Rows of the first block that a batch is held against."""
RTOL = 1e-9
"""How far it may be from a single evaluation, relative and absolute."""


class RewardEvaluator:
    """Evaluates a reward once per block.

    The first block is evaluated step after step, and shows whether the batch gives the same. From then on one random
    row of every block is computed both ways; a difference ends the use of the batch, and is reported.

    Args:
        reward: What to evaluate.
        simulation: Where the blocks come from.
        seed: Of the choice of rows.
    """

    def __init__(self, reward: LoadedReward, simulation: Simulation, seed: int) -> None:
        self._reward, self._runner = reward, RewardRunner(reward, simulation.n)
        self._inputs = RewardInputs(simulation, names_read(reward.source))
        self._rng = np.random.default_rng(seed)
        self._vector: VectorReward | None = None
        self._reason = ""
        self._rows, self._seconds = 0, 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, known after the first block."""
        return self._runner.names

    def evaluate(self, block: Block) -> Floats:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        begun = time.perf_counter()
        columns = self._inputs.read(block)
        batch = self._batch(self._vector, block, columns) if self._vector is not None else None
        if batch is None:
            table = self._runner.run(block, columns)
        else:
            table = batch
            self._runner.accept(table, block)
        if self._rows:
            self._seconds += time.perf_counter() - begun
        else:
            self._prove(block, columns)
        self._rows += len(table)
        return table

    def report(self, seconds: float) -> RewardEvaluation:
        """How the reward was evaluated so far, and its share of `seconds`."""
        return RewardEvaluation(
            method=method_of(self._vector),
            reason=self._reason,
            microseconds_per_step=1e6 * self._seconds / max(self._rows, 1),
            time_share=min(1.0, self._seconds / seconds),
        )

    def _prove(self, block: Block, columns: Columns) -> None:
        """Use the batch from now on if it gives what the steps give."""
        steps, n = block.starts.shape
        by_episode = np.arange(steps * n).reshape(steps, n).T.ravel()[:PROOF_ROWS]
        rows, starts = _Rows.of(block, columns, by_episode), block.starts.ravel()[by_episode]
        try:
            vector = vectorise(self._reward)
            prove(vector, self._reward, rows.obs, rows.actions, rows.next_obs, rows.info, starts)
        except NotVectorised as refusal:
            self._reason = str(refusal)
        else:
            self._vector = vector

    def _batch(self, vector: VectorReward, block: Block, columns: Columns) -> Floats | None:
        """The block through the batch; None when it fails, or differs from what a single step gives."""
        rows = _Rows.of(block, columns, np.arange(block.starts.size))
        try:
            totals, terms, names = vector(rows.obs, rows.actions, rows.next_obs, rows.info)
        except (NotVectorised, *FAILURES) as error:
            self._give_up(named(error))
            return None
        table = np.column_stack([totals, terms])
        row = int(self._rng.integers(len(table)))
        single = self._single(block, columns, row)
        if names != self.names or not np.allclose(table[row], single, RTOL, RTOL, equal_nan=True):
            self._give_up("a step evaluated on its own gave something else")
            return None
        return table

    def _single(self, block: Block, columns: Columns, row: int) -> Floats:
        """Total and terms of one row, on its own; NaN where the reward fails on it, as the loop will find out."""
        one = _Rows.of(block, columns, np.array([row]))
        try:
            total, terms = self._reward.fresh().compute(
                one.obs[0], one.actions[0], one.next_obs[0], next(info_rows(one.info, 1))
            )
            return np.array([float(total), *(float(terms[name]) for name in self.names)])
        except FAILURES:
            return np.full(1 + len(self.names), np.nan)

    def _give_up(self, why: str) -> None:
        self._vector, self._reason = None, f"all at once until step {self._rows}, then {why}"


def method_of(vector: VectorReward | None) -> Method:
    """What evaluation by `vector` is called."""
    if vector is None:
        return "loop"
    return "hand-written" if vector.hand_written else "vectorised"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Copies of a reward's arguments for some rows of a block."""

    obs: Floats
    actions: Floats
    next_obs: Floats
    info: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, block: Block, columns: Columns, rows: NDArray[np.intp]) -> "_Rows":
        return cls(
            block.before.observations[rows],
            np.asarray(block.actions[rows], dtype=np.float64),
            block.after.observations[rows],
            {name: column[rows] for name, column in columns.items()},
        )
