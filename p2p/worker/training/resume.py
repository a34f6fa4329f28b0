"""Resume points: a killed training continues from the last one and ends as if nothing had happened."""

import hashlib
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from p2p import __version__
from p2p.contracts.errors import StorageProblem
from p2p.contracts.training import ResumePoint, SelectedCheckpoint
from p2p.store.resume_points import ResumeRecord
from p2p.worker.saved_state import State
from p2p.worker.training.run import Run
from p2p.worker.training.selection import Selection

INTERVAL = "P2P_RESUME_S"
"""Variable: seconds of work between two resume points; 0 for one after every rollout."""
INTERVAL_S = 20.0
SHARE = 0.01
"""Most of the training's time that resume points may take: where they are slow, there are fewer."""
PACKAGES = ("numpy", "mujoco", "gymnasium")
TORCH_PACKAGES = ("torch", "stable_baselines3")


class ResumePoints:
    """Resume points of one run. They affect only the cost of an interruption.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._record = ResumeRecord(run.record)
        self.inputs = inputs_of(run)
        """What a point has to be of, to be used."""
        self._interval_s = float(os.environ.get(INTERVAL, INTERVAL_S))
        self._next = time.monotonic() + self._interval_s

    @property
    def due(self) -> bool:
        """Whether it is time for the next point."""
        return time.monotonic() >= self._next

    def save(self, point: ResumePoint, state: State) -> None:
        """Write the next point; a full disk is reported, and the training continues."""
        begun = time.monotonic()
        try:
            self._record.save(point, state)
        except StorageProblem as problem:
            print(f"No resume point could be written: {problem}", file=sys.stderr, flush=True)
        ended = time.monotonic()
        self._next = ended + (max(self._interval_s, (ended - begun) / SHARE) if self._interval_s else 0.0)

    def last(self) -> tuple[ResumePoint, State] | None:
        """Last usable point; None if there is none; unusable ones are reported."""
        try:
            found = self._record.read()
            if found is None:
                return None
            inputs = found[0].inputs
            other = sorted(name for name in {*inputs, *self.inputs} if inputs.get(name) != self.inputs.get(name))
            if other:
                raise ValueError(f"it is of another {', '.join(other)}")
        except ValueError as error:
            self.refuse(error)
            return None
        return found

    def refuse(self, why: Exception) -> None:
        """Set the last point aside."""
        print(f"The resume point is not used: {why}. The training begins again.", file=sys.stderr, flush=True)
        self._record.set_aside()

    def go_back(self, point: ResumePoint | None) -> None:
        """Remove results of the run beyond a point; all of them for None."""
        self._record.rewind(point)

    def remove(self) -> None:
        """Remove all points of a finished run."""
        self._record.remove()


def inputs_of(run: Run) -> dict[str, str]:
    """All inputs of a training's numbers, by name."""
    start = run.record.start_policy.read()
    packages = PACKAGES + (TORCH_PACKAGES if run.config.learner == "sb3" else ())
    return {
        "configuration": _digest(run.config.model_dump_json()),
        "environment": _digest(run.spec.model_dump_json()),
        "criteria": _digest(run.intent.model_dump_json()) if run.intent is not None else "",
        "reward": _digest(run.reward.source),
        "p2p": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **({"start policy": f"{start.sha256} {start.optimizer_sha256}"} if start is not None else {}),
        **{package: version(package) for package in packages},
    }


def saved_selections(selections: Sequence[Selection]) -> tuple[tuple[SelectedCheckpoint, ...], State]:
    """Selections for a resume point, and the values of their terms as arrays."""
    saved = tuple(
        SelectedCheckpoint(
            step=selection.step,
            mean_return=selection.mean_return,
            intent_score=selection.intent_score,
            success_rate=selection.success_rate,
            terms=tuple(selection.terms),
            row=dict(selection.row),
        )
        for selection in selections
    )
    return saved, {str(selection.step): np.array(list(selection.terms.values())) for selection in selections}


def restored_selections(saved: Sequence[SelectedCheckpoint], terms: State) -> list[Selection]:
    """Selections from a resume point."""
    return [
        Selection(
            step=one.step,
            mean_return=one.mean_return,
            intent_score=one.intent_score,
            success_rate=one.success_rate,
            terms=dict(zip(one.terms, terms[str(one.step)], strict=True)),
            row=one.row,
        )
        for one in saved
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
