"""Make a robot's environment out of a model file: stance, actions, feet, forward axis, healthy heights."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import Morphology, RobotModel
from p2p.contracts.errors import InvalidInput
from p2p.contracts.robot import RobotOverrides
from p2p.rewards.definitions import TorsoFreedom
from p2p.rewards.rotations import conjugate, forward_axis, multiply
from p2p.store.robots import overrides_file
from p2p.worker.engine.morphology import (
    FREE,
    base_of,
    collides,
    floor_geom,
    guess_morphology,
    index_of,
    name_of,
    robot_geoms,
)
from p2p.worker.engine.robot_environment import RESET_NOISE
from p2p.worker.robots.actions import (
    Action,
    actions_of,
    add_servos,
    compile_actions,
    control_in_words,
    control_of,
    narrow_in_words,
    servos_for_motors,
    set_gains,
)
from p2p.worker.robots.feet import feet_of
from p2p.worker.robots.model_file import naming, read
from p2p.worker.robots.overrides import exclude, named, names, read_overrides, said_feet, said_pose
from p2p.worker.robots.reaching import find_reaching
from p2p.worker.robots.stance import SETTLING_S, Pose, find_stance, lie_down, lowest_points, said_stance

CONTROL_S = 0.02
"""Control period [s], as legged robots are controlled."""
HEALTHY = (0.55, 1.6)
"""Lowest and highest torso of a robot that has not fallen, as shares of its height in the stance."""
TOUCHING_M = 0.005
"""Largest distance from the floor at which a geom counts as one on which the robot stands [m]."""
LYING = 0.7
"""Cosine of how far a torso's z axis leans in a stance in which it is not what points up."""
START_SHARE = 0.1
"""Largest change of a small robot's place at an episode's start, as a share of its torso's height in the stance: 2 cm
are half of what a snake stands high."""
FACES_X = np.pi / 4
"""Farthest that a robot may face from +x, along which forwards is measured, without being turned [rad]."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A robot, and the parts of it that sentences and features name."""

    robot: RobotModel
    morphology: Morphology
    actions: list[Action]
    frame_skip: int


def derive(path: Path) -> Derived:
    """Everything about a robot that its file does not say.

    Raises:
        InvalidInput: the file is broken or not taken, or the robot falls through the floor.
        UnknownName: the overrides beside it name what there is not.
    """
    with naming(path):
        return _derived(path)


def _derived(path: Path) -> Derived:
    told = read_overrides(path)
    says = f"as {overrides_file(path).name} says"
    over = told or RobotOverrides()
    spec, choices = read(path, over.base == "free")
    has_motors = not add_servos(spec, choices)
    model = spec.compile()
    if not model.nu:
        raise InvalidInput(f"{path.name} has nothing that moves: expected joints inside the robot.")
    guessed = guess_morphology(model)
    if over.torso is not None:
        guessed = _with_torso(model, guessed, named("body", over.torso, names(model, "body")))
        choices.append(f"torso: {over.torso}, {says}")
    torso = index_of(model, "body", guessed.torso)
    base = base_of(model, torso)
    free = base is TorsoFreedom.FREE
    if free:
        _require_first(model, torso, path.name)
    elif over.lying is not None:
        raise InvalidInput("lying: expected a robot with a free joint, and the base of this one has none.")
    said = said_stance(model)
    if over.stance is not None:
        said = said_pose(model, said, over.stance)
        said = said._replace(called=f"{said.called} ({says})")
    if over.excluded_actuators:
        pose = said.pose if said is not None else model.qpos0
        exclude(spec, model, over.excluded_actuators, pose)
        model = spec.compile()
        choices.append(f"left out the actuators {', '.join(over.excluded_actuators)}, {says}")
    reaching = find_reaching(spec, torso, over, says, choices)
    if has_motors:
        _make_servos(spec, base, reaching is not None, over.motors, choices)
    model = _with_gains(spec, over, says, choices)
    stance = find_stance(spec, model, torso, free, said, choices)
    actions = actions_of(model, stance.asked, over.action_scale)
    control = control_of(model, actions)
    choices += control_in_words(control) + narrow_in_words(model)
    compile_actions(spec, actions)
    xml = spec.to_xml()
    model = mujoco.MjModel.from_xml_string(xml)
    stands = _Standing(guessed, stance.rests)
    if free:
        stands = _free_to_move(model, torso, stands, over, says, choices)
    elif base is TorsoFreedom.FIXED:
        choices.append(
            "fixed to the ground, since its base has no free joint: a robot that is to move about gets one by "
            f'base = "free" in {overrides_file(path).name} beside it'
        )
    morphology = reaching.of(stands.morphology) if reaching is not None else stands.morphology
    timestep = float(model.opt.timestep)
    frame_skip = max(1, round((over.control_period or CONTROL_S) / timestep))
    reason = says if over.control_period else "as legged robots are controlled"
    choices.append(f"control period: {frame_skip * timestep:g} s, {reason}, in whole steps of {timestep:g} s")
    robot = RobotModel(
        source=path.name,
        xml=xml,
        stance=tuple(stands.rests.tolist()),
        lying=tuple(stands.lying.tolist()) if stands.lying is not None else None,
        healthy=stands.healthy,
        start_noise_m=stands.start_noise_m,
        control=control,
        falls=stance.falls,
        choices=tuple(choices),
        loose=reaching.loose if reaching is not None else None,
        overridden=tuple(name for name in RobotOverrides.model_fields if told and name in told.model_fields_set),
    )
    return Derived(robot, morphology, actions, frame_skip)


