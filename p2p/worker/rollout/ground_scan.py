"""Heights of the ground around robots, which the critic alone may see."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.rewards.rotations import conjugate, forward_axis, multiply
from p2p.worker.engine.height_field import HeightField

Floats = NDArray[np.float64]

AHEAD = (-1.0, 0.0, 1.0, 2.0, 3.0)
ASIDE = (-1.0, 0.0, 1.0)
"""Where the ground is measured, along the heading and to its left, in heights of the torso at rest."""


class GroundScan:
    """Reads the ground at places that turn with the robot's heading.

    Args:
        ground: The terrain.
        spec: Of the robot, whose first joint is free.
    """

    def __init__(self, ground: HeightField, spec: EnvSpec) -> None:
        self._ground = ground
        self._upright = conjugate(np.array(spec.morphology.upright))
        places = spec.rest_height * np.array(list(product(AHEAD, ASIDE)))
        self._ahead, self._aside = places.T
        self.size = len(places)

    def read(self, qpos: Floats) -> Floats:
        """Heights over that of the ground below the robot, for positions of shape (n, nq); shape (n, size) [m]."""
        ahead_x, ahead_y, _ = forward_axis(multiply(qpos[:, 3:7], self._upright)).T
        length = np.maximum(np.sqrt(ahead_x * ahead_x + ahead_y * ahead_y), 1e-9)  # 0 where it looks straight up
        cosine, sine = (ahead_x / length)[:, None], (ahead_y / length)[:, None]
        x = qpos[:, :1] + cosine * self._ahead - sine * self._aside
        y = qpos[:, 1:2] + sine * self._ahead + cosine * self._aside
        return self._ground.height(x, y) - self._ground.height(qpos[:, 0], qpos[:, 1])[:, None]
