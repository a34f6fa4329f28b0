"""How a robot stands: the pose in which episodes begin."""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import InvalidInput
from p2p.rewards.rotations import multiply
from p2p.worker.engine.morphology import BALL, FREE, collides, floor_geom, robot_geoms, within_limits
from p2p.worker.features.kinematics import GeomHeights
from p2p.worker.robots.actions import add_servos, is_servo

Pose = NDArray[np.float64]
KEYFRAMES = ("home", "stand", "standing", "init")
SETTLING_S = 3.0
BLOWING_UP_S = 0.3
"""Time in which a model that is not stable shows it."""
STILL = 0.2
"""Fastest that anything of a robot that stands moves, after it has settled [rad/s or m/s]."""
UPRIGHT = 0.8
"""Least cosine of how far the torso has turned from the pose it was put in."""
TURNED_OVER = 0.5
"""Largest cosine of how far the torso of a robot that lies has turned from its stance."""
KEPT_HEIGHT = 0.6
"""Least share of its height that the torso keeps."""
TRIED = 256
WORK = 7_000_000
"""Most poses tried times simulator steps times degrees of freedom: about 40 s of a core for a robot made of meshes."""


class Stance(NamedTuple):
    """How a robot stands."""

    asked: Pose
    """What its servos are asked for (nq); under its weight they give way."""
    rests: Pose
    """Where it comes to rest then (nq); where it falls, the pose that was asked for, on the floor."""
    falls: bool = False
    """Whether it falls from there when nothing moves."""


class Said(NamedTuple):
    """A pose that somebody has said the robot stands in."""

    pose: Pose
    called: str
    """In words: "the keyframe 'home'"."""


def said_stance(model: mujoco.MjModel) -> Said | None:
    """The pose of the model's own keyframe: of one called as in `KEYFRAMES`, else of the first."""
    names = [model.key(key).name for key in range(model.nkey)]
    if not names:
        return None
    named = next((name for name in KEYFRAMES if name in names), names[0])
    return Said(model.key_qpos[names.index(named)].copy(), f"the keyframe {named!r}")


def find_stance(
    spec: mujoco.MjSpec, model: mujoco.MjModel, torso: int, free: bool, said: Said | None, choices: list[str]
) -> Stance:
    """A pose that was said, the model's zero pose, or the highest pose found by trying.

    Args:
        spec: The model, with actuators.
        model: The same, compiled.
        torso: Its torso.
        free: Whether that has a free joint.
        said: Where somebody has said how it stands.
        choices: What is chosen is added to them.

    Raises:
        InvalidInput: nothing of the robot collides with the floor, or it is not stable.
    """
    first, called = said or Said(within_limits(model, model.qpos0), "the model's zero pose")
    if not free:
        choices.append(f"stance: {called}")
        return Stance(first, first)
    if floor_geom(model, torso) is None:
        raise InvalidInput(
            "The robot falls through the floor: none of its geoms collides with the plane. Give those that are to "
            "touch it, such as its feet, contype or conaffinity bits that match the plane's."
        )
    settled = _settled(model, torso, first)
    if settled is not None:
        choices.append(f"stance: {called}, settled for {SETTLING_S:g} s")
        return Stance(first, settled)
    upright = put_on_the_floor(model, torso, first)
    _require_stable(model, upright, called)
    servos = any(is_servo(model, at) for at in range(model.nu))
    best = _highest(model if servos else _held(spec), torso, first, upright) if said is None else None
    if best is not None:
        held = " while its joints are held; its motors hold nothing by themselves: training has to keep it up"
        choices.append(
            f"stance: the highest of {_tries(model)} poses in which it stands"
            + (f", since it falls from {called}" if servos else held)
        )
        return best
    choices.append(f"stance: {called}, from which it falls when nothing moves: training has to keep it up")
    return Stance(first, upright, falls=True)


