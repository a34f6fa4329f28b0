"""How a robot stands: the pose in which episodes begin."""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import InvalidInput
from p2p.worker.engine.morphology import BALL, FREE, floor_geom
from p2p.worker.robots.actions import is_servo

Pose = NDArray[np.float64]
KEYFRAMES = ("home", "stand", "standing", "init")
SETTLING_S = 3.0
LANDING_S = 0.3
"""Time in which a robot with its lowest point at the floor touches it."""
STILL = 0.2
"""Fastest that anything of a robot that stands moves, after it has settled [rad/s or m/s]."""
UPRIGHT = 0.8
"""Least cosine of how far the torso has turned from the pose it was put in."""
KEPT_HEIGHT = 0.6
"""Least share of its height that the torso keeps."""
TRIED = 256


class Stance(NamedTuple):
    """How a robot stands."""

    asked: Pose
    """What its servos are asked for (nq); under its weight they give way."""
    rests: Pose
    """Where it comes to rest then (nq)."""


def find_stance(model: mujoco.MjModel, torso: int, free: bool, choices: list[str]) -> Stance:
    """A keyframe, the model's zero pose, or the highest pose found by trying.

    Raises:
        InvalidInput: the robot falls through the floor.
    """
    names = [model.key(key).name for key in range(model.nkey)]
    named = next((name for name in KEYFRAMES if name in names), names[0] if names else None)
    first = model.key_qpos[names.index(named)].copy() if named is not None else model.qpos0.copy()
    called = f"the keyframe {named!r}" if named else "the model's zero pose"
    if not free:
        choices.append(f"stance: {called}")
        return Stance(first, first)
    settled = _settled(model, torso, first)
    if settled is not None:
        choices.append(f"stance: {called}, settled for {SETTLING_S:g} s")
        return Stance(first, settled)
    upright = put_on_the_floor(model, first)
    best: Stance | None = None
    if named is None:  # nobody has said how it stands
        for pose in _poses(model, first):
            found = _settled(model, torso, pose)
            least = best.rests[2] if best is not None else KEPT_HEIGHT * upright[2]  # else it kneels, or lies
            if found is not None and found[2] > least:
                best = Stance(pose, found)
    if best is None:
        _require_floor(model, torso, upright)
        choices.append(f"stance: {called}, from which it falls when nothing moves: training has to keep it up")
        return Stance(first, upright)
    choices.append(f"stance: the highest of {TRIED} poses in which it stands, since it falls from {called}")
    return best


def _require_floor(model: mujoco.MjModel, torso: int, pose: Pose) -> None:
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    hold(model, data, pose)
    floor = floor_geom(model, torso)
    for _ in range(round(LANDING_S / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if any(floor in contact.geom for contact in data.contact):
            return
    raise InvalidInput(
        "The robot falls through the floor: none of its geoms collides with the plane. Give those that are to touch "
        "it, such as its feet, contype or conaffinity bits that match the plane's."
    )


def hold(model: mujoco.MjModel, data: mujoco.MjData, pose: Pose) -> None:
    """Ask each servo for its place in a pose (nq), and of motors nothing."""
    for at in range(model.nu):
        if is_servo(model, at):
            data.ctrl[at] = pose[model.jnt_qposadr[model.actuator_trnid[at, 0]]]


def put_on_the_floor(model: mujoco.MjModel, pose: Pose) -> Pose:
    """The same pose with the robot's lowest point at the floor."""
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    planes = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    collide = ~planes & ((model.geom_contype != 0) | (model.geom_conaffinity != 0)) & (model.geom_bodyid != 0)
    if not collide.any():
        return pose
    low = min(_lowest(model, data, int(geom)) for geom in np.flatnonzero(collide))
    lifted: Pose = pose.copy()
    lifted[2] -= low
    return lifted


def _lowest(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Height of a geom's lowest point [m], from its box in its own frame."""
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
    corners = (centre + signs * half) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
    return float(corners[:, 2].min())


def _settled(model: mujoco.MjModel, torso: int, pose: Pose) -> Pose | None:
    """Where it comes to rest, with x and y as they were; None if it falls, flies or goes on moving."""
    start = put_on_the_floor(model, pose)
    data = mujoco.MjData(model)
    data.qpos[:] = start
    mujoco.mj_kinematics(model, data)
    height, up = float(data.xpos[torso, 2]), data.xmat[torso].copy().reshape(3, 3)
    hold(model, data, start)
    steps = round(SETTLING_S / model.opt.timestep)
    for part in (steps // 3, steps - steps // 3):  # most of those that fall have fallen after a third
        mujoco.mj_step(model, data, nstep=part)
        mujoco.mj_kinematics(model, data)
        turned = float((data.xmat[torso].reshape(3, 3)[2] * up[2]).sum())
        kept = float(data.xpos[torso, 2])
        stands = turned >= UPRIGHT and KEPT_HEIGHT * height <= kept <= height / KEPT_HEIGHT and height > 0.0
        if not stands or not np.isfinite(data.qpos).all():
            return None
    if np.abs(data.qvel).max() > STILL:
        return None
    found: Pose = data.qpos.copy()
    found[:2] = pose[:2]
    return found


def _poses(model: mujoco.MjModel, first: Pose) -> list[Pose]:
    """Centres of the joints' ranges, and random poses between `first` and their limits."""
    generator = np.random.default_rng(0)
    poses = []
    for number in range(TRIED):
        pose = first.copy()
        for joint in range(model.njnt):
            if int(model.jnt_type[joint]) in (FREE, BALL):
                continue
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-0.8, 0.8)
            at = model.jnt_qposadr[joint]
            share = 0.5 if number == 0 else generator.uniform(0.0, 0.7)
            goal = (low + high) / 2.0 if number == 0 else generator.uniform(low, high)
            pose[at] = goal if number == 0 else (1.0 - share) * first[at] + share * goal
        poses.append(pose)
    return poses
