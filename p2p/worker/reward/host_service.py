"""Host side of a reward: everything that executes its text."""

from collections.abc import Mapping
from dataclasses import fields as fields_of
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.code_host.serve import Result
from p2p.worker.reward.recorded_steps import RecordedSteps
from p2p.worker.reward.recording import Recording
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward_source.loader import LoadedReward

Fields = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
COLUMN = "info:"
"""Before the name of an array that rewards read as `info`."""
ROWS = ("obs", "actions", "next_obs", "starts")


class RewardService:
    """One reward, loaded and evaluated in its host; counterpart of `HostedReward`.

    Args:
        progress: Receives the row being computed.
    """

    def __init__(self, progress: NDArray[np.int64]) -> None:
        self._progress = progress
        self._reward: LoadedReward
        self._runner: RewardRunner

    def answer(self, operation: str, fields: Fields, arrays: Arrays) -> Result:
        """Run one operation.

        Raises:
            InvalidReward: the reward does not load.
            StepFailed: it raised, or changed its terms.
        """
        match operation:
            case "load":
                self._reward = LoadedReward(fields["source"])
                return self._reward.description.fields(), None
            case "run":
                steps = _steps(arrays)
                table, names = RewardRunner(self._reward, steps.starts.shape[1], progress=self._progress).run(steps)
                return {"names": names}, table
            case "begin":
                self._runner = RewardRunner(self._reward, fields["n"], fields["seed"], self._progress)
                return None, None
            case "evaluate":
                table, names = self._runner.evaluate(_steps(arrays))
                return self._said(names), table
            case "replay":
                self._runner.replay(_steps(arrays))
                return None, None
            case "state":
                return self._runner.state(), None
            case "restore":
                return self._said(self._runner.restore(fields["state"])), None
        raise ValueError(f"a reward has no operation {operation!r}")

    def _said(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {"names": names, "method": self._runner.method, "reason": self._runner.reason}


def arrays_of(steps: RecordedSteps | Recording) -> dict[str, NDArray[Any]]:
    """Steps as arrays; non-numeric entries of `info` are left out."""
    plain = {field.name: getattr(steps, field.name) for field in fields_of(steps) if field.name in ROWS}
    numbers = {name: column for name, column in steps.columns.items() if column.dtype.kind in "biuf"}
    return plain | {COLUMN + name: column for name, column in numbers.items()}


def columns_of(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """`info` for rewards, from the sent arrays."""
    return {name.removeprefix(COLUMN): array for name, array in arrays.items() if name.startswith(COLUMN)}


def _steps(arrays: Arrays) -> RecordedSteps:
    return RecordedSteps(**{name: arrays[name] for name in ROWS}, columns=columns_of(arrays))
