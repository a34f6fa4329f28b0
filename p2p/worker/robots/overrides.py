"""Read a robot's overrides, and find the parts of its model that they name."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.robot import RobotOverrides
from p2p.store.robots import overrides_file
from p2p.worker.engine.morphology import BALL, FREE, name_of
from p2p.worker.robots.actions import is_servo
from p2p.worker.robots.stance import Pose, Said

MAX_OVERRIDES_BYTES = 100_000


def read_overrides(path: Path) -> RobotOverrides | None:
    """What the file beside a model file says; None where there is none.

    Raises:
        InvalidInput: it is no TOML, or has keys that there are not, or values that they do not take.
    """
    file = overrides_file(path)
    if not file.is_file():
        return None
    if (size := file.stat().st_size) > MAX_OVERRIDES_BYTES:
        raise InvalidInput(f"{file.name} has {size:,} bytes: expected at most {MAX_OVERRIDES_BYTES:,}.")
    try:
        return RobotOverrides.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file.name} is no TOML: {error}.") from error
    except RecursionError as error:
        raise InvalidInput(f"{file.name} is nested too deeply: expected keys with values, and one table.") from error
    except ValidationError as error:
        first = max(error.errors(), key=lambda one: len(one["loc"]))  # of a choice of types the one that came closest
        key = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            raise UnknownName(f"key of {file.name}", key, RobotOverrides.model_fields) from error
        where = f"{key}: " if key else ""
        raise InvalidInput(f"{file.name}, {where}{first['msg']}.") from error


def named(what: str, name: str, existing: Iterable[str]) -> str:
    """`name`, if the model has it.

    Raises:
        UnknownName: it does not; the message lists what it has.
    """
    known = tuple(existing)
    if name not in known:
        raise UnknownName(what, name, known)
    return name


def names(model: mujoco.MjModel, kind: str) -> tuple[str, ...]:
    """Names of the model's parts of a kind: "body", "geom", "joint", "actuator"."""
    count = {"body": model.nbody, "geom": model.ngeom, "joint": model.njnt, "actuator": model.nu}[kind]
    return tuple(name_of(model, kind, index) for index in range(count))


def said_feet(model: mujoco.MjModel, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Geoms that are named, and those of bodies that are named."""
    bodies, geoms = names(model, "body"), names(model, "geom")
    found: list[str] = []
    for name in wanted:
        if name in geoms:
            found.append(name)
            continue
        named("foot (a geom or a body)", name, (*geoms, *bodies))
        solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        mine = np.flatnonzero((model.geom_bodyid == bodies.index(name)) & solid)
        if not len(mine):
            raise InvalidInput(f"The body {name!r} has no geom that collides: expected one, for it is to be a foot.")
        found += [geoms[geom] for geom in mine]
    return tuple(dict.fromkeys(found))


def said_pose(model: mujoco.MjModel, said: Said | None, stance: str | dict[str, float]) -> Said:
    """The pose of a keyframe, or of angles that are given for some joints."""
    if isinstance(stance, str):
        keys = [model.key(key).name for key in range(model.nkey)]
        named("keyframe", stance, keys)
        return Said(model.key_qpos[keys.index(stance)].copy(), f"the keyframe {stance!r}")
    pose: Pose = said.pose.copy() if said is not None else model.qpos0.copy()
    turning = [name for joint, name in enumerate(names(model, "joint")) if model.jnt_type[joint] not in (FREE, BALL)]
    for name, angle in stance.items():
        joint = names(model, "joint").index(named("joint", name, turning))
        low, high = model.jnt_range[joint]
        if model.jnt_limited[joint] and not low - 1e-6 <= angle <= high + 1e-6:
            raise InvalidInput(f"The joint {name!r} is to stand at {angle:g}: expected from {low:g} to {high:g}.")
        pose[model.jnt_qposadr[joint]] = angle
    return Said(pose, "the joint angles that are given")


def exclude(spec: mujoco.MjSpec, model: mujoco.MjModel, wanted: tuple[str, ...], pose: Pose) -> None:
    """Take actuators out of a model; joints of servos are held at a pose (nq) by springs."""
    existing = names(model, "actuator")
    indices = [existing.index(named("actuator", name, existing)) for name in wanted]
    if len(set(indices)) == model.nu:
        raise InvalidInput(f"excluded_actuators names all {model.nu} of them: expected one that is left to a policy.")
    actuators: list[Any] = list(spec.actuators)
    joints: list[Any] = list(spec.joints)
    for at in set(indices):
        if is_servo(model, at):
            index = int(model.actuator_trnid[at, 0])
            joint = joints[index]
            _, stiffness, damping = -model.actuator_biasprm[at, :3]
            joint.stiffness = np.array(joint.stiffness) + np.array([stiffness, 0.0, 0.0])
            joint.damping = np.array(joint.damping) + np.array([damping, 0.0, 0.0])
            joint.springref = float(pose[model.jnt_qposadr[index]])
        spec.delete(actuators[at])
