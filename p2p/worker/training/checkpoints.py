"""Evaluates a training's checkpoints, in parallel to it if cores are free."""

from collections.abc import Sequence

from p2p.analysis.clear_verdict import IN_A_ROW
from p2p.worker.training.checkpoint_process import EvaluationProcess
from p2p.worker.training.run import Run
from p2p.worker.training.selection import Selection, evaluate_checkpoint


class Checkpoints:
    """Selection rollouts of a run's checkpoints. Results do not depend on the process that runs them.

    Args:
        run: What is trained.
        own_process: Whether to run them in a process of their own while the training goes on.
    """

    def __init__(self, run: Run, own_process: bool) -> None:
        self._run = run
        self._process = EvaluationProcess(run.record.path) if own_process else None
        self.pending: tuple[int, ...] = ()
        """Steps of those that are under way."""
        self.selections: list[Selection] = []
        """Those that are complete and in the metrics, in the order of their steps."""

    def start(self) -> None:
        """Start the parallel process, if there is to be one."""
        if self._process is not None:
            self._process.start()

    def restore(self, selections: list[Selection], pending: Sequence[int]) -> None:
        """Continue from a saved state: unfinished evaluations start again."""
        self.selections = selections
        for step in pending:
            self.evaluate(step)

    def evaluate(self, step: int) -> None:
        """Evaluate the policy saved at `step`, now or in parallel.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        if self._process is None:
            self._take(evaluate_checkpoint(self._run, step))
            return
        self._process.begin(step)
        self.pending += (step,)

    def collect(self) -> None:
        """Take completed results.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        while self._process is not None and self.pending and self._process.done():
            self._take(self._process.result())

    def clear(self) -> bool:
        """Whether the last two queued evaluations pass clearly; waits for each only while that is open.

        The answer is the same wherever, and however fast, they are evaluated.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        begun = len(self.selections) + len(self.pending)
        return begun >= IN_A_ROW and all(self._selection(index).clear for index in range(begun - IN_A_ROW, begun))

    def _selection(self, index: int) -> Selection:
        """Result of evaluation `index`; waits for it."""
        while self._process is not None and len(self.selections) <= index:
            self._take(self._process.result())
        return self.selections[index]

    def finish(self) -> list[Selection]:
        """All results, in the order of their steps.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        if self._process is not None:
            while self.pending:
                self._take(self._process.result())
            self._process.close()
        return self.selections

    def _take(self, selection: Selection) -> None:
        self.pending = self.pending[1:]
        self.selections.append(selection)
        self._run.record.append_scalars(dict(selection.row))
