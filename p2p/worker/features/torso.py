"""Time, turns and way of n torsos, step by step: the features that policies are told, without reading all others."""

import mujoco
import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import REMEMBERED
from p2p.rewards.features import rotations_of
from p2p.rewards.formulas import Features
from p2p.rewards.rotations import conjugate, multiply
from p2p.worker.engine.forward_kinematics import ForwardKinematics
from p2p.worker.engine.morphology import index_of
from p2p.worker.engine.vec_env import Step
from p2p.worker.saved_state import State, fill

Floats = np.typing.NDArray[np.float64]


class TorsoReader:
    """Reads the features of `REMEMBERED`, the same to the bit as `FeatureReader`.

    Args:
        model: The simulated model.
        spec: The environment it belongs to.
        n: How many environments.
    """

    names = frozenset(REMEMBERED)

    def __init__(self, model: mujoco.MjModel, spec: EnvSpec, n: int) -> None:
        self._poses = ForwardKinematics(model)
        self._torso = index_of(model, "body", spec.morphology.torso)
        self._upright = conjugate(np.array(spec.morphology.upright))
        self._dt = spec.dt
        self._steps = np.zeros(n)
        self._start = np.zeros((n, 3))
        self._quaternion = np.zeros((n, 4))
        """After the last step."""
        self._rotation = np.zeros((n, 3))
        self._turned = np.zeros((n, 3))

    def read(self, step: Step) -> Features:
        """Features after the next step of all environments, each of shape (n,)."""
        if (starts := np.flatnonzero(step.starts)).size:
            position, quaternion = self._torsos(step.before.qpos[starts])
            self._steps[starts] = 0.0
            self._start[starts] = position
            self._quaternion[starts] = quaternion
            self._rotation[starts] = 0.0
            self._turned[starts] = 0.0
            if step.begun_turns is not None:
                self._turned[starts, 1] = 2.0 * np.pi * step.begun_turns[starts]
        position, quaternion = self._torsos(step.after.qpos)
        rotation, turned = rotations_of(self._quaternion, quaternion)
        self._steps += 1.0
        self._rotation += rotation
        self._turned += turned
        self._quaternion = quaternion
        x, y, _ = (position - self._start).T
        found = {"time": self._steps * self._dt, "displacement_x": x, "displacement_y": y}
        found["displacement"] = np.sqrt(x**2 + y**2)
        found |= {f"rotation_{axis}": self._rotation[:, i] for i, axis in enumerate("xyz")}
        turns = self._turned / (2.0 * np.pi)
        return found | {f"{name}_turns": turns[:, i] for i, name in enumerate(("roll", "pitch", "yaw"))}

    def state(self) -> State:
        """State between two steps."""
        return {
            "steps": self._steps,
            "start": self._start,
            "quaternion": self._quaternion,
            "rotation": self._rotation,
            "turned": self._turned,
        }

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        for name, array in self.state().items():
            fill(array, state[name])

    def _torsos(self, qpos: Floats) -> tuple[Floats, Floats]:
        poses = self._poses.read(qpos)
        return poses.xpos[:, self._torso], multiply(poses.xquat[:, self._torso], self._upright)
