"""Entries of an environment's observation: name, quantity, unit and frame."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np

from p2p.contracts.env import Dimension
from p2p.worker.engine.morphology import BALL, FREE, HINGE, SLIDE, name_of, root_joints


class Entry(NamedTuple):
    """A `Dimension` without its index."""

    name: str
    quantity: str
    unit: str
    frame: str


def describe_observation(env: Any) -> tuple[Dimension, ...]:
    """Entries of the observation of a Gymnasium MuJoCo environment with its current settings.

    Environments that announce their `observation_structure` are read from that; Reacher, Pusher and the double pendulum
    are known by their class; others are recognised when they observe positions and velocities as they are.
    """
    length = env.observation_space.shape[0]
    for reader in (_BY_CLASS.get(type(env).__name__, _from_structure), _from_values):
        entries = list(reader(env.model, env))
        if len(entries) == length:
            break
    else:
        entries = [Entry(f"observation[{index}]", "unknown", "-", "-") for index in range(length)]
    return tuple(Dimension(index=index, **entry._asdict()) for index, entry in enumerate(entries))


def _from_structure(model: mujoco.MjModel, env: Any) -> Iterator[Entry]:
    structure = getattr(env, "observation_structure", None)
    if structure is None:
        return
    clipped = ", clipped to [-10, 10]" if type(env).__name__ in _CLIPS_VELOCITY else ""
    yield from _positions(model)[structure.get("skipped_qpos", 0) :]
    yield from _velocities(model, clipped)
    bodies = range(1, model.nbody)
    if structure.get("cinert"):
        yield from (entry for body in bodies for entry in _inertia(name_of(model, "body", body)))
    if structure.get("cvel"):
        yield from (entry for body in bodies for entry in _spatial_velocity(name_of(model, "body", body)))
    if structure.get("qfrc_actuator"):
        yield from _actuator_forces(model)[6:]
    if structure.get("cfrc_ext"):
        clip = "" if not hasattr(env, "_contact_force_range") else _range_words(env._contact_force_range)
        yield from (entry for body in bodies for entry in _external_force(name_of(model, "body", body), clip))


def _from_values(model: mujoco.MjModel, env: Any) -> Iterator[Entry]:
    observed, _ = env.reset(seed=0)
    skipped = model.nq + model.nv - len(observed)
    if skipped >= 0 and np.array_equal(observed, np.concatenate([env.data.qpos[skipped:], env.data.qvel])):
        yield from _positions(model)[skipped:]
        yield from _velocities(model)


def _range_words(limits: tuple[float, float]) -> str:
    return f", clipped to [{limits[0]:g}, {limits[1]:g}]"


def _positions(model: mujoco.MjModel) -> list[Entry]:
    return [entry for joint in range(model.njnt) for entry in _joint_position(model, joint)]


def _joint_position(model: mujoco.MjModel, joint: int) -> list[Entry]:
    name = name_of(model, "joint", joint)
    kind = int(model.jnt_type[joint])
    if kind == FREE:
        places = [Entry(f"{name}.{axis}", "position", "m", "world") for axis in "xyz"]
        return places + [Entry(f"{name}.q{part}", f"quaternion {part}", "1", "world") for part in "wxyz"]
    if kind == BALL:
        return [Entry(f"{name}.q{part}", f"quaternion {part}", "1", "joint") for part in "wxyz"]
    if kind == HINGE:
        return [Entry(name, "angle" + _turn_words(model, joint), "rad", "joint")]
    along = _world_axis(model, joint)
    return [Entry(name, "position" + _offset_words(model, joint, along), "m", "joint" if along is None else "world")]


def _world_axis(model: mujoco.MjModel, joint: int) -> int | None:
    """0, 1 or 2 for a slide along the world's x, y or z that carries a whole robot, else None."""
    if model.body_parentid[model.jnt_bodyid[joint]] != 0 or int(model.jnt_type[joint]) != SLIDE:
        return None
    return next((at for at in range(3) if model.jnt_axis[joint, at] == 1.0), None)


def _offset_words(model: mujoco.MjModel, joint: int, along: int | None) -> str:
    """Such a slide reads a displacement; return its difference from the coordinate, in words."""
    if along is None:
        return ""
    body = int(model.jnt_bodyid[joint])
    offset = round(float(model.body_pos[body, along] - model.qpos0[model.jnt_qposadr[joint]]), 6)
    return f", {'xyz'[along]} of {name_of(model, 'body', body)}" + (f" minus {offset:g}" if offset else "")


def _turn_words(model: mujoco.MjModel, joint: int) -> str:
    """Positive direction of a hinge that turns a whole robot."""
    body = int(model.jnt_bodyid[joint])
    if model.body_parentid[body] != 0 or joint not in root_joints(model, body):
        return ""
    _, y, z = model.jnt_axis[joint]
    if y == 1.0:
        return ", pitch with nose down positive"
    return ", yaw to the left positive" if z == 1.0 else ""


