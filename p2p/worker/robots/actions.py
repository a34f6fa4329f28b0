"""Actions of a robot, compiled into its model: each is in [-1, 1], and 0 holds the stance.

A position servo is asked for its stance plus up to `REACH` rad (or the same share of a slide's range). Where a model
has no actuators, servos are added; the motors of a robot that walks become servos, as its own controllers make them,
with the motors' torque as their limit. Wheels keep, or get, motors. Motors are asked for all that they can give, and
servos of a velocity for their whole range.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import JointControl
from p2p.contracts.errors import UnknownName
from p2p.worker.engine.morphology import HINGE, SLIDE, index_of, name_of
from p2p.worker.robots.wheels import is_wheel, moved_by

REACH = 0.5
"""How far from the stance an action of 1 asks a servo to go [rad]: a usual action scale of legged robots."""
NARROW = 0.1
"""Widest range of a robot's hinges at which its angles may have been meant in radians and read in degrees [rad]."""
STIFFNESS_HZ = 10.0
"""Natural frequency of a servo that was added [Hz]."""
DAMPING_RATIO = 1.0
SAG = 0.1
"""How far a servo that was added gives way under its share of the robot's weight [rad, or m of a slide]."""
SHORTEST = 0.02
"""Shortest lever that is reckoned with [m]."""
HOLDING = 4.0
"""Largest torque of a servo or motor that was added, in units of its share of the robot's weight."""


@dataclass(frozen=True, slots=True)
class Action:
    """What an action of -1, 0 and 1 ask of an actuator."""

    servo: bool
    centre: float
    """[rad or m] for a servo, [N m or N] before gear for a motor."""
    half: float


def add_servos(spec: mujoco.MjSpec, choices: list[str]) -> bool:
    """Give a model without actuators a position servo on every hinge and slide inside the robot, and wheels a motor.

    Returns:
        Whether it had no actuators.
    """
    if list(spec.actuators):
        return False
    for number, joint in enumerate(spec.joints):
        joint.name = joint.name or f"{joint.parent.name}_joint{number}"
    rule = _GainRule(spec.compile())
    wheels = []
    for joint in [one for one in spec.joints if one.type in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)]:
        actuator = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        if rule.is_wheel(joint.name):
            rule.make_motor(actuator, joint.name)
            wheels.append(joint.name)
        else:
            rule.make_servo(actuator, joint.name, None)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST  # stiff servos on light links
    if servos := len(spec.actuators) - len(wheels):
        choices.append(f"position servos were added to {servos} joints, since the file has no actuators")
    if wheels:
        choices.append(f"motors were added to the wheels {', '.join(wheels)}, since the file has no actuators")
    return True


def servos_for_motors(spec: mujoco.MjSpec, choices: list[str], arm: bool = False) -> None:
    """Make position servos of a robot's motors of one joint each with a known torque.

    Wheels keep their motors: a servo would hold them still.

    Args:
        spec: The model.
        choices: What is chosen is added to them.
        arm: Whether there may be other actuators, such as those of a gripper; else their being there leaves all as is.
    """
    model = spec.compile()
    rule = _GainRule(model)
    joints = {at: _joint_of(model, at) for at in range(model.nu)}
    wheels = [at for at, joint in joints.items() if joint and rule.is_wheel(joint) and not is_servo(model, at)]
    if wheels:
        choices.append(f"the wheels {', '.join(str(joints[at]) for at in wheels)} keep their motors")
    torques = {at: _torque_of_motor(model, at) for at in joints if at not in wheels}
    motors = {at: torque for at, torque in torques.items() if torque is not None}
    if not motors or (len(motors) < len(torques) and not arm):
        return
    actuators = list(spec.actuators)
    for at, torque in motors.items():
        rule.make_servo(actuators[at], str(joints[at]), torque)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    why = "with which arms learn to reach" if arm else "as robots that walk are controlled"
    choices.append(
        f"the file's {len(motors)} {'other ' if wheels else ''}motors became position servos with their torque as the "
        f"limit, {why}: give the model position actuators for other gains"
    )


def _joint_of(model: mujoco.MjModel, at: int) -> str | None:
    """Name of the joint that an actuator acts on, in its own frame or its parent's; None for a tendon or site."""
    kinds = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    if int(model.actuator_trntype[at]) not in [int(kind) for kind in kinds]:
        return None
    return name_of(model, "joint", int(model.actuator_trnid[at, 0]))


