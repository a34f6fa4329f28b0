"""What a host does with a reward: everything that executes its text."""

from collections.abc import Mapping
from dataclasses import fields as fields_of
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.code_host.serve import Result
from p2p.worker.reward.loader import LoadedReward
from p2p.worker.reward.recording import Recording
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward.steps import Steps
from p2p.worker.reward.steps_evaluator import StepsEvaluator

Fields = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
COLUMN = "info:"
"""Before the name of an array that rewards read as `info`."""
ROWS = ("obs", "actions", "next_obs", "starts")


class RewardService:
    """One reward, loaded and evaluated. The other end is `HostedReward`.

    Args:
        progress: Where the row that is being computed is written.
    """

    def __init__(self, progress: NDArray[np.int64]) -> None:
        self._progress = progress
        self._reward: LoadedReward
        self._evaluators: dict[int, StepsEvaluator] = {}

    def answer(self, operation: str, fields: Fields, arrays: Arrays) -> Result:
        """Do one of its operations.

        Raises:
            InvalidReward: the reward does not load.
            RewardFailed: it raised, or returned what is not a finite number.
        """
        result: Result = getattr(self, f"_{operation}")(fields, arrays)
        return result

    def _load(self, fields: Fields, _arrays: Arrays) -> Result:
        self._reward = LoadedReward(fields["source"])
        return self._reward.description.fields(), None

    def _run(self, _fields: Fields, arrays: Arrays) -> Result:
        steps = _steps(arrays)
        runner = RewardRunner(self._reward, steps.starts.shape[1], self._progress)
        table = runner.run(steps)
        return {"names": runner.names}, table

    def _begin(self, fields: Fields, _arrays: Arrays) -> Result:
        key = len(self._evaluators)
        self._evaluators[key] = StepsEvaluator(self._reward, fields["n"], fields["seed"], self._progress)
        return key, None

    def _evaluate(self, fields: Fields, arrays: Arrays) -> Result:
        evaluator = self._evaluators[fields["key"]]
        table = evaluator.evaluate(_steps(arrays))
        return {"names": evaluator.names, "method": evaluator.method, "reason": evaluator.reason}, table

    def _replay(self, fields: Fields, arrays: Arrays) -> Result:
        self._evaluators[fields["key"]].replay(_steps(arrays))
        return None, None

    def _state(self, fields: Fields, _arrays: Arrays) -> Result:
        return self._evaluators[fields["key"]].state(), None

    def _restore(self, fields: Fields, _arrays: Arrays) -> Result:
        evaluator = self._evaluators[fields["key"]]
        evaluator.restore(fields["state"])
        return {"names": evaluator.names, "method": evaluator.method, "reason": evaluator.reason}, None


def arrays_of(steps: Steps | Recording) -> dict[str, NDArray[Any]]:
    """Steps as they are sent; entries of `info` that are no numbers stay behind."""
    plain = {field.name: getattr(steps, field.name) for field in fields_of(steps) if field.name in ROWS}
    numbers = {name: column for name, column in steps.columns.items() if column.dtype.kind in "biuf"}
    return plain | {COLUMN + name: column for name, column in numbers.items()}


def columns_of(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """What rewards read as `info`, of the arrays that were sent."""
    return {name.removeprefix(COLUMN): array for name, array in arrays.items() if name.startswith(COLUMN)}


def _steps(arrays: Arrays) -> Steps:
    return Steps(**{name: arrays[name] for name in ROWS}, columns=columns_of(arrays))
