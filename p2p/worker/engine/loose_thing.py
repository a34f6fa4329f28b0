"""Where the thing that an arm is to reach lies as an episode begins."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.morphology import index_of

Floats = NDArray[np.float64]
SPREAD_M = 0.05
"""Largest distance of the thing from its place in the file [m]."""


class LooseThing:
    """Lays a thing with a free joint somewhere in a disc about its place, turned as in the file and at rest.

    Args:
        model: The simulated model.
        body: Its name.
        home: Positions in which episodes begin, shape (nq,).
    """

    def __init__(self, model: mujoco.MjModel, body: str, home: Floats) -> None:
        joint = int(model.body_jntadr[index_of(model, "body", body)])
        q, v = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        self._pose, self._velocity = slice(q, q + 7), slice(v, v + 6)
        self._home = home[self._pose].copy()

    def lay(self, generator: np.random.Generator, qpos: Floats, qvel: Floats) -> None:
        """Change a state in place; each place of the disc is as likely as any other."""
        away, angle = SPREAD_M * np.sqrt(generator.random()), generator.uniform(0.0, 2.0 * np.pi)
        qpos[self._pose] = self._home
        qpos[self._pose.start : self._pose.start + 2] += away * np.array([np.cos(angle), np.sin(angle)])
        qvel[self._velocity] = 0.0