def _torque_of_motor(model: mujoco.MjModel, at: int) -> float | None:
    """Largest torque of a motor on one hinge or slide; None for anything else, or where it has no limit."""
    joint = int(model.actuator_trnid[at, 0])
    plain = (
        int(model.actuator_trntype[at]) == int(mujoco.mjtTrn.mjTRN_JOINT)
        and int(model.actuator_gaintype[at]) == int(mujoco.mjtGain.mjGAIN_FIXED)
        and int(model.actuator_biastype[at]) == int(mujoco.mjtBias.mjBIAS_NONE)
        and int(model.actuator_dyntype[at]) == int(mujoco.mjtDyn.mjDYN_NONE)
        and int(model.jnt_type[joint]) in (HINGE, SLIDE)
    )
    if not plain:
        return None
    gear = abs(float(model.actuator_gear[at, 0]))
    limits = []
    if model.actuator_ctrllimited[at]:
        gain = abs(float(model.actuator_gainprm[at, 0]))
        limits.append(gear * gain * float(np.abs(model.actuator_ctrlrange[at]).max()))
    if model.actuator_forcelimited[at]:
        limits.append(gear * float(np.abs(model.actuator_forcerange[at]).max()))
    if model.jnt_actfrclimited[joint]:
        limits.append(float(np.abs(model.jnt_actfrcrange[joint]).max()))
    return min(limits, default=0.0) or None


class _GainRule:
    """Gains of servos whose model has none: by the inertia that a joint carries, and its share of the weight.

    Args:
        model: Of the robot.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._data = mujoco.MjData(model)
        mujoco.mj_forward(model, self._data)
        self._inertia = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, self._data, self._inertia)
        ends = set(range(1, model.nbody)) - {int(parent) for parent in model.body_parentid}
        self._weight = float(model.body_mass.sum() * np.linalg.norm(model.opt.gravity)) / max(len(ends), 1)

    def is_wheel(self, joint: str) -> bool:
        """Whether a joint is the axle of a wheel."""
        return is_wheel(self._model, self._data, index_of(self._model, "joint", joint))

    def make_motor(self, actuator: mujoco.MjsActuator, joint: str) -> None:
        """Make an actuator a motor, whose torque at a control of 1 is what limits a servo of the joint."""
        at = index_of(self._model, "joint", joint)
        limit = self._limit(at)
        actuator.set_to_motor()
        actuator.gear = [limit, 0.0, 0.0, 0.0, 0.0, 0.0]
        actuator.ctrllimited, actuator.ctrlrange = True, [-1.0, 1.0]

    def make_servo(self, actuator: mujoco.MjsActuator, joint: str, torque: float | None) -> None:
        """Make an actuator hold the position of a joint with at most a torque; None for a rule's."""
        model = self._model
        at = index_of(model, "joint", joint)
        dof = int(model.jnt_dofadr[at])
        share = self._share(at)
        turns_per_s = 2.0 * np.pi * STIFFNESS_HZ
        kp = max(float(self._inertia[dof, dof]) * turns_per_s**2, share / SAG)
        actuator.set_to_position(kp=kp, kv=2.0 * DAMPING_RATIO * kp / turns_per_s)
        actuator.gear = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        limit = torque or self._limit(at)
        actuator.forcelimited, actuator.forcerange = True, [-limit, limit]

    def _share(self, joint: int) -> float:
        """Torque of the joint's share of the robot's weight [N m], or that share [N] for a slide."""
        hinge = int(self._model.jnt_type[joint]) == HINGE
        return self._weight * (_reach(self._model, self._data, joint) if hinge else 1.0)

    def _limit(self, joint: int) -> float:
        """Largest torque of a joint, by the model or by the rule [N m, or N of a slide]."""
        if self._model.jnt_actfrclimited[joint]:
            return float(np.abs(self._model.jnt_actfrcrange[joint]).max())
        return HOLDING * self._share(joint)