def _velocities(model: mujoco.MjModel, suffix: str = "") -> list[Entry]:
    return [entry for joint in range(model.njnt) for entry in _joint_velocity(model, joint, suffix)]


def _joint_velocity(model: mujoco.MjModel, joint: int, suffix: str) -> list[Entry]:
    name = name_of(model, "joint", joint)
    kind = int(model.jnt_type[joint])
    turning = "angular velocity" + suffix
    if kind == FREE:
        linear = [Entry(f"{name}.v{axis}", "velocity" + suffix, "m/s", "world") for axis in "xyz"]
        return linear + [Entry(f"{name}.w{axis}", turning, "rad/s", "body") for axis in "xyz"]
    if kind == BALL:
        return [Entry(f"{name}.w{axis}", turning, "rad/s", "body") for axis in "xyz"]
    if kind == HINGE:
        return [Entry(name, "angular velocity" + _turn_words(model, joint) + suffix, "rad/s", "joint")]
    along = _world_axis(model, joint)
    return [Entry(name, "velocity" + suffix, "m/s", "joint" if along is None else "world")]


def _inertia(body: str) -> Iterator[Entry]:
    """MuJoCo's `cinert`: about the robot's centre of mass, along the world's axes."""
    for axes in ("xx", "yy", "zz", "xy", "xz", "yz"):
        yield Entry(f"cinert[{body}].{axes}", "inertia about the robot's centre of mass", "kg m^2", "world")
    for axis in "xyz":
        yield Entry(f"cinert[{body}].m{axis}", "mass times offset from the robot's centre of mass", "kg m", "world")
    yield Entry(f"cinert[{body}].m", "mass", "kg", "-")


def _spatial_velocity(body: str) -> Iterator[Entry]:
    """MuJoCo's `cvel`: its linear part is not the velocity of the body."""
    for axis in "xyz":
        yield Entry(f"cvel[{body}].w{axis}", "angular velocity", "rad/s", "world")
    for axis in "xyz":
        quantity = "velocity of the point of the body that is at the robot's centre of mass"
        yield Entry(f"cvel[{body}].v{axis}", quantity, "m/s", "world")


def _actuator_forces(model: mujoco.MjModel) -> list[Entry]:
    units = {"m/s": "N", "rad/s": "N m"}
    return [Entry(f"qfrc_actuator[{e.name}]", "actuator force", units[e.unit], e.frame) for e in _velocities(model)]


def _external_force(body: str, clip: str) -> Iterator[Entry]:
    """MuJoCo's `cfrc_ext`: the torque comes first."""
    torque = "contact torque about the robot's centre of mass" + clip
    for axis in "xyz":
        yield Entry(f"cfrc_ext[{body}].t{axis}", torque, "N m", "world")
    for axis in "xyz":
        yield Entry(f"cfrc_ext[{body}].f{axis}", "contact force" + clip, "N", "world")


def _points(body: str, axes: str = "xyz") -> list[Entry]:
    return [Entry(f"{body}.{axis}", "position", "m", "world") for axis in axes]


def _reacher(model: mujoco.MjModel, env: Any) -> Iterator[Entry]:
    del env
    joints = ("joint0", "joint1")
    yield from (Entry(f"cos({joint})", "cosine of the angle", "1", "joint") for joint in joints)
    yield from (Entry(f"sin({joint})", "sine of the angle", "1", "joint") for joint in joints)
    yield from _points("target", "xy")
    yield from _velocities(model)[:2]
    yield from (Entry(f"(fingertip - target).{axis}", "position difference", "m", "world") for axis in "xy")


def _pusher(model: mujoco.MjModel, env: Any) -> Iterator[Entry]:
    del env
    yield from _positions(model)[:7]
    yield from _velocities(model)[:7]
    for body in ("tips_arm", "object", "goal"):
        yield from _points(body)


def _double_pendulum(model: mujoco.MjModel, env: Any) -> Iterator[Entry]:
    del env
    hinges = ("hinge", "hinge2")
    yield from _positions(model)[:1]
    yield from (Entry(f"sin({hinge})", "sine of the angle", "1", "joint") for hinge in hinges)
    yield from (Entry(f"cos({hinge})", "cosine of the angle", "1", "joint") for hinge in hinges)
    yield from _velocities(model, _range_words((-10.0, 10.0)))
    yield Entry("qfrc_constraint[slider]", "constraint force" + _range_words((-10.0, 10.0)), "N", "joint")


_CLIPS_VELOCITY = frozenset({"HopperEnv", "Walker2dEnv"})
_BY_CLASS = {"ReacherEnv": _reacher, "PusherEnv": _pusher, "InvertedDoublePendulumEnv": _double_pendulum}
