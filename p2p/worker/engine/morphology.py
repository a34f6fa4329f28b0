"""Facts about a robot that are read, or guessed, from its compiled model."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import Morphology
from p2p.rewards.definitions import TorsoFreedom

Indices = NDArray[np.intp]

TERRAIN = "p2p_terrain"
"""Name of the height field that p2p lays in the place of a robot's floor."""
FREE, BALL, SLIDE, HINGE = (int(kind) for kind in mujoco.mjtJoint.__members__.values())


def name_of(model: mujoco.MjModel, kind: str, index: int) -> str:
    """MuJoCo's name of a "body", "geom", "joint" …; its kind and number where it has none."""
    return getattr(model, kind)(index).name or f"{kind}{index}"


def index_of(model: mujoco.MjModel, kind: str, name: str) -> int:
    """Inverse of `name_of`."""
    count = getattr(model, {"body": "nbody", "geom": "ngeom", "joint": "njnt"}[kind])
    return next(index for index in range(count) if name_of(model, kind, index) == name)


def guess_morphology(model: mujoco.MjModel) -> Morphology:
    """Guess torso, feet and trunk of a robot without a description.

    The robot is the tree of bodies with most motors, else most joints: a free box that an arm is to lift is none. Its
    torso is the first body with a free joint, else the first body that moves. The feet are the geoms called foot or
    ankle, else those of the outermost bodies; arms and carts have none. The trunk is everything welded to the torso.
    """
    torso = _robot_base(model)
    geoms = robot_geoms(model, torso)
    names = {int(geom): name_of(model, "geom", int(geom)) for geom in geoms}
    feet = [name for name in names.values() if "foot" in name.lower() or "ankle" in name.lower()]
    if base_of(model, torso) not in (TorsoFreedom.FREE, TorsoFreedom.VERTICAL):
        return Morphology(torso=name_of(model, "body", torso))
    leaves = set(range(1, model.nbody)) - {int(parent) for parent in model.body_parentid}
    feet = feet or [name for geom, name in names.items() if int(model.geom_bodyid[geom]) in leaves]
    welded = model.body_weldid[model.geom_bodyid[geoms]] == model.body_weldid[torso]
    trunk = tuple(names[int(geom)] for geom in geoms[welded])
    return Morphology(torso=name_of(model, "body", torso), feet=tuple(feet), trunk=trunk)


def _robot_base(model: mujoco.MjModel) -> int:
    if not model.njnt:
        return 0
    trees = model.body_rootid[model.jnt_bodyid]
    driven = model.actuator_trnid[model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT), 0]
    root = max(np.unique(trees), key=lambda tree: (int((trees[driven] == tree).sum()), int((trees == tree).sum())))
    joints = np.flatnonzero(trees == root)
    free = joints[model.jnt_type[joints] == FREE]
    return int(model.jnt_bodyid[free[0] if len(free) else joints[0]])


def within_limits(model: mujoco.MjModel, pose: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same pose (nq) with each joint in its range; some models have a zero pose that they cannot take."""
    inside = pose.copy()
    for joint in np.flatnonzero(model.jnt_limited):
        if int(model.jnt_type[joint]) not in (FREE, BALL):
            at = model.jnt_qposadr[joint]
            inside[at] = np.clip(pose[at], *model.jnt_range[joint])
    return inside


def robot_geoms(model: mujoco.MjModel, torso: int) -> Indices:
    """All geoms of the tree the torso belongs to."""
    return np.flatnonzero(model.body_rootid[model.geom_bodyid] == model.body_rootid[torso])


def largest_geom(model: mujoco.MjModel, body: int) -> int | None:
    """The geom of a body that takes most room, of those that collide if any do; None for a body without geoms."""
    geoms = np.flatnonzero(model.geom_bodyid == body)
    solid = geoms[(model.geom_contype[geoms] != 0) | (model.geom_conaffinity[geoms] != 0)]
    candidates = solid if len(solid) else geoms
    room = model.geom_aabb[candidates, 3:].prod(axis=1)
    return int(candidates[room.argmax()]) if len(candidates) else None


def floor_geom(model: mujoco.MjModel, torso: int) -> int | None:
    """The first plane of the world that the torso's robot can touch, or the terrain in its place, or None."""
    robot = robot_geoms(model, torso)
    planes = (model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)) & (model.geom_bodyid == 0)
    terrain = terrain_geom(model)
    floors = np.flatnonzero(planes).tolist() if terrain is None else [terrain]
    return next((floor for floor in floors if collides(model, floor, robot).any()), None)


def terrain_geom(model: mujoco.MjModel) -> int | None:
    """The height field that p2p has laid in the place of the floor, or None."""
    for geom in np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_HFIELD)).tolist():
        if model.hfield(int(model.geom_dataid[geom])).name == TERRAIN:
            return int(geom)
    return None


def collides(model: mujoco.MjModel, floor: int, geoms: Indices) -> NDArray[np.bool_]:
    """Which of `geoms` MuJoCo lets collide with `floor`, by their bit masks or as a pair that the model names."""
    types = model.geom_contype
    affinities = model.geom_conaffinity
    allowed = (types[geoms] & affinities[floor]) | (types[floor] & affinities[geoms])
    pairs = np.stack([model.pair_geom1, model.pair_geom2], axis=1)
    return np.asarray((allowed != 0) | np.isin(geoms, pairs[(pairs == floor).any(axis=1)]))


def base_of(model: mujoco.MjModel, torso: int) -> TorsoFreedom:
    """How the torso can move, from its own joints that no motor drives."""
    joints = root_joints(model, torso)
    kinds = model.jnt_type[joints]
    if (kinds == FREE).any():
        return TorsoFreedom.FREE
    axes = model.jnt_axis[joints[kinds == SLIDE]]
    turning = model.jnt_axis[joints[kinds == HINGE]]
    if len(axes) != 2 or len(turning) != 1:
        return TorsoFreedom.FIXED
    return TorsoFreedom.VERTICAL if abs(axes[:, 2]).max() > 0.5 else TorsoFreedom.HORIZONTAL


def root_joints(model: mujoco.MjModel, torso: int) -> Indices:
    """Joints by which the torso as a whole moves in the world."""
    driven = model.actuator_trnid[model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT), 0]
    joints = np.flatnonzero(model.jnt_bodyid == torso)
    if model.body_parentid[torso] != 0:
        return joints[:0]
    return joints[~np.isin(joints, driven)]


def robot_dofs(model: mujoco.MjModel, torso: int) -> Indices:
    """Velocity indices of the tree the torso belongs to."""
    return np.flatnonzero(model.body_rootid[model.dof_bodyid] == model.body_rootid[torso])


def inner_dofs(model: mujoco.MjModel, torso: int) -> Indices:
    """Velocity indices of the turning joints inside the robot."""
    joints = np.flatnonzero(model.body_rootid[model.jnt_bodyid] == model.body_rootid[torso])
    joints = joints[~np.isin(joints, root_joints(model, torso))]
    turning = np.isin(model.jnt_type, (HINGE, BALL))
    dofs = np.flatnonzero(np.isin(model.dof_jntid, joints) & turning[model.dof_jntid])
    return dofs if len(dofs) else np.flatnonzero(np.isin(model.dof_jntid, joints))