def _reach(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> float:
    """Distance from a joint to the farthest body that it moves [m], at least `SHORTEST`."""
    gaps = data.xipos[moved_by(model, joint)] - data.xanchor[joint]
    return max(float(np.linalg.norm(gaps, axis=1).max()), SHORTEST)


def set_gains(spec: mujoco.MjSpec, kp: float | None, kd: float | None) -> str:
    """Give all position servos these gains; None keeps the model's. Returns them in words."""
    model = spec.compile()
    for at, actuator in enumerate(spec.actuators):
        if is_servo(model, at):
            stiff = float(model.actuator_gainprm[at, 0]) if kp is None else kp
            actuator.set_to_position(kp=stiff, kv=-float(model.actuator_biasprm[at, 2]) if kd is None else kd)
    return " and ".join(f"{name} {value:g}" for name, value in (("kp", kp), ("kd", kd)) if value is not None)


def actions_of(
    model: mujoco.MjModel, stance: NDArray[np.float64], scale: float | Mapping[str, float] | None = None
) -> list[Action]:
    """What each action will mean.

    Args:
        model: Whose motors have become servos.
        stance: Positions about which they act (nq).
        scale: The most that an action asks of a servo, or of that of each joint [rad or m].

    Raises:
        UnknownName: there is no servo at a joint of `scale`.
    """
    of_joints = scale if isinstance(scale, Mapping) else {}
    usual = REACH if scale is None or isinstance(scale, Mapping) else scale
    servos = [model.joint(int(model.actuator_trnid[at, 0])).name for at in range(model.nu) if is_servo(model, at)]
    for name in of_joints:
        if name not in servos:
            raise UnknownName("servo's joint in action_scale:", name, servos)
    found = []
    for at in range(model.nu):
        if not is_servo(model, at):
            low, high = _asked(model, at)
            found.append(Action(False, (low + high) / 2.0, (high - low) / 2.0))
            continue
        joint = int(model.actuator_trnid[at, 0])
        centre = float(stance[model.jnt_qposadr[joint]])
        half = most = of_joints.get(model.joint(joint).name, usual)
        if model.jnt_limited[joint]:
            below, above = model.jnt_range[joint]
            half = min(most, max(above - centre, centre - below))
        found.append(Action(True, centre, half))
    return found


def _asked(model: mujoco.MjModel, at: int) -> tuple[float, float]:
    """Controls that an action of -1 and of 1 ask for: the file's, as far as a motor's force follows them."""
    low, high = model.actuator_ctrlrange[at] if model.actuator_ctrllimited[at] else (-1.0, 1.0)
    gain = float(model.actuator_gainprm[at, 0])
    if model.actuator_forcelimited[at] and gain > 0.0 and not model.actuator_biasprm[at, :3].any():
        least, most = model.actuator_forcerange[at] / gain
        if max(low, least) < min(high, most):
            return max(float(low), float(least)), min(float(high), float(most))
    return float(low), float(high)


def control_of(model: mujoco.MjModel, actions: list[Action]) -> tuple[JointControl, ...]:
    """What a robot's own controller has to do, before `compile_actions`."""
    found = []
    for at, action in enumerate(actions):
        joint = int(model.actuator_trnid[at, 0])
        at_joint = int(model.actuator_trntype[at]) == int(mujoco.mjtTrn.mjTRN_JOINT)
        limits = [float(np.abs(model.actuator_forcerange[at]).max())] if model.actuator_forcelimited[at] else []
        if at_joint and model.jnt_actfrclimited[joint]:
            limits.append(float(np.abs(model.jnt_actfrcrange[joint]).max()))
        kind = _kind(model, at)
        found.append(
            JointControl(
                actuator=model.actuator(at).name or (model.joint(joint).name if at_joint else str(at)),
                kind=kind,
                centre=round(action.centre, 6),
                scale=round(action.half, 6),
                kp=round(float(model.actuator_gainprm[at, 0]), 6) if kind == "position" else 0.0,
                kd=round(0.0 - float(model.actuator_biasprm[at, 2]), 6) if kind != "torque" else 0.0,
                torque_limit=round(min(limits), 6) if limits else None,
            )
        )
    return tuple(found)


def control_in_words(control: tuple[JointControl, ...]) -> list[str]:
    """How actions are carried out, a line for each kind."""
    lines = []
    for kind, told in (
        ("position", "{n} position targets: stance + {scale} rad or m x action, kp {kp}, kd {kd}, torque {limit}"),
        ("velocity", "{n} velocity targets: up to {scale} rad/s or m/s, kd {kd}, torque {limit}"),
        ("torque", "{n} torques: up to {scale} times the gear, torque {limit}"),
    ):
        mine = [one for one in control if one.kind == kind]
        if mine:
            bounds = [one.torque_limit for one in mine if one.torque_limit is not None]
            limit = f"at most {_span(bounds)} N m or N" if bounds else "not limited, as in the file"
            columns = {name: _span([getattr(one, name) for one in mine]) for name in ("scale", "kp", "kd")}
            lines.append(f"actions: {told.format(n=len(mine), limit=limit, **columns)}")
    return lines


def narrow_in_words(model: mujoco.MjModel) -> list[str]:
    """What may be wrong with a model none of whose hinges can turn by much; nothing where one can."""
    hinges = np.flatnonzero(model.jnt_type == HINGE)
    ranges = np.where(model.jnt_limited[hinges], np.ptp(model.jnt_range[hinges], axis=1), np.inf)
    widest = float(ranges.max(initial=0.0))
    if not len(hinges) or widest > NARROW:
        return []
    return [
        f"its joints turn by {np.degrees(widest):.2g} degrees at most: MuJoCo reads the angles of a file in degrees, "
        'where it does not say <compiler angle="radian"/>'
    ]


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} … {high:.3g}"


def is_servo(model: mujoco.MjModel, at: int) -> bool:
    """Whether an actuator holds a joint's position."""
    gain, bias = model.actuator_gainprm[at, 0], model.actuator_biasprm[at, 1]
    at_joint = int(model.actuator_trntype[at]) == int(mujoco.mjtTrn.mjTRN_JOINT)
    return at_joint and bias != 0.0 and bool(np.isclose(gain, -bias))


def _kind(model: mujoco.MjModel, at: int) -> Literal["position", "velocity", "torque"]:
    if is_servo(model, at):
        return "position"
    return "velocity" if holds_velocity(model, at) else "torque"


def holds_velocity(model: mujoco.MjModel, at: int) -> bool:
    """Whether an actuator holds a joint's velocity."""
    gain, (_, stiff, damping) = model.actuator_gainprm[at, 0], model.actuator_biasprm[at, :3]
    at_joint = int(model.actuator_trntype[at]) == int(mujoco.mjtTrn.mjTRN_JOINT)
    return at_joint and stiff == 0.0 and damping < 0.0 and bool(np.isclose(gain, -damping))


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
