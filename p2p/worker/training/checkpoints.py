"""Evaluates the checkpoints of a training, beside it where there are cores to spare."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from p2p.store.iterations import IterationRecord
from p2p.worker.training.selection import Run, Selection, evaluate_checkpoint


class Checkpoints:
    """The selection rollouts of a run's checkpoints. What they show does not depend on where they are run.

    Args:
        run: What is trained.
        beside: Whether to run them in a process of their own while the training goes on.
    """

    def __init__(self, run: Run, beside: bool) -> None:
        self._run = run
        spawn = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, spawn) if beside else None
        self._running: list[tuple[int, Future[Selection]]] = []
        self.selections: list[Selection] = []
        """Those that are complete and in the metrics, in the order of their steps."""

    @property
    def pending(self) -> tuple[int, ...]:
        """Steps of those that are not."""
        return tuple(step for step, _ in self._running)

    def restore(self, selections: list[Selection], pending: Sequence[int]) -> None:
        """Go on where another one stood: what was under way is begun again."""
        self.selections = selections
        for step in pending:
            self.evaluate(step)

    def evaluate(self, step: int) -> None:
        """Evaluate the policy that is saved at `step`, now or beside the training.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number, in this or an earlier one.
        """
        if self._pool is None:
            self._take(evaluate_checkpoint(self._run, step))
            return
        self._running.append((step, self._pool.submit(_evaluate, self._run.record.path, step)))
        while self._running and self._running[0][1].done():
            self._take(self._running.pop(0)[1].result())

    def finish(self) -> list[Selection]:
        """All of them, in the order of their steps."""
        for _, future in self._running:
            self._take(future.result())
        if self._pool is not None:
            self._pool.shutdown()
        return self.selections

    def _take(self, selection: Selection) -> None:
        self.selections.append(selection)
        self._run.record.append_scalars(dict(selection.row))


def _evaluate(directory: Path, step: int) -> Selection:
    return evaluate_checkpoint(Run.open(IterationRecord(directory)), step)
