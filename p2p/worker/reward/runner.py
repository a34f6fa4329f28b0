"""Run a loaded reward over the steps of n environments: vectorised if proven equal, else step by step."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.reward_rules import Method
from p2p.training.reward_function import RewardFunction
from p2p.worker.reward.recorded_steps import Columns, Evaluated, Floats, RecordedSteps, StepFailed
from p2p.worker.reward_source.info_names import names_read
from p2p.worker.reward_source.loader import FAILURES, LoadedReward, at_line, named
from p2p.worker.vectorise import NotVectorised, VectorReward, prove, vectorise

Progress = NDArray[np.int64]
"""Its first number is the row being computed."""
PROOF_ROWS = 2048
"""Rows of the first block that the vectorised reward is compared on."""
RTOL = 1e-9
"""Allowed difference between the vectorised reward and a single call, relative and absolute."""


class RewardRunner:
    """Reward of n environments stepped together, in order of time.

    The first block is computed step by step, and shows whether the vectorised reward gives the same. From then on one
    random row of every block is computed both ways; a difference ends the use of the vectorised reward, and is
    reported.

    Args:
        reward: What to run.
        n: Environments.
        seed: Of the choice of rows that are computed both ways.
        progress: Receives the row being computed, for another process to read if this one dies.
    """

    def __init__(self, reward: LoadedReward, n: int, seed: int = 0, progress: Progress | None = None) -> None:
        self._reward = reward
        self._wanted = names_read(reward.source)
        self._instances: list[RewardFunction] = [reward.fresh() for _ in range(n)]
        self._row = memoryview((np.zeros(1, dtype=np.int64) if progress is None else progress).data)
        self._rng = np.random.default_rng(seed)
        self._vector: VectorReward | None = None
        self._rows = 0
        self._names: tuple[str, ...] = ()
        self.reason = ""
        """Why not vectorised; empty while it is, and before the first block."""

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        return method_of(self._vector)

    def evaluate(self, steps: RecordedSteps) -> Evaluated:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms), and the names of the terms.

        Raises:
            StepFailed: the reward raised, or changed its terms.
        """
        table = None if self._vector is None else self._at_once(self._vector, steps)
        if table is None:
            table, _ = self.run(steps)
        if not self._rows:
            # In order of the episodes, as a reward with memory sees them.
            count, n = steps.starts.shape
            by_episode = np.arange(count * n).reshape(count, n).T.ravel()[:PROOF_ROWS]
            rows = steps.taken(by_episode)
            starts = steps.starts.ravel()[by_episode]
            try:
                vector = vectorise(self._reward)
                prove(vector, self._reward, rows.obs, rows.actions, rows.next_obs, rows.info, starts)
            except NotVectorised as refusal:
                self.reason = str(refusal)
            else:
                self._vector = vector
        self._rows += len(table)
        return table, self._names

    def run(self, steps: RecordedSteps) -> Evaluated:
        """Like `evaluate`, step by step.

        Raises:
            StepFailed: the reward raised, or changed its terms.
        """
        # copies, so that a reward that writes into its arguments changes nothing but them
        obs = steps.obs.copy()
        actions = np.array(steps.actions, dtype=np.float64)
        next_obs = steps.next_obs.copy()
        infos = info_rows(steps.columns, len(obs), self._wanted)
        rows: list[list[float]] = []
        for starts in steps.starts.tolist():
            for i, first in enumerate(starts):
                r = len(rows)
                self._row[0] = r
                if first:
                    self._instances[i] = self._reward.fresh()
                try:
                    total, terms = self._instances[i].compute(obs[r], actions[r], next_obs[r], next(infos))
                    names = tuple(terms)
                    row = [float(total), *map(float, terms.values())]
                except FAILURES as error:
                    what = f"{at_line(error)}the reward raised {type(error).__name__}: {error}"
                    raise StepFailed(what, r) from error
                if names != self._names:
                    row = self._in_first_order(names, row, r)
                rows.append(row)
        self._row[0] = -1
        return np.array(rows), self._names

    def replay(self, steps: RecordedSteps) -> None:
        """Replay past steps to rebuild the reward's memory.

        Raises:
            StepFailed: it raised.
        """
        if self._vector is None:
            self.run(steps)

    def state(self) -> dict[str, Any]:
        """Choices and counts so far, as JSON; without the reward's memory of its episodes."""
        return {
            "method": self.method,
            "reason": self.reason,
            "rows": self._rows,
            "names": list(self._names),
            "generator": self._rng.bit_generator.state,
        }

    def restore(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Continue from a saved state and return the names of the terms; `replay` then restores the reward's memory."""
        self._vector = None if state["method"] == "loop" else vectorise(self._reward)
        self.reason = state["reason"]
        self._rows = state["rows"]
        self._names = tuple(state["names"])
        self._rng.bit_generator.state = state["generator"]
        return self._names

    def _in_first_order(self, names: tuple[str, ...], row: list[float], r: int) -> list[float]:
        """Total and terms in the order of the first row.

        Raises:
            StepFailed: the row has other terms.
        """
        if not self._names:
            self._names = names
        if set(names) != set(self._names):
            raise StepFailed(f"the reward's terms changed from {', '.join(self._names)} to {', '.join(names)}", r)
        values = dict(zip(names, row[1:], strict=True))
        return [row[0], *(values[name] for name in self._names)]

    def _at_once(self, vector: VectorReward, steps: RecordedSteps) -> Floats | None:
        """All rows vectorised; None if that fails, or if a random row differs from a single call."""
        rows = steps.shown()
        try:
            totals, terms, names = vector(rows.obs, rows.actions, rows.next_obs, rows.info)
        except (NotVectorised, *FAILURES) as error:
            self._give_up(named(error))
            return None
        table = np.column_stack([totals, terms])
        row = int(self._rng.integers(len(table)))
        one = steps.taken(np.array([row]))
        try:
            total, single_terms = self._reward.fresh().compute(
                one.obs[0], one.actions[0], one.next_obs[0], next(info_rows(one.info, 1))
            )
            single = np.array([float(total), *(float(single_terms[name]) for name in self._names)])
        except FAILURES:  # step by step it will fail again, and tell where
            single = np.full(1 + len(self._names), np.nan)
        if names != self._names or not np.allclose(table[row], single, RTOL, RTOL, equal_nan=True):
            self._give_up("a step evaluated on its own gave something else")
            return None
        return table

    def _give_up(self, why: str) -> None:
        self._vector = None
        self.reason = f"all at once until step {self._rows}, then {why}"


def method_of(vector: VectorReward | None) -> Method:
    """Name of the evaluation method with `vector`."""
    if vector is None:
        return "loop"
    return "hand-written" if vector.hand_written else "vectorised"


def info_rows(columns: Columns, count: int, wanted: frozenset[str] | None = None) -> Iterator[dict[str, Any]]:
    """One `info` per row, numbers as plain Python ones, with the names in `wanted`; None stands for all."""
    names = tuple(name for name in columns if wanted is None or name in wanted)
    if not names:
        return ({} for _ in range(count))
    values = (columns[name].tolist() if columns[name].ndim == 1 else columns[name].copy() for name in names)
    return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))
