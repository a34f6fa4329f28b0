"""Actions of a robot, compiled into its model: each is in [-1, 1], and 0 holds the stance.

A position servo is asked for its stance plus up to `REACH` rad (or the same share of a slide's range); a motor for its
whole range. Where a model has no actuators, servos are added.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

REACH = 0.5
"""How far from the stance an action of 1 asks a servo to go [rad]: a usual action scale of legged robots."""
STIFFNESS_HZ = 10.0
"""Natural frequency of a servo that was added [Hz]."""
DAMPING_RATIO = 1.0
SAG = 0.1
"""How far a servo that was added gives way under its share of the robot's weight [rad, or m of a slide]."""
SHORTEST = 0.02
"""Shortest lever that is reckoned with [m]."""
HOLDING = 4.0
"""Largest torque of a servo that was added, in units of its share of the robot's weight."""


@dataclass(frozen=True, slots=True)
class Action:
    """What an action of -1, 0 and 1 ask of an actuator."""

    servo: bool
    centre: float
    """[rad or m] for a servo, [N m or N] before gear for a motor."""
    half: float


def add_servos(spec: mujoco.MjSpec, choices: list[str]) -> None:
    """Give a model without actuators a position servo on every hinge and slide inside the robot."""
    if list(spec.actuators):
        return
    for number, joint in enumerate(spec.joints):
        joint.name = joint.name or f"{joint.parent.name}_joint{number}"
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    ends = set(range(1, model.nbody)) - {int(parent) for parent in model.body_parentid}
    weight = float(model.body_mass.sum() * np.linalg.norm(model.opt.gravity)) / max(len(ends), 1)
    turns_per_s = 2.0 * np.pi * STIFFNESS_HZ
    for joint in [one for one in spec.joints if one.type in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)]:
        at = model.joint(joint.name).id
        dof = int(model.jnt_dofadr[at])
        share = weight * (_reach(model, data, at) if joint.type == mujoco.mjtJoint.mjJNT_HINGE else 1.0)
        kp = max(float(inertia[dof, dof]) * turns_per_s**2, share / SAG)
        servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=kp, kv=2.0 * DAMPING_RATIO * kp / turns_per_s)
        limited = bool(model.jnt_actfrclimited[at])
        limit = float(np.abs(model.jnt_actfrcrange[at]).max()) if limited else HOLDING * share
        servo.forcelimited, servo.forcerange = True, [-limit, limit]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST  # stiff servos on light links
    choices.append(f"position servos were added to {len(spec.actuators)} joints, since the file has no actuators")


def _reach(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> float:
    """Distance from a joint to the farthest body that it moves [m], at least `SHORTEST`."""
    below = {int(model.jnt_bodyid[joint])}
    for body in range(min(below) + 1, model.nbody):
        if int(model.body_parentid[body]) in below:
            below.add(body)
    gaps = data.xipos[sorted(below)] - data.xanchor[joint]
    return max(float(np.linalg.norm(gaps, axis=1).max()), SHORTEST)


def actions_of(model: mujoco.MjModel, stance: NDArray[np.float64]) -> list[Action]:
    """What each action will mean, about a stance (nq)."""
    found = []
    for at in range(model.nu):
        low, high = model.actuator_ctrlrange[at] if model.actuator_ctrllimited[at] else (-1.0, 1.0)
        if not is_servo(model, at):
            found.append(Action(False, (low + high) / 2.0, (high - low) / 2.0))
            continue
        joint = int(model.actuator_trnid[at, 0])
        centre = float(stance[model.jnt_qposadr[joint]])
        half = REACH
        if model.jnt_limited[joint]:
            below, above = model.jnt_range[joint]
            half = min(REACH, max(above - centre, centre - below))
        found.append(Action(True, centre, half))
    return found


def is_servo(model: mujoco.MjModel, at: int) -> bool:
    """Whether an actuator holds a joint's position."""
    gain, bias = model.actuator_gainprm[at, 0], model.actuator_biasprm[at, 1]
    at_joint = int(model.actuator_trntype[at]) == int(mujoco.mjtTrn.mjTRN_JOINT)
    return at_joint and bias != 0.0 and bool(np.isclose(gain, -bias))


def compile_actions(spec: mujoco.MjSpec, actions: list[Action]) -> None:
    """Write them into the actuators: gain and bias are set so that ctrl in [-1, 1] means them."""
    for actuator, action in zip(spec.actuators, actions, strict=True):
        gain, bias = np.array(actuator.gainprm), np.array(actuator.biasprm)
        bias[0] += gain[0] * action.centre
        gain[0] *= action.half
        actuator.gainprm, actuator.biasprm = gain, bias
        if actuator.biastype == mujoco.mjtBias.mjBIAS_NONE and bias[0]:
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.ctrlrange, actuator.ctrllimited = [-1.0, 1.0], True
    for key in list(spec.keys):
        spec.delete(key)
