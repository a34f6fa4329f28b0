"""Which side of a robot is its front, in colour: four legs all alike show it otherwise to nobody."""

import copy

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.worker.description.morphology import FREE, index_of

RED = (0.82, 0.12, 0.12, 1.0)
"""As the arrow that points forward."""
MANY_FEET = 4
"""From as many feet on a robot may be symmetric all around."""
AHEAD = 0.1
"""From this far ahead of the torso's centre a foot counts as a front foot, as a share of the farthest."""


def mark_front(model: mujoco.MjModel, spec: EnvSpec) -> mujoco.MjModel:
    """The model with red front legs, where it has legs all around; any other model as it is."""
    legs = front_legs(model, spec)
    if not legs:
        return model
    marked = copy.copy(model)
    geoms = np.isin(model.geom_bodyid, list(legs))
    marked.geom_rgba[geoms], marked.geom_matid[geoms] = RED, -1
    return marked


def front_legs(model: mujoco.MjModel, spec: EnvSpec) -> set[int]:
    """Bodies of the legs in front, from the foot up to the torso; empty for a robot that is not symmetric."""
    body = spec.morphology
    if not (model.jnt_type == FREE).any() or len(body.feet) < MANY_FEET:
        return set()
    torso = index_of(model, "body", body.torso)
    ahead = _ahead(model, spec, torso)
    farthest = max(map(abs, ahead.values()))
    legs: set[int] = set()
    for foot, distance in ahead.items():
        if distance > AHEAD * farthest:
            legs |= _chain(model, int(model.geom_bodyid[foot]), torso)
    return legs


def _ahead(model: mujoco.MjModel, spec: EnvSpec, torso: int) -> dict[int, float]:
    """How far each foot is ahead of the torso at rest, by geom [m]."""
    data, turn = mujoco.MjData(model), np.empty(9)
    mujoco.mj_kinematics(model, data)
    mujoco.mju_quat2Mat(turn, np.array(spec.morphology.upright))
    forward: NDArray[np.float64] = data.xmat[torso].reshape(3, 3) @ turn.reshape(3, 3).T[:, 0]
    feet = [index_of(model, "geom", name) for name in spec.morphology.feet]
    return {foot: float((data.geom_xpos[foot] - data.xpos[torso]) @ forward) for foot in feet}


def _chain(model: mujoco.MjModel, body: int, torso: int) -> set[int]:
    bodies = set()
    while body not in (torso, 0):
        bodies.add(body)
        body = int(model.body_parentid[body])
    return bodies
