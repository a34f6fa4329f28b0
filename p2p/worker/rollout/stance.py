"""A robot's stance: its joints as at its start, upright and at rest, its centre of mass above its feet."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.start_states import StartState
from p2p.rewards.rotations import conjugate, multiply
from p2p.worker.engine.morphology import index_of
from p2p.worker.engine.root_joints import root_of
from p2p.worker.features.kinematics import Kinematics

Floats = NDArray[np.float64]

FLAT = 0.2
"""Sine of the angle with the floor from which on a capsule stands on its lower end alone."""
TILTS = 3
"""Times that it is turned: where a foot stands changes with it."""


def stance(model: mujoco.MjModel, spec: EnvSpec, state: StartState) -> StartState:
    """The robot of a state, upright and at rest: turned as a whole until its mass is above its feet.

    Its joints keep their angles, as far as their ranges go, and its lowest point touches the floor. What does not move
    freely, or has no feet, is left as it is, at rest.
    """
    qpos, qvel = np.array(state.qpos), np.zeros(len(state.qvel))
    free = [joint for joint in spec.joints if joint.body == spec.morphology.torso and joint.kind == "free"]
    if free and spec.morphology.feet:
        at = free[0].qpos_index
        qpos[at + 3 : at + 7] = spec.morphology.upright
        limited = np.flatnonzero(model.jnt_limited)
        places = model.jnt_qposadr[limited]
        qpos[places] = np.clip(qpos[places], *model.jnt_range[limited].T)
        data = mujoco.MjData(model)
        for _ in range(TILTS):
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            feet = _support(model, data, spec)
            turn = _to_vertical(data.subtree_com[index_of(model, "body", spec.morphology.torso)] - feet)
            qpos[at : at + 3] = feet + _turned(turn, qpos[at : at + 3] - feet)
            qpos[at + 3 : at + 7] = multiply(turn, qpos[at + 3 : at + 7])
            low = float(Kinematics(model, spec).read(qpos[None], qvel[None]).low[0])
            root_of(spec).lift(qpos, -low)
    return state.model_copy(update={"qpos": tuple(qpos.tolist()), "qvel": tuple(qvel.tolist())})


def _support(model: mujoco.MjModel, data: mujoco.MjData, spec: EnvSpec) -> Floats:
    """Centre of the robot's feet, shape (3,) [m]."""
    geoms = [index_of(model, "geom", foot) for foot in spec.morphology.feet]
    return np.asarray(np.mean([_sole(model, data, geom) for geom in geoms], axis=0))


def _sole(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Floats:
    """Where a foot stands: its centre, of a shin that points downward its lower end, shape (3,) [m]."""
    centre = np.array(data.geom_xpos[geom])
    if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_CAPSULE:
        return centre
    axis = data.geom_xmat[geom].reshape(3, 3)[:, 2]
    return np.asarray(centre - np.clip(axis[2] / FLAT, -1.0, 1.0) * model.geom_size[geom, 1] * axis)


def _to_vertical(direction: Floats) -> Floats:
    """The shortest turn of a direction onto +z, as a quaternion."""
    axis = np.cross(direction, [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(axis))
    angle = float(np.arctan2(length, direction[2]))
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis / max(length, 1e-12))])


def _turned(turn: Floats, vector: Floats) -> Floats:
    return multiply(multiply(turn, np.array([0.0, *vector])), conjugate(turn))[1:]
