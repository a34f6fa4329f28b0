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


_OF_CENTRAL_POINT = "velocity of the point of the body that is at the robot's centre of mass"
_OF_A_BODY = {
    # About the robot's centre of mass, along the world's axes.
    "cinert": [
        *(
            (ij, "inertia about the robot's centre of mass", "kg m^2", "world")
            for ij in ("xx", "yy", "zz", "xy", "xz", "yz")
        ),
        *((f"m{axis}", "mass times offset from the robot's centre of mass", "kg m", "world") for axis in "xyz"),
        ("m", "mass", "kg", "-"),
    ],
    # The linear part is not the velocity of the body.
    "cvel": [
        *((f"w{axis}", "angular velocity", "rad/s", "world") for axis in "xyz"),
        *((f"v{axis}", _OF_CENTRAL_POINT, "m/s", "world") for axis in "xyz"),
    ],
    # The torque comes first.
    "cfrc_ext": [
        *((f"t{axis}", "contact torque about the robot's centre of mass", "N m", "world") for axis in "xyz"),
        *((f"f{axis}", "contact force", "N", "world") for axis in "xyz"),
    ],
}
"""MuJoCo's arrays with a row per body: name of the array -> part, quantity, unit and frame of each column."""


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
    bodies = [name_of(model, "body", body) for body in range(1, model.nbody)]
    for field in ("cinert", "cvel", "qfrc_actuator", "cfrc_ext"):
        if not structure.get(field):
            continue
        if field == "qfrc_actuator":
            forces = [(one, "N" if one.unit == "m/s" else "N m") for one in _velocities(model)[6:]]
            yield from (Entry(f"{field}[{one.name}]", "actuator force", unit, one.frame) for one, unit in forces)
            continue
        clip = ""
        if field == "cfrc_ext" and hasattr(env, "_contact_force_range"):
            clip = _range_words(env._contact_force_range)
        for body in bodies:
            for part, quantity, unit, frame in _OF_A_BODY[field]:
                yield Entry(f"{field}[{body}].{part}", quantity + clip, unit, frame)


def _from_values(model: mujoco.MjModel, env: Any) -> Iterator[Entry]:
    observed, _ = env.reset(seed=0)
    skipped = model.nq + model.nv - len(observed)
    if skipped >= 0 and np.array_equal(observed, np.concatenate([env.data.qpos[skipped:], env.data.qvel])):
        yield from _positions(model)[skipped:]
        yield from _velocities(model)


def _range_words(limits: tuple[float, float]) -> str:
    return f", clipped to [{limits[0]:g}, {limits[1]:g}]"


def _positions(model: mujoco.MjModel) -> list[Entry]:
    found: list[Entry] = []
    for joint in range(model.njnt):
        name = name_of(model, "joint", joint)
        kind = int(model.jnt_type[joint])
        if kind == FREE:
            found += [Entry(f"{name}.{axis}", "position", "m", "world") for axis in "xyz"]
        if kind in (FREE, BALL):
            frame = "world" if kind == FREE else "joint"
            found += [Entry(f"{name}.q{part}", f"quaternion {part}", "1", frame) for part in "wxyz"]
        elif kind == HINGE:
            found.append(Entry(name, "angle" + _turn_words(model, joint), "rad", "joint"))
        elif (along := _world_axis(model, joint)) is None:
            found.append(Entry(name, "position", "m", "joint"))
        else:
            # Such a slide reads a displacement: its difference from the coordinate.
            body = int(model.jnt_bodyid[joint])
            offset = round(float(model.body_pos[body, along] - model.qpos0[model.jnt_qposadr[joint]]), 6)
            minus = f" minus {offset:g}" if offset else ""
            quantity = f"position, {'xyz'[along]} of {name_of(model, 'body', body)}{minus}"
            found.append(Entry(name, quantity, "m", "world"))
    return found


def _world_axis(model: mujoco.MjModel, joint: int) -> int | None:
    """0, 1 or 2 for a slide along the world's x, y or z that carries a whole robot, else None."""
    if model.body_parentid[model.jnt_bodyid[joint]] != 0 or int(model.jnt_type[joint]) != SLIDE:
        return None
    return next((at for at in range(3) if model.jnt_axis[joint, at] == 1.0), None)


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
    found: list[Entry] = []
    for joint in range(model.njnt):
        name = name_of(model, "joint", joint)
        kind = int(model.jnt_type[joint])
        if kind == FREE:
            found += [Entry(f"{name}.v{axis}", "velocity" + suffix, "m/s", "world") for axis in "xyz"]
        if kind in (FREE, BALL):
            found += [Entry(f"{name}.w{axis}", "angular velocity" + suffix, "rad/s", "body") for axis in "xyz"]
        elif kind == HINGE:
            found.append(Entry(name, "angular velocity" + _turn_words(model, joint) + suffix, "rad/s", "joint"))
        else:
            frame = "joint" if _world_axis(model, joint) is None else "world"
            found.append(Entry(name, "velocity" + suffix, "m/s", frame))
    return found


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
