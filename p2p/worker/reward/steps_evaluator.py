"""The reward of whole blocks: all rows at once where that is proven to be the same, step after step otherwise."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from p2p.contracts.reward_rules import Method
from p2p.worker.reward.loader import FAILURES, LoadedReward, named
from p2p.worker.reward.runner import Progress, RewardRunner, info_rows
from p2p.worker.reward.steps import Floats, Steps
from p2p.worker.vectorise import NotVectorised, VectorReward, prove, vectorise

PROOF_ROWS = 2048
"""Rows of the first block that a batch is held against."""
RTOL = 1e-9
"""How far it may be from a single evaluation, relative and absolute."""


class StepsEvaluator:
    """Evaluates a reward once per block, in this process.

    The first block is evaluated step after step, and shows whether the batch gives the same. From then on one random
    row of every block is computed both ways; a difference ends the use of the batch, and is reported.

    Args:
        reward: What to evaluate.
        n: Environments.
        seed: Of the choice of rows.
        progress: Told which row is computed step after step; None tells nobody.
    """

    def __init__(self, reward: LoadedReward, n: int, seed: int, progress: Progress | None = None) -> None:
        self._reward, self._runner = reward, RewardRunner(reward, n, progress)
        self._rng = np.random.default_rng(seed)
        self._vector: VectorReward | None = None
        self._rows = 0
        self.reason = ""
        """Why the batch is not used; empty while it is, and before the first block."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, known after the first block."""
        return self._runner.names

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        return method_of(self._vector)

    def evaluate(self, steps: Steps) -> Floats:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        batch = self._batch(self._vector, steps) if self._vector is not None else None
        if batch is None:
            table = self._runner.run(steps)
        else:
            table = batch
            self._runner.accept(table, steps)
        if not self._rows:
            self._prove(steps)
        self._rows += len(table)
        return table

    def state(self) -> dict[str, Any]:
        """What was chosen and counted so far, as JSON; without what a reward remembers of its episodes."""
        return {
            "method": self.method,
            "reason": self.reason,
            "rows": self._rows,
            "names": list(self.names),
            "steps": self._runner.clock.steps,
            "ages": self._runner.clock.ages.tolist(),
            "generator": self._rng.bit_generator.state,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; `replay` then gives the reward its memory back."""
        self._vector = None if state["method"] == "loop" else vectorise(self._reward)
        self.reason, self._rows = state["reason"], state["rows"]
        self._runner.names = tuple(state["names"])
        self._runner.clock.steps, self._runner.clock.ages = state["steps"], np.array(state["ages"], dtype=np.int64)
        self._rng.bit_generator.state = state["generator"]

    def replay(self, steps: Steps) -> None:
        """Live through steps again that are over, for what the reward remembers of them.

        Raises:
            RewardFailed: it raised.
        """
        if self._vector is None:
            self._runner.live(steps)

    def _prove(self, steps: Steps) -> None:
        """Use the batch from now on if it gives what the steps give."""
        count, n = steps.starts.shape
        by_episode = np.arange(count * n).reshape(count, n).T.ravel()[:PROOF_ROWS]
        rows, starts = steps.taken(by_episode), steps.starts.ravel()[by_episode]
        try:
            vector = vectorise(self._reward)
            prove(vector, self._reward, rows.obs, rows.actions, rows.next_obs, rows.info, starts)
        except NotVectorised as refusal:
            self.reason = str(refusal)
        else:
            self._vector = vector

    def _batch(self, vector: VectorReward, steps: Steps) -> Floats | None:
        """The block through the batch; None when it fails, or differs from what a single step gives."""
        rows = steps.shown()
        try:
            totals, terms, names = vector(rows.obs, rows.actions, rows.next_obs, rows.info)
        except (NotVectorised, *FAILURES) as error:
            self._give_up(named(error))
            return None
        table = np.column_stack([totals, terms])
        row = int(self._rng.integers(len(table)))
        single = self._single(steps, row)
        if names != self.names or not np.allclose(table[row], single, RTOL, RTOL, equal_nan=True):
            self._give_up("a step evaluated on its own gave something else")
            return None
        return table

    def _single(self, steps: Steps, row: int) -> Floats:
        """Total and terms of one row, on its own; NaN where the reward fails on it, as the loop will find out."""
        one = steps.taken(np.array([row]))
        try:
            total, terms = self._reward.fresh().compute(
                one.obs[0], one.actions[0], one.next_obs[0], next(info_rows(one.info, 1))
            )
            return np.array([float(total), *(float(terms[name]) for name in self.names)])
        except FAILURES:
            return np.full(1 + len(self.names), np.nan)

    def _give_up(self, why: str) -> None:
        self._vector, self.reason = None, f"all at once until step {self._rows}, then {why}"


def method_of(vector: VectorReward | None) -> Method:
    """What evaluation by `vector` is called."""
    if vector is None:
        return "loop"
    return "hand-written" if vector.hand_written else "vectorised"
