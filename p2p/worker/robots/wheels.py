"""Wheels of a robot: what turns without end about an axle, and is round about it."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.morphology import FREE, HINGE, Indices
from p2p.worker.features.kinematics import GeomHeights

Vectors = NDArray[np.float64]
ROUND = 0.85
"""Least share of a wheel's largest radius that its smallest has; an octagon has 0.92, a square 0.71."""
SIDES = 16
"""Directions in which a radius is measured."""


def is_wheel(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> bool:
    """Whether a joint is the axle of a wheel: a hinge without limits whose load, seen along it, is a disc about it.

    Only robots with a free base have wheels. A leg, or a turret with an arm, reaches farther to one side than another.

    Args:
        model: Of the robot.
        data: The same in any pose, with its kinematics computed.
        joint: Index of the joint.
    """
    body = int(model.jnt_bodyid[joint])
    roots = model.jnt_bodyid == model.body_rootid[body]
    free = bool((model.jnt_type[roots] == FREE).any())
    if not free or int(model.jnt_type[joint]) != HINGE or model.jnt_limited[joint]:
        return False
    turning = np.isin(model.geom_bodyid, moved_by(model, joint))
    solid = turning & ((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    shapes = GeomHeights(model, body)
    counted = (solid if solid.any() else turning)[shapes.geoms]
    if not counted.any():
        return False
    inwards = _across(data.xaxis[joint])
    places = inwards @ (data.geom_xpos - data.xanchor[joint]).T
    frames = np.einsum("di,gij->dgj", inwards, data.geom_xmat.reshape(-1, 3, 3))
    radii = -shapes.lowest(places, frames)[:, counted].min(axis=1)
    return float(radii.min()) >= ROUND * float(radii.max())


def moved_by(model: mujoco.MjModel, joint: int) -> Indices:
    """Bodies that a joint moves: its own, and all that hang on it."""
    moved = {int(model.jnt_bodyid[joint])}
    for body in range(min(moved) + 1, model.nbody):
        if int(model.body_parentid[body]) in moved:
            moved.add(body)
    return np.array(sorted(moved), dtype=np.intp)


def _across(axis: Vectors) -> Vectors:
    """Unit vectors all around an axis (3,), at right angles to it, shape (SIDES, 3)."""
    other = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    other /= np.linalg.norm(other)
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    return np.outer(np.cos(angles), other) + np.outer(np.sin(angles), np.cross(axis, other))
