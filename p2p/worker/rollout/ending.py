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
from p2p.worker.saved_state import State, fill, joined, part


class EndRule:
    """Ends an episode at the first step where one of some bounds holds, or where one is lost.

    Args:
        bounds: Over features of the robot, of its parts, or expressions of them.
        lost: Bounds of the same kind, each of which ends an episode at the first step where it no longer holds, once it
            has held.
        simulation: Of the environments.

    Raises:
        InvalidConfig: the robot lacks a feature.
    """

    def __init__(self, bounds: Sequence[Bound], lost: Sequence[Bound], simulation: Simulation) -> None:
        require_bounds(bounds, simulation.spec)
        require_bounds(lost, simulation.spec, "end_when_lost")
        names = frozenset(bound.feature for bound in (*bounds, *lost))
        self._bounds = bounds
        self._lost = lost
        self._have_held = np.zeros((len(lost), simulation.n), dtype=np.bool_)
        self._inputs = RewardInputs(simulation, wanted=names, extra_features=names)
        self._has_gone_on = False

    def ended_by(self, step: Step) -> NDArray[np.bool_]:
        """Environments in which one of the bounds holds, or is lost, after the next step, shape (n,).

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
        self._have_held[:, step.starts] = False
        for bound, has_held in zip(self._lost, self._have_held, strict=True):
            holds = satisfies(values_of(bound, columns), bound)
            ended |= has_held & ~holds
            has_held |= holds
        return ended

    def state(self) -> State:
        """State carried over from earlier steps."""
        return {"have_held": self._have_held, **joined({"inputs": self._inputs.state()})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self._have_held, state["have_held"])
        self._inputs.restore(part(state, "inputs"))
        self._has_gone_on = True


def _measured(bounds: Sequence[Bound], columns: Mapping[str, np.ndarray]) -> str:
    """What the features are after the first step."""
    found = {bound.feature: values_of(bound, columns) for bound in bounds}
    return ", ".join(f"{name} is {low.min():.3g} to {low.max():.3g} there" for name, low in found.items())
