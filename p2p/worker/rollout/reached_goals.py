"""Which training episodes reach a goal."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.windows import all_hold
from p2p.contracts.intent import Bounds
from p2p.worker.engine.simulation import Simulation
from p2p.worker.engine.vec_env import Block
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.saved_state import State, fill, joined, part


class ReachedGoals:
    """Watches whether all bounds of a goal hold at one step of an episode.

    Args:
        goal: At least one bound, over features of the robot, of its parts, or expressions of them.
        simulation: Of the training environments.
        shortened: Environments whose first episode is cut short and does not count, shape (n,).
    """

    def __init__(self, goal: Bounds, simulation: Simulation, shortened: NDArray[np.bool_]) -> None:
        self._goal = goal
        names = frozenset(bound.feature for bound in goal)
        self._inputs = RewardInputs(simulation, wanted=names, extra_features=names)
        self._reached = np.zeros(simulation.n, dtype=np.bool_)
        self._counts = ~shortened

    def ended(self, block: Block) -> Iterator[tuple[int, int, bool]]:
        """The whole episodes that end in the next steps: step of the block, environment, whether it was reached."""
        holds = all_hold(self._goal, self._inputs.read(block)).reshape(block.ends.shape)
        for step, (now, ends) in enumerate(zip(holds, block.ends, strict=True)):
            self._reached |= now
            for i in np.flatnonzero(ends & self._counts).tolist():
                yield step, i, bool(self._reached[i])
            self._counts[ends] = True
            self._reached[ends] = False

    def state(self) -> State:
        """Episodes under way."""
        return {"reached": self._reached, "counts": self._counts, **joined({"inputs": self._inputs.state()})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self._reached, state["reached"])
        fill(self._counts, state["counts"])
        self._inputs.restore(part(state, "inputs"))
