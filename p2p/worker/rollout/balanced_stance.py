"""A robot's stance, and the way to it: its joints as at its start, upright, at rest, its mass above its feet."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.start_states import StartState
from p2p.rewards.definitions import TorsoFreedom
from p2p.rewards.rotations import conjugate, multiply
from p2p.worker.engine.morphology import base_of, index_of, within_limits
from p2p.worker.engine.root_joints import Root, root_of
from p2p.worker.features.kinematics import GeomHeights, Kinematics

Floats = NDArray[np.float64]

TURNS = 3
"""Times that it is turned: where its feet touch the floor changes with it."""


def balanced_stance(model: mujoco.MjModel, spec: EnvSpec, state: StartState) -> StartState:
    """The robot of a state, upright and at rest: turned as a whole until its mass is above its feet.

    Its joints keep their angles, as far as their ranges go, and its lowest point touches the floor. A robot that is not
    free to move, or has no feet, stays where it is, at rest.
    """
    qpos, qvel = np.array(state.qpos), np.zeros(len(state.qvel))
    torso = index_of(model, "body", spec.morphology.torso)
    free = [joint for joint in spec.joints if joint.body == spec.morphology.torso and joint.kind == "free"]
    if free and spec.morphology.feet:
        place = slice(free[0].qpos_index, free[0].qpos_index + 3)
        rotation = slice(place.stop, place.stop + 4)
        qpos = within_limits(model, qpos)
        qpos[rotation] = spec.morphology.upright
        data = mujoco.MjData(model)
        for _ in range(TURNS):
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            feet = _between_the_feet(model, data, torso, spec.morphology.feet)
            turn = _to_vertical(data.subtree_com[torso] - feet)
            qpos[place] = feet + _turned(turn, qpos[place] - feet)
            qpos[rotation] = multiply(turn, qpos[rotation])
        _set_down(qpos, qvel, Kinematics(model, spec), root_of(spec))
    return state.model_copy(update={"qpos": tuple(qpos.tolist()), "qvel": tuple(qvel.tolist())})


def way_to_stance(
    model: mujoco.MjModel, spec: EnvSpec, state: StartState, stance: StartState, count: int
) -> tuple[StartState, ...]:
    """States between one and the robot's stance, evenly spaced, the stance last: `count` of them.

    Positions and velocities are blended, rotations along the shortest turn. The lowest point touches the floor, where
    the robot can move up and down.
    """
    begun, there = np.array(state.qpos), np.array(stance.qpos)
    turn = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, turn, 1.0, there, begun)
    kinematics = Kinematics(model, spec)
    base = base_of(model, index_of(model, "body", spec.morphology.torso))
    root = root_of(spec) if base in (TorsoFreedom.FREE, TorsoFreedom.VERTICAL) else None
    way = []
    for share in np.linspace(1.0, 0.0, count + 1)[1:-1]:
        qpos, qvel = there.copy(), share * np.array(state.qvel)
        mujoco.mj_integratePos(model, qpos, share * turn, 1.0)
        if root is not None:
            _set_down(qpos, qvel, kinematics, root)
        way.append(state.model_copy(update={"qpos": tuple(qpos.tolist()), "qvel": tuple(qvel.tolist())}))
    return (*way, stance)


def _set_down(qpos: Floats, qvel: Floats, kinematics: Kinematics, root: Root) -> None:
    """Move a robot up or down, in place, until its lowest point touches the floor."""
    root.lift(qpos, -float(kinematics.read(qpos[None], qvel[None]).low[0]))


def _between_the_feet(model: mujoco.MjModel, data: mujoco.MjData, torso: int, feet: tuple[str, ...]) -> Floats:
    """Mean of the lowest points of the feet, shape (3,) [m]."""
    heights = GeomHeights(model, torso)
    found = []
    for name in feet:
        geom = index_of(model, "geom", name)
        rotation = data.geom_xmat[geom].reshape(1, 3, 3)
        found.append(heights.support(list(heights.geoms).index(geom), data.geom_xpos[geom][None], rotation)[0])
    return np.asarray(np.mean(found, axis=0))


def _to_vertical(direction: Floats) -> Floats:
    """The shortest rotation of a direction onto +z, as a quaternion."""
    axis = np.cross(direction, [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(axis))
    angle = float(np.arctan2(length, direction[2]))
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis / max(length, 1e-12))])


def _turned(rotation: Floats, vector: Floats) -> Floats:
    return multiply(multiply(rotation, np.array([0.0, *vector])), conjugate(rotation))[1:]