def _require_first(model: mujoco.MjModel, torso: int, file: str) -> None:
    """Refuse a model in which something else than the robot moves before it."""
    if int(model.jnt_type[0]) != FREE or int(model.jnt_bodyid[0]) != int(model.body_rootid[torso]):
        raise InvalidInput(
            f"Of what moves in {file} the robot is not the first. Put the body {name_of(model, 'body', torso)!r} "
            "before the others in the file."
        )


class _Standing(NamedTuple):
    """How a robot stands, and in what its episodes begin."""

    morphology: Morphology
    rests: Pose
    lying: Pose | None = None
    healthy: tuple[float, float] | None = None
    start_noise_m: float | None = None


def _free_to_move(
    model: mujoco.MjModel, torso: int, guessed: _Standing, over: RobotOverrides, says: str, choices: list[str]
) -> _Standing:
    """A robot with a free base: its feet, which way it faces, and when it has fallen."""
    data = mujoco.MjData(model)
    data.qpos[:] = guessed.rests
    mujoco.mj_forward(model, data)
    height = float(data.xpos[torso, 2])
    morphology = _on_its_feet(model, torso, guessed.morphology, guessed.rests, over, says, choices)
    morphology = _facing_forwards(model, data, torso, morphology, over, says, choices)
    rests = _turned_to_x(guessed.rests, data.xquat[torso], morphology, choices)
    lying = healthy = None
    if over.lying is not None:
        lying = _lying(model, torso, rests, morphology, over.lying)
        choices.append(f"begins lying: turned onto its {over.lying}, {says}, and let go for {SETTLING_S:g} s")
    else:
        low, high = healthy = over.healthy or (HEALTHY[0] * height, HEALTHY[1] * height)
        reason = says if over.healthy else f"{HEALTHY[0]:g} and {HEALTHY[1]:g} times that of its stance"
        choices.append(f"healthy: torso from {low:.3g} to {high:.3g} m, {reason}")
    return _Standing(morphology, rests, lying, healthy, _noise_of_a_small_robot(height, choices))


def _noise_of_a_small_robot(height: float, choices: list[str]) -> float | None:
    """Largest change of its place at an episode's start [m]; None for a robot that is large enough for the usual."""
    near = round(START_SHARE * height, 4)
    if near >= RESET_NOISE:
        return None
    choices.append(f"start: within {near:g} m of the stance, {START_SHARE:g} times its torso's height")
    return near


def _lying(model: mujoco.MjModel, torso: int, rests: Pose, morphology: Morphology, on: Literal["back", "side"]) -> Pose:
    """Where it lies (nq): onto the back, two-legged robots are tipped, and others rolled."""
    legs = {int(model.geom_bodyid[index_of(model, "geom", foot)]) for foot in morphology.feet}
    quarter = 0.5**0.5
    over = (quarter, 0.0, -quarter, 0.0) if len(legs) <= 2 else (0.0, 1.0, 0.0, 0.0)
    turned = np.array(over if on == "back" else (quarter, quarter, 0.0, 0.0))
    return lie_down(model, torso, rests, turned)


def _make_servos(
    spec: mujoco.MjSpec, base: TorsoFreedom, reaches: bool, motors: str | None, choices: list[str]
) -> None:
    """Make servos of motors where it is said, and else of those of robots that walk and of arms that reach."""
    arm = reaches and base is TorsoFreedom.FIXED and motors != "torque"
    if arm or motors == "position" or (base is TorsoFreedom.FREE and motors is None):
        servos_for_motors(spec, choices, arm)


def _with_gains(spec: mujoco.MjSpec, over: RobotOverrides, says: str, choices: list[str]) -> mujoco.MjModel:
    """The model with the gains of servos that the file beside it says."""
    if over.kp is not None or over.kd is not None:
        choices.append(f"gains of its servos: {set_gains(spec, over.kp, over.kd)}, {says}")
    return spec.compile()


def _with_torso(model: mujoco.MjModel, guessed: Morphology, wanted: str) -> Morphology:
    torso = index_of(model, "body", wanted)
    if model.body_rootid[torso] != model.body_rootid[index_of(model, "body", guessed.torso)]:
        raise InvalidInput(
            f"The body {wanted!r} is not of the robot: expected one that is joined to {guessed.torso!r}."
        )
    geoms = robot_geoms(model, torso)
    welded = geoms[model.body_weldid[model.geom_bodyid[geoms]] == model.body_weldid[torso]]
    trunk = tuple(name_of(model, "geom", int(geom)) for geom in welded)
    return guessed.model_copy(update={"torso": wanted, "trunk": trunk})


