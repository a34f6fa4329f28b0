"""What environments show, and what Gymnasium says about a step."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
SIDE_INFO = ("qpos", "qvel", "xpos", "xquat", "cfrc_ext", "actuator_force")
"""What a reward may read of the simulator, beyond observation and info."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What m environments show after a reset or a control step. The arrays are new: nobody overwrites them."""

    observations: Floats
    """Shape (m, obs_dim)."""
    qpos: Floats
    """Joint positions, shape (m, nq)."""
    qvel: Floats
    """Joint velocities, shape (m, nv)."""
    terminated: Booleans
    """The environment's own rule, shape (m,); False after a reset."""
    probes: dict[str, Floats] = field(default_factory=dict)
    """What `Simulation.outcome` needs beyond qpos and qvel, each of shape (m, ...); the same names in every frame."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Gymnasium's own judgement of m control steps."""

    rewards: Floats
    """Shape (m,)."""
    info: dict[str, Floats]
    """Gymnasium's info, name -> shape (m,), or (m, k) where Gymnasium gives k numbers (the tendons of Humanoid)."""
