"""Evaluates a training's checkpoints, in parallel to it if cores are free."""

import multiprocessing
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from p2p.analysis.clear_verdict import IN_A_ROW
from p2p.contracts.errors import P2PError
from p2p.contracts.judgment import MET_SHARE_NEEDED
from p2p.contracts.sandbox import SandboxLevel
from p2p.store.iterations import IterationRecord
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.sandbox import levels
from p2p.worker.sandbox.confine import forbid_processes
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

    def last_passes(self) -> bool:
        """Whether the last queued evaluation met everything required in as many rollouts as a pass needs; waits for it.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        return self.last_success() >= MET_SHARE_NEEDED

    def last_success(self) -> float:
        """Share of the last queued evaluation's rollouts that met everything required; 0 before the first. Waits.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        begun = len(self.selections) + len(self.pending)
        return (self._selection(begun - 1).success_rate or 0.0) if begun else 0.0

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


class EvaluationProcess:
    """Process that evaluates checkpoints one by one; ends with the training.

    It talks through one pipe: what `concurrent.futures` shares with its processes besides, a confined worker may not
    make.

    Args:
        directory: Of the run.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._pipe: Connection | None = None
        self._process: multiprocessing.process.BaseProcess | None = None

    def start(self) -> None:
        """Start the process if it is not running."""
        if self._pipe is None:
            spawn = multiprocessing.get_context("spawn")
            self._pipe, theirs = spawn.Pipe()
            confined = levels.current()
            self._process = spawn.Process(target=_evaluate_all, args=(theirs, self._directory, confined), daemon=True)
            self._process.start()
            theirs.close()

    def begin(self, step: int) -> None:
        """Queue the evaluation of the policy saved at `step`."""
        self.start()
        assert self._pipe is not None, "it was started"
        self._pipe.send(step)

    def done(self) -> bool:
        """Whether the next result is ready."""
        return self._pipe is not None and self._pipe.poll()

    def result(self) -> Selection:
        """Wait for the next result.

        Raises:
            P2PError: what the evaluation failed with.
            RuntimeError: its process died.
        """
        assert self._pipe is not None, "nothing was begun"
        try:
            answer: Selection | P2PError = self._pipe.recv()
        except (EOFError, ConnectionError):
            raise RuntimeError("the process that evaluates the checkpoints died") from None
        if isinstance(answer, P2PError):
            raise answer
        return answer

    def close(self) -> None:
        """Close the pipe and wait for the process to end."""
        if self._pipe is not None and self._process is not None:
            self._pipe.close()
            self._process.join()


def _evaluate_all(pipe: Connection, directory: Path, confined: SandboxLevel | None) -> None:
    """Evaluate steps until the training closes the pipe or ends; confined like the training."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is the training's to answer
    run = None
    if confined is not None:
        levels.remember(confined)
    while True:
        try:
            step = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            if run is None:
                run = Run.open(IterationRecord(directory))
                VecEnv(run.config, run.spec, 1).close()  # what an environment loads may start a program
                forbid_processes()
            pipe.send(evaluate_checkpoint(run, step))
        except P2PError as error:
            pipe.send(error)
