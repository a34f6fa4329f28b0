"""A force that holds robots up in training, and less of it the more they succeed."""

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.curriculum import Assistance
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.simulation import Simulation
from p2p.worker.engine.vec_env import Block
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.rollout.reached_goals import ReachedGoals
from p2p.worker.saved_state import State, joined, part

Floats = NDArray[np.float64]


class Assistant:
    """Holds up the torsos of n robots by an upward force, the same share of the weight in all.

    Args:
        assistance: How much at the start, at which heights, and what succeeds.
        simulation: Of the training environments.
        shortened: Environments whose first episode is cut short and does not count, shape (n,).
    """

    def __init__(self, assistance: Assistance, simulation: Simulation, shortened: NDArray[np.bool_]) -> None:
        self._assistance = assistance
        model = simulation.model
        mass = float(model.body(simulation.spec.morphology.torso).subtreemass[0])
        self._weight = mass * float(np.linalg.norm(model.opt.gravity))
        self._kinematics = Kinematics(model, simulation.spec)
        self._goals = ReachedGoals(assistance.goal, simulation, shortened)
        self.share = assistance.share
        """Of the weight, that it holds now."""

    def forces(self, frame: Frame) -> Floats:
        """On the torsos in the next control step, shape (n, 3) [N]."""
        found = np.zeros((len(frame.qpos), 3))
        found[:, 2] = self.share * self._weight
        if self.share > 0 and self._assistance.heights is not None:
            states = self._kinematics.read(frame.qpos, frame.qvel)
            full, none = self._assistance.heights
            found[:, 2] *= np.clip((none - states.position[:, 2] + states.ground) / (none - full), 0.0, 1.0)
        return found

    def follow(self, block: Block) -> None:
        """Take the episodes that end in the next steps into account."""
        down = self._assistance.step
        up = down * self._assistance.success / (1.0 - self._assistance.success)
        for _, _, reached in self._goals.ended(block):
            self.share = float(np.clip(self.share + (-down if reached else up), 0.0, self._assistance.share))

    def state(self) -> State:
        """How much it holds, and the episodes under way."""
        return {"share": np.array(self.share), **joined({"goals": self._goals.state()})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self.share = float(state["share"])
        self._goals.restore(part(state, "goals"))
