"""What the sensors of n robots read of the simulator's state."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.randomisation import SensorNoise
from p2p.contracts.senses import Senses
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.vec_env import Step
from p2p.worker.saved_state import State, fill, generator_state, joined, part, restore_generator

Floats = NDArray[np.float64]
_STREAM = 0x5E45
"""Keeps the errors apart from the draws of an episode's start, which have the same seed."""


class RobotSenses:
    """Readings of n robots, in the order of `Senses.inputs`.

    Everything is written element by element, so that one robot alone reads the same to the bit.

    Args:
        senses: What is read.
        n: How many robots.
    """

    def __init__(self, senses: Senses, n: int) -> None:
        self.senses = senses
        self._positions = list(senses.positions)
        self._velocities = list(senses.velocities)
        self._stance = np.array(senses.stance)
        self._last_actions = np.zeros((n, len(senses.actions)))

    def begin(self, ids: Sequence[int]) -> None:
        """Begin new episodes: nothing was told yet."""
        self._last_actions[np.asarray(ids, dtype=np.intp)] = 0.0

    def follow(self, step: Step) -> None:
        """Take the actions of the next step."""
        self._last_actions[:] = step.actions

    def read(self, now: Frame, down: Floats | None = None) -> Floats:
        """Readings, shape (n, number of inputs).

        Args:
            now: The state.
            down: Direction of gravity in the world of each robot, shape (n, 3); None for that of level ground.
        """
        columns = []
        if self.senses.root is not None:
            at, dof = self.senses.root
            quaternion = now.qpos[:, at + 3 : at + 7]
            gravity = gravity_seen(quaternion) if down is None else in_body(quaternion, down)
            columns += [gravity, now.qvel[:, dof + 3 : dof + 6]]
            if self.senses.velocity:
                columns.append(in_body(quaternion, now.qvel[:, dof : dof + 3]))
        columns += [now.qpos[:, self._positions] - self._stance, now.qvel[:, self._velocities], self._last_actions]
        return np.concatenate(columns, axis=1)

    def state(self) -> State:
        """State between two steps."""
        return {"last_actions": self._last_actions}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self._last_actions, state["last_actions"])


class SenseErrors:
    """Errors of the senses of n robots, drawn anew for each reading.

    Args:
        senses: What is read.
        noise: Largest errors.
        seeds: Of each robot's draws, so that its errors do not depend on the other robots.
    """

    def __init__(self, senses: Senses, noise: SensorNoise, seeds: Sequence[int]) -> None:
        widths = [noise.gravity] * 3 + [noise.angular_velocity] * 3 if senses.root is not None else []
        widths += [noise.velocity] * 3 if senses.velocity else []
        widths += [noise.joint_position] * len(senses.positions) + [noise.joint_velocity] * len(senses.velocities)
        self._widths = np.array(widths + [0.0] * len(senses.actions))
        self._generators = [np.random.default_rng((_STREAM, seed)) for seed in seeds]
        self.now = np.zeros((len(seeds), len(self._widths)))
        """Of the present readings, shape (n, number of inputs)."""

    def draw(self, ids: Sequence[int]) -> None:
        """Draw those of the robots `ids` for their next reading."""
        for i in ids:
            self.now[i] = self._widths * self._generators[i].uniform(-1.0, 1.0, len(self._widths))

    def state(self) -> State:
        """Errors and generators."""
        return {"now": self.now} | joined(
            {"generator": {str(i): generator_state(one) for i, one in enumerate(self._generators)}}
        )

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self.now, state["now"])
        for i, words in part(state, "generator").items():
            restore_generator(self._generators[int(i)], words)


def gravity_seen(quaternion: Floats) -> Floats:
    """Direction of gravity in the frame of a body, shape (n, 3), from its orientation (w, x, y, z), shape (n, 4)."""
    w, x, y, z = _unit(quaternion)
    return np.stack([2.0 * (w * y - x * z), -2.0 * (y * z + w * x), 2.0 * (x * x + y * y) - 1.0], axis=1)


def in_body(quaternion: Floats, vectors: Floats) -> Floats:
    """Vectors of the world, shape (n, 3), in the frame of a body."""
    w, x, y, z = _unit(quaternion)
    a, b, c = vectors.T
    return np.stack(
        [
            (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y + w * z) * b + 2.0 * (x * z - w * y) * c,
            2.0 * (x * y - w * z) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z + w * x) * c,
            2.0 * (x * z + w * y) * a + 2.0 * (y * z - w * x) * b + (1.0 - 2.0 * (x * x + y * y)) * c,
        ],
        axis=1,
    )


def _unit(quaternion: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    w, x, y, z = quaternion.T
    length = np.sqrt(w * w + x * x + y * y + z * z)  # noise at an episode's start leaves it longer than 1
    return w / length, x / length, y / length, z / length