def _held(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model with servos in place of its actuators."""
    held = spec.copy()
    for kind in ("actuators", "sensors", "keys"):
        for one in list(getattr(held, kind)):
            held.delete(one)
    add_servos(held, [])
    return held.compile()


def _highest(model: mujoco.MjModel, torso: int, first: Pose, upright: Pose) -> Stance | None:
    """Of the poses tried the one that comes to rest highest; None where none stands."""
    best: Stance | None = None
    for pose in _poses(model, first):
        found = _settled(model, torso, pose)
        least = best.rests[2] if best is not None else KEPT_HEIGHT * upright[2]  # else it kneels, or lies
        if found is not None and found[2] > least:
            best = Stance(pose, found)
    return best


def _tries(model: mujoco.MjModel) -> int:
    steps = int(SETTLING_S / float(model.opt.timestep))
    return min(TRIED, WORK // (steps * int(model.nv)) + 1)


def _require_stable(model: mujoco.MjModel, pose: Pose, called: str) -> None:
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    hold(model, data, pose)
    mujoco.mj_step(model, data, nstep=round(BLOWING_UP_S / model.opt.timestep))
    if blown_up(data):
        raise InvalidInput(
            f"MuJoCo's simulation of the robot is not stable: from {called} its numbers grow without limit within "
            f"{BLOWING_UP_S:g} s. Give it a smaller timestep, more joint damping or armature, or softer actuators."
        )


def lie_down(model: mujoco.MjModel, torso: int, rests: Pose, turned: NDArray[np.float64]) -> Pose:
    """Where a robot comes to rest that is turned over, put on the floor and let go: a pose (nq), in its stance's place.

    Args:
        model: It, with actuators of which 0 asks for its stance.
        torso: Its torso, with a free joint.
        rests: Its stance (nq).
        turned: How it is turned, in the world's frame: a quaternion (w, x, y, z).

    Raises:
        InvalidInput: it comes back to its feet, or sinks through the floor.
    """
    data = mujoco.MjData(model)
    data.qpos[:] = rests
    mujoco.mj_kinematics(model, data)
    up = data.xmat[torso].reshape(3, 3)[2].copy()
    pose = rests.copy()
    pose[3:7] = multiply(turned, rests[3:7])
    data.qpos[:] = put_on_the_floor(model, torso, pose)
    mujoco.mj_step(model, data, nstep=round(SETTLING_S / model.opt.timestep))
    mujoco.mj_kinematics(model, data)
    if data.xpos[torso, 2] <= 0.0:
        raise InvalidInput(
            "lying: the robot sinks into the floor, as nothing of its trunk collides with that. Take a file whose "
            "trunk does, or give it such a geom."
        )
    if blown_up(data) or float(data.xmat[torso].reshape(3, 3)[2] @ up) > TURNED_OVER:
        raise InvalidInput("lying: turned over, the robot comes back to its feet, or does not come to rest.")
    found: Pose = data.qpos.copy()
    found[:2] = rests[:2]
    return found


def blown_up(data: mujoco.MjData) -> bool:
    """Whether MuJoCo has begun anew, since a number of its state was not finite or far too large."""
    bad = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
    return any(data.warning[int(kind)].number for kind in bad) or not np.isfinite(data.qpos).all()


def hold(model: mujoco.MjModel, data: mujoco.MjData, pose: Pose) -> None:
    """Ask each servo for its place in a pose (nq), and of motors nothing."""
    for at in range(model.nu):
        if is_servo(model, at):
            data.ctrl[at] = pose[model.jnt_qposadr[model.actuator_trnid[at, 0]]]


def put_on_the_floor(model: mujoco.MjModel, torso: int, pose: Pose) -> Pose:
    """The same pose with the lowest point of what collides with the floor at it."""
    floor = floor_geom(model, torso)
    if floor is None:
        return pose
    lowest = lowest_points(model, torso, pose)
    solid = collides(model, floor, robot_geoms(model, torso))
    lifted: Pose = pose.copy()
    lifted[2] -= float(lowest[solid].min()) - float(model.geom_pos[floor, 2])
    return lifted


def lowest_points(model: mujoco.MjModel, torso: int, pose: Pose) -> Pose:
    """Height of the lowest point of each of the robot's geoms in a pose [m]."""
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    heights = GeomHeights(model, torso).lowest(data.geom_xpos[None, :, 2], data.geom_xmat[None, :, 6:])
    return np.asarray(heights[0])


def _settled(model: mujoco.MjModel, torso: int, pose: Pose) -> Pose | None:
    """Where it comes to rest, with x and y as they were; None if it falls, flies or goes on moving."""
    start = put_on_the_floor(model, torso, pose)
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
        if not stands or blown_up(data):
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
    for number in range(_tries(model)):
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