def _on_its_feet(
    model: mujoco.MjModel,
    torso: int,
    guessed: Morphology,
    rests: Pose,
    over: RobotOverrides,
    says: str,
    choices: list[str],
) -> Morphology:
    """Its feet and trunk: geoms that collide with the floor."""
    floor = floor_geom(model, torso)
    assert floor is not None, "a stance has been found"
    geoms = robot_geoms(model, torso)
    solid = geoms[collides(model, floor, geoms)]
    names_of_solid = [name_of(model, "geom", int(geom)) for geom in solid]
    trunk = tuple(name for name in guessed.trunk if name in names_of_solid)
    if over.feet is not None:
        feet = said_feet(model, over.feet)
        for name in feet:
            named("foot that collides with the floor", name, names_of_solid)
        choices.append(f"feet: {', '.join(feet)}, {says}")
        return guessed.model_copy(update={"feet": feet, "trunk": trunk})
    lowest = lowest_points(model, torso, rests)[collides(model, floor, geoms)]
    touching = solid[lowest < float(model.geom_pos[floor, 2]) + TOUCHING_M]
    found = feet_of(model, torso, solid, touching)
    feet = tuple(name for name, geom in zip(names_of_solid, solid, strict=True) if geom in found)
    choices.append(f"feet: {', '.join(feet)}, on which it stands")
    stiff = model.body_weldid[model.geom_bodyid]
    others = [int(geom) for geom in touching if geom not in found]
    beside = [name_of(model, "geom", geom) for geom in others if stiff[geom] in stiff[list(found)]]
    under = [name_of(model, "geom", geom) for geom in others if stiff[geom] not in stiff[list(found)]]
    if beside:
        choices.append(f"beside its feet {', '.join(beside)} touch the floor in its stance")
    if under:
        choices.append(f"it lies on {', '.join(under)} in its stance")
    trunk = tuple(name for name in trunk if name not in (*feet, *beside, *under))
    return guessed.model_copy(update={"feet": feet, "trunk": trunk})


def _facing_forwards(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    torso: int,
    morphology: Morphology,
    over: RobotOverrides,
    says: str,
    choices: list[str],
) -> Morphology:
    """How the torso's frame stands when the robot faces along +x."""
    quarter = 0.5**0.5
    turned = {
        "x": (1.0, 0.0, 0.0, 0.0),
        "y": (quarter, 0.0, 0.0, -quarter),
        "-x": (0.0, 0.0, 0.0, 1.0),
        "-y": (quarter, 0.0, 0.0, quarter),
    }
    rotation = data.xmat[torso].reshape(3, 3)
    lies = rotation[2, 2] < LYING
    frame = np.eye(3) if lies else rotation
    axis = over.forward or ("y" if _faces_sideways(model, data, torso, frame) else "x")
    reason = says if over.forward else "about which its masses are mirrored"
    whose = "the world's" if lies else "its"
    choices.append(f"forwards: {whose} {axis} axis, {reason}")
    upright = np.array(turned[axis])
    if lies:  # the frame of its torso is another than that in which it stands
        both = np.zeros(4)
        mujoco.mju_mulQuat(both, upright, data.xquat[torso])
        upright = both
        choices.append("upright: as in the stance, where the z axis of its torso does not point up")
    w, x, y, z = (float(one) for one in upright)
    return morphology.model_copy(update={"upright": (w, x, y, z)})


def _turned_to_x(
    rests: NDArray[np.float64], torso: NDArray[np.float64], morphology: Morphology, choices: list[str]
) -> NDArray[np.float64]:
    """The stance (nq), turned in its place where the torso, at a quaternion, does not face along +x."""
    ahead = forward_axis(multiply(torso, conjugate(np.array(morphology.upright)))[None])[0]
    yaw = float(np.arctan2(ahead[1], ahead[0]))
    if abs(yaw) < FACES_X:
        return rests
    turned = rests.copy()
    turned[3:7] = multiply(np.array([np.cos(yaw / 2.0), 0.0, 0.0, -np.sin(yaw / 2.0)]), rests[3:7])
    choices.append(f"turned in its stance by {np.degrees(-yaw):.0f} degrees, to face along the world's x axis")
    return turned


def _faces_sideways(model: mujoco.MjModel, data: mujoco.MjData, torso: int, frame: NDArray[np.float64]) -> bool:
    """Whether its masses are mirrored across the y-z plane of a frame (3, 3) and not across the x-z plane."""
    bodies = np.flatnonzero(model.body_rootid == model.body_rootid[torso])
    places = (data.xipos[bodies] - data.xpos[torso]) @ frame
    masses = model.body_mass[bodies]

    def unlike(axis: int) -> float:
        mirrored = places.copy()
        mirrored[:, axis] *= -1.0
        gaps = np.linalg.norm(places[:, None] - mirrored[None], axis=2).min(axis=1)
        return float(masses @ gaps / masses.sum())

    return unlike(0) < unlike(1) - 0.005
