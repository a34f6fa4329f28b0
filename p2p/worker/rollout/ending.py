"""Ends of training episodes that the configuration adds to the environment's own."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.windows import satisfies, values_of
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Bound
from p2p.rewards.part_features import require_bounds
from p2p.worker.engine.simulation import Simulation
from p2p.worker.engine.vec_env import Block, Step
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.saved_state import State


class EndRule:
    """Ends an episode at the first step where one of some bounds holds.

    Args:
        bounds: Over features of the robot, of its parts, or expressions of them.
        simulation: Of the environments.

    Raises:
        InvalidConfig: the robot lacks a feature.
    """

    def __init__(self, bounds: Sequence[Bound], simulation: Simulation) -> None:
        require_bounds(bounds, simulation.spec)
        names = frozenset(bound.feature for bound in bounds)
        self._bounds = bounds
        self._inputs = RewardInputs(simulation, wanted=names, extra_features=names)
        self._has_gone_on = False

    def ended_by(self, step: Step) -> NDArray[np.bool_]:
        """Environments in which one of the bounds holds after the next step, shape (n,).

        Raises:
            InvalidConfig: all of them end at the first step that was ever made.
        """
        columns = self._inputs.read(Block.of([step]))
        ended = np.zeros(len(step.starts), dtype=np.bool_)
        for bound in self._bounds:
            ended |= satisfies(values_of(bound, columns), bound)
        if not self._has_gone_on and ended.all():
            raise InvalidConfig(
                "end_when ends every training episode at its first step, so that nothing can be learnt: "
                f"{_measured(self._bounds, columns)}. Ask for what the robot does not do at its start."
            )
        self._has_gone_on = True
        return ended

    def state(self) -> State:
        """State carried over from earlier steps."""
        return self._inputs.state()

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self._inputs.restore(state)
        self._has_gone_on = True


def _measured(bounds: Sequence[Bound], columns: Mapping[str, np.ndarray]) -> str:
    """What the features are after the first step."""
    found = {bound.feature: values_of(bound, columns) for bound in bounds}
    return ", ".join(f"{name} is {low.min():.3g} to {low.max():.3g} there" for name, low in found.items())
