"""Time, turns, way and jumps of n robots, step by step: what policies are told, without reading all features."""

from collections.abc import Collection

import mujoco
import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import REMEMBERED
from p2p.rewards.features import rotations_of
from p2p.rewards.formulas import Features, jump_height
from p2p.rewards.rotations import conjugate, multiply
from p2p.worker.engine.forward_kinematics import ForwardKinematics, Poses
from p2p.worker.engine.morphology import index_of
from p2p.worker.engine.vec_env import Step
from p2p.worker.features.kinematics import Floor, GeomHeights
from p2p.worker.saved_state import State, fill

Floats = np.typing.NDArray[np.float64]
_OF_JUMPS = frozenset({"clearance", "jump_height"})


class ProgressReader:
    """Reads the features of `REMEMBERED`, and of jumps, the same to the bit as `FeatureReader`.

    Args:
        model: The simulated model.
        spec: The environment it belongs to.
        n: How many environments.
        wanted: Features to read, all of `names`. Those of jumps take time, and are left out where none is wanted.
    """

    names = frozenset({*REMEMBERED, *_OF_JUMPS})

    def __init__(self, model: mujoco.MjModel, spec: EnvSpec, n: int, wanted: Collection[str]) -> None:
        body = spec.morphology
        self._poses = ForwardKinematics(model)
        self._torso = index_of(model, "body", body.torso)
        self._ground: tuple[GeomHeights, Floor] | None = None
        if not _OF_JUMPS.isdisjoint(wanted):
            self._ground = GeomHeights(model, self._torso), Floor(model, self._torso, body.feet, body.trunk)
        self._at_rest = spec.rest_clearance
        self._upright = conjugate(np.array(body.upright))
        self._dt = spec.dt
        self._steps = np.zeros(n)
        self._start = np.zeros((n, 3))
        self._quaternion = np.zeros((n, 4))
        """After the last step."""
        self._rotation = np.zeros((n, 3))
        self._turned = np.zeros((n, 3))
        self._took_off = np.zeros(n)

    def read(self, step: Step) -> Features:
        """Features after the next step of all environments, each of shape (n,)."""
        if (starts := np.flatnonzero(step.starts)).size:
            position, quaternion = self._torsos(self._poses.read(step.before.qpos[starts]))
            self._steps[starts] = 0.0
            self._start[starts] = position
            self._quaternion[starts] = quaternion
            self._rotation[starts] = 0.0
            self._turned[starts] = 0.0
            self._took_off[starts] = position[:, 2]
            if step.begun_turns is not None:
                self._turned[starts, 1] = 2.0 * np.pi * step.begun_turns[starts]
        poses = self._poses.read(step.after.qpos)
        position, quaternion = self._torsos(poses)
        rotation, turned = rotations_of(self._quaternion, quaternion)
        self._steps += 1.0
        self._rotation += rotation
        self._turned += turned
        self._quaternion = quaternion
        x, y, _ = (position - self._start).T
        found = {"time": self._steps * self._dt, "displacement_x": x, "displacement_y": y}
        found["displacement"] = np.sqrt(x**2 + y**2)
        found |= {f"rotation_{axis}": self._rotation[:, i] for i, axis in enumerate("xyz")}
        if self._ground is not None:
            shapes, floor = self._ground
            low, _, _, touching, _ = floor.read(shapes.above_ground(poses.geom_xpos, poses.geom_xmat))
            self._took_off = np.where(touching > 0.0, position[:, 2], self._took_off)
            found["clearance"] = low - self._at_rest
            found["jump_height"] = jump_height(found["clearance"], position[:, 2] - self._took_off)
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
            "took_off": self._took_off,
        }

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        for name, array in self.state().items():
            fill(array, state[name])

    def _torsos(self, poses: Poses) -> tuple[Floats, Floats]:
        return poses.xpos[:, self._torso], multiply(poses.xquat[:, self._torso], self._upright)
