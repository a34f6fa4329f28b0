"""Process that evaluates checkpoints during the training.

It talks through one pipe: what `concurrent.futures` shares with its processes besides, a confined worker may not make.
"""

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

from p2p.contracts.errors import P2PError
from p2p.contracts.sandbox import SandboxLevel
from p2p.store.iterations import IterationRecord
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.sandbox import levels
from p2p.worker.sandbox.confine import forbid_processes
from p2p.worker.training.run import Run
from p2p.worker.training.selection import Selection, evaluate_checkpoint


class EvaluationProcess:
    """Evaluates checkpoints one by one; ends with the training.

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
