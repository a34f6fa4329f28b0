"""Left and right of a robot, by the geometry of its model: the state and the controls that a mirror shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig

Floats = NDArray[np.floating]

NEAR_M = 1e-3
"""Distance within which a mirrored joint is the other one [m]."""
ALIGNED = 1e-4
"""How far the cosine of two axes may be from 1."""
_VECTOR = np.array([1.0, -1.0, 1.0])
_AXIAL = -_VECTOR
"""Of an axis of rotation, which a mirror turns the other way round."""
_POSE = np.array([*_VECTOR, 1.0, *_AXIAL])


@dataclass(frozen=True, slots=True)
class SignedOrder:
    """A vector's entries in another order, some with the other sign."""

    index: NDArray[np.intp]
    sign: NDArray[np.float64]

    def apply(self, rows: Floats) -> Floats:
        """Reorder rows of shape (..., n), in their own precision."""
        mirrored: Floats = rows[..., self.index] * self.sign.astype(rows.dtype)
        return mirrored

    @property
    def changes_nothing(self) -> bool:
        """Whether everything stays in its place."""
        return bool((self.index == np.arange(len(self.index))).all() and (self.sign == 1.0).all())


@dataclass(frozen=True, slots=True)
class MirroredState:
    """Mirror images of states and controls, in the vertical plane through the robot that looks along x."""

    rest: Floats
    """Positions at which joints are at rest, shape (nq,); 0 where a mirror reads the value itself."""
    positions: SignedOrder
    velocities: SignedOrder
    controls: SignedOrder

    def qpos(self, rows: Floats) -> Floats:
        """Positions, shape (..., nq)."""
        mirrored: Floats = self.positions.apply(rows - self.rest) + self.rest[self.positions.index]
        return mirrored


def mirrored_state(model: mujoco.MjModel, spec: EnvSpec) -> MirroredState:
    """Find each joint's and each control's mirror image; whether the robot is symmetric at all is not checked.

    Raises:
        InvalidConfig: a joint or a control has none, or everything is its own image.
    """
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    centre = float(data.xpos[model.body(spec.morphology.torso).id][1])
    partners = [_partner(model, data, joint, centre) for joint in range(model.njnt)]
    rest = model.qpos0.copy()
    positions = SignedOrder(np.arange(model.nq), np.ones(model.nq))
    velocities = SignedOrder(np.arange(model.nv), np.ones(model.nv))
    for joint, (other, sign) in enumerate(partners):
        q, v = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            rest[q : q + 7] = 0.0
            positions.sign[q : q + 7] = _POSE
            velocities.sign[v : v + 6] = [*_VECTOR, *_AXIAL]
            continue
        _require_alike(model, joint, other)
        positions.index[q], positions.sign[q] = model.jnt_qposadr[other], sign
        velocities.index[v], velocities.sign[v] = model.jnt_dofadr[other], sign
    controls = _controls(model, partners)
    if positions.changes_nothing or (controls.changes_nothing and velocities.changes_nothing):
        raise InvalidConfig(
            f"mirror: the joints of {spec.env_id} have no left and right, so there is nothing to mirror. Remove it."
        )
    return MirroredState(rest, positions, velocities, controls)


def _partner(model: mujoco.MjModel, data: mujoco.MjData, joint: int, centre: float) -> tuple[int, float]:
    """The joint where a mirror shows this one, and the sign of its angle; another one where several lie there."""
    kind = model.jnt_type[joint]
    if kind == mujoco.mjtJoint.mjJNT_FREE:
        return joint, 1.0
    anchor = data.xanchor[joint] * _VECTOR + np.array([0.0, 2 * centre, 0.0])
    axis = data.xaxis[joint] * (_AXIAL if kind == mujoco.mjtJoint.mjJNT_HINGE else _VECTOR)
    found = [
        (other, float(np.sign(axis @ data.xaxis[other])))
        for other in range(model.njnt)
        if model.jnt_type[other] == kind
        and kind != mujoco.mjtJoint.mjJNT_BALL
        and np.linalg.norm(data.xanchor[other] - anchor) < NEAR_M
        and abs(axis @ data.xaxis[other]) > 1 - ALIGNED
    ]
    if not found:
        raise InvalidConfig(
            f"mirror: the joint {model.joint(joint).name!r} has no mirror image on the robot's other side: it is "
            "not symmetric. Remove it."
        )
    return min(found, key=lambda one: one[0] == joint)


def _require_alike(model: mujoco.MjModel, joint: int, other: int) -> None:
    """Refuse a joint that resists otherwise than its mirror image."""
    for what, values, index in (
        ("armature", model.dof_armature, model.jnt_dofadr),
        ("damping", model.dof_damping, model.jnt_dofadr),
        ("friction", model.dof_frictionloss, model.jnt_dofadr),
        ("stiffness", model.jnt_stiffness, np.arange(model.njnt)),
    ):
        mine, its = float(values[index[joint]]), float(values[index[other]])
        if not np.isclose(mine, its):
            raise InvalidConfig(
                f"mirror: the joints {model.joint(joint).name!r} and {model.joint(other).name!r} are not alike, their "
                f"{what} is {mine:g} and {its:g}: the robot is not symmetric. Remove it."
            )


def _controls(model: mujoco.MjModel, partners: Sequence[tuple[int, float]]) -> SignedOrder:
    joints = [int(joint) for joint in model.actuator_trnid[:, 0]]
    on_joints = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT).all()
    order = SignedOrder(np.arange(model.nu), np.ones(model.nu))
    for control, joint in enumerate(joints):
        other, sign = partners[joint] if on_joints else (-1, 1.0)
        if other not in joints:
            raise InvalidConfig(
                f"mirror: the actuator {model.actuator(control).name!r} has no mirror image on the robot's other side. "
                "Remove it."
            )
        image = joints.index(other)
        gears = model.actuator_gear[[control, image], 0]
        order.index[control], order.sign[control] = image, sign * np.sign(gears.prod())
    return order
