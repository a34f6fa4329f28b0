"""Environments: their facts, and the parts of a body that sentences and features name."""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.commands import Commands

ROBOT_ID = re.compile(r"([a-z0-9_]{1,40})-[0-9a-f]{8}", re.ASCII)
"""Id of a robot that came as a model file: its name and the hash of the model."""


class Dimension(Contract):
    """One entry of the observation vector."""

    index: int
    name: str
    """MuJoCo's name of what it reads, such as "rootz" or "cfrc_ext[torso].fx"."""
    quantity: str
    """"position", "velocity", "quaternion w", "contact force" …"""
    unit: str
    frame: str
    """"joint", "world" or "body"."""


class Actuator(Contract):
    """One entry of the action vector."""

    index: int
    name: str
    joint: str
    low: float
    high: float
    unit: str
    """Unit of the control: "N m" after gear for motors."""
    gear: float


class Joint(Contract):
    """A joint with its place in the state."""

    name: str
    kind: str
    """"free", "ball", "slide" or "hinge"."""
    body: str
    axis: tuple[float, float, float]
    """In the body's frame at rest."""
    low: float | None
    """Lower limit [rad or m]; None when unlimited."""
    high: float | None
    qpos_index: int
    qvel_index: int


class Body(Contract):
    """A rigid body."""

    name: str
    parent: str
    mass: float
    """[kg]."""
    rest_position: tuple[float, float, float]
    """World position of its frame in the model's initial pose [m]."""


class Geom(Contract):
    """A collision or visual shape."""

    name: str
    body: str
    kind: str
    """"plane", "sphere", "capsule", "box", "cylinder", "mesh" …"""
    size: tuple[float, float, float]
    """MuJoCo half sizes [m]."""


class InfoKey(Contract):
    """A key of Gymnasium's `info`, with the values a random rollout really gave."""

    name: str
    low: float
    high: float


class Camera(Contract):
    """Where pictures are taken from."""

    tracks: str
    """Body the camera follows."""
    distance: float
    """[m]."""
    azimuth: float
    """[deg]."""
    elevation: float
    """[deg]."""


class Feature(Contract):
    """A named measurement, the same in rewards (`info[name]`), judges and prompts."""

    name: str
    unit: str
    frame: str
    """"world", "body", "heading", or "-" where none applies."""
    description: str


class Morphology(Contract):
    """The few facts about a body that its model does not name."""

    torso: str
    """Body whose pose the torso features read."""
    feet: tuple[str, ...] = ()
    """Geoms that may touch the floor in normal motion."""
    trunk: tuple[str, ...] = ()
    """Geoms that count as the trunk touching the floor."""
    target: str | None = None
    """Body to be reached, or None."""
    effector: str | None = None
    """Body, or site, that reaches for it (the pushed object in Pusher), or None."""
    target_radius: float = Field(default=0.0, exclude_if=lambda radius: not radius, repr=False)
    """Half of the target's thickness, so that no point of its surface is nearer to its centre [m]; 0 for a point."""
    height_counts: bool = Field(default=False, exclude_if=lambda counts: not counts, repr=False)
    """Whether `target_distance` is in space and up to the target's surface; else horizontal and up to its centre."""
    pole: str | None = None
    """Last pole body of a pendulum, or None."""
    upright: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the torso's body frame when the robot stands facing +x, as a quaternion (w, x, y, z)."""


class JointControl(Contract):
    """What an action in [-1, 1] asks of an actuator, as the robot's own controller has to do it."""

    actuator: str
    kind: Literal["position", "velocity", "torque"]
    """"position": torque = kp * (centre + scale * action - position) - kd * velocity, at most `torque_limit`;
    "velocity": torque = kd * (centre + scale * action - velocity), at most `torque_limit`;
    "torque": centre + scale * action."""
    centre: float
    """[rad or m] of a position, [rad/s or m/s] of a velocity, [N m or N] of a torque."""
    scale: float
    """What an action of 1 adds to it."""
    kp: float = 0.0
    """[N m/rad or N/m]; 0 for anything but a position."""
    kd: float = 0.0
    """[N m s/rad or N s/m]; the damping of the joint itself is not in it. 0 for a torque."""
    torque_limit: float | None = None
    """[N m or N]; None where the model has none."""


class RobotModel(Contract):
    """A robot from a model file: the model as one text, and what was derived from it."""

    source: str
    """Name of the file."""
    xml: str
    """MJCF that needs no other file; each action is in [-1, 1], and 0 holds the stance."""
    stance: tuple[float, ...]
    """Positions (nq) in which it stands at rest, and its episodes begin unless it is `lying` [m, rad]."""
    lying: tuple[float, ...] | None = Field(default=None, exclude_if=lambda pose: pose is None)
    """Positions (nq) in which the episodes of a robot begin that is to stand up [m, rad]."""
    healthy: tuple[float, float] | None
    """Heights of the torso between which an episode goes on [m]; None for a robot that is fixed to the ground, or lies
    on it."""
    start_noise_m: float | None = Field(default=None, exclude_if=lambda noise: noise is None)
    """Largest change of a free base's place at an episode's start [m]; None where it is that of every position."""
    control: tuple[JointControl, ...] = ()
    """Of each action, in their order; empty in robots of before it was kept."""
    falls: bool = Field(default=False, exclude_if=lambda falls: not falls)
    """Whether it falls from its stance when nothing moves."""
    choices: tuple[str, ...]
    """What was chosen, and why, in words."""
    loose: str | None = Field(default=None, exclude_if=lambda body: body is None)
    """Body beside the robot that is to be reached: each episode lays it within 5 cm of its place in `stance`; None
    where nothing is laid."""
    overridden: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Choices that a file beside the model made, by its keys."""


class EnvModule(Contract):
    """A Python module that registers an environment: its user's own code, which is not copied."""

    name: str
    folder: str | None
    """Directory that it is imported from; None where it is installed beside p2p."""


class TrustedModules(Contract):
    """Modules that the user has named on this machine."""

    modules: tuple[EnvModule, ...] = ()


class EnvSpec(Contract):
    """Facts of an environment, generated from the live model and tested equal to it."""

    env_id: str
    description: str
    nq: int
    nv: int
    dt: float
    """Control period [s]."""
    frame_skip: int
    max_episode_steps: int
    """Gymnasium's own time limit [steps]."""
    termination: str
    """When an episode ends early, in words; "never" where it does not."""
    can_disable_termination: bool
    observation: tuple[Dimension, ...]
    action: tuple[Actuator, ...]
    info: tuple[InfoKey, ...]
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    geoms: tuple[Geom, ...]
    sensors: tuple[str, ...]
    total_mass: float
    """[kg]."""
    rest_height: float
    """Height of the torso in the initial pose, or, of a robot that lies in that, as it stands [m]."""
    rest_clearance: float = 0.0
    """Height of the robot's lowest point when it rests on the floor [m]; not 0, as contacts have margins and give."""
    morphology: Morphology
    camera: Camera
    features: tuple[Feature, ...] = Field(min_length=1)
    robot: RobotModel | None = Field(default=None, exclude_if=lambda robot: robot is None)
    """Of an environment that p2p has made from a model file; None for those of Gymnasium."""
    module: EnvModule | None = Field(default=None, exclude_if=lambda module: module is None)
    """Of an environment "module:Id"; None for all others."""
    commands: Commands | None = Field(default=None, exclude_if=lambda commands: commands is None)
    """What a session tells the robot to follow, with features of it; no fact of the model. None where it is told
    nothing."""

    @property
    def obs_dim(self) -> int:
        """Length of the observation vector."""
        return len(self.observation)

    @property
    def action_dim(self) -> int:
        """Length of the action vector."""
        return len(self.action)

    @property
    def begins_lying(self) -> bool:
        """Whether it is a robot from a model file whose episodes begin lying."""
        return self.robot is not None and self.robot.lying is not None

    @property
    def free_joint(self) -> Joint | None:
        """Joint of a base that moves and turns freely; None where the base is fixed, or moves along axes of its own."""
        loose = self.robot.loose if self.robot is not None else None
        return next((joint for joint in self.joints if joint.kind == "free" and joint.body != loose), None)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in the order of their computation."""
        return tuple(feature.name for feature in self.features)


def without_hash(env_id: str) -> str:
    """Name for titles: of a robot from a model file without the hash of the model, else the id."""
    robot = ROBOT_ID.fullmatch(env_id)
    return env_id if robot is None else robot[1]


COM = "com"
"""The robot's centre of mass, as a part."""


class PartKind(StrEnum):
    """What a quantity can be measured of."""

    POINT = "point"
    """A body, a geom, or `com`."""
    BODY = "body"
    TOUCHING = "touching"
    """A body or geom of the robot that can touch the floor."""
    FOOT = "foot"
    """A foot, by the name in the environment's morphology."""
    JOINT = "joint"
    """A hinge or slide; for a slide rad reads m, and N m reads N."""
    ROBOT = "robot"
    """The whole of it: the feature has no part."""
    WALKER = "walker"
    """The same, of a robot that can leave the floor."""
    FEET = "feet"
    """Two feet of different legs, as foot:foot."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A kind of measurement, of any part that has it."""

    name: str
    unit: str
    frame: str
    kind: PartKind
    description: str


_P = PartKind.POINT
_B = PartKind.BODY
_T = PartKind.TOUCHING
_F = PartKind.FOOT
_J = PartKind.JOINT
_R = PartKind.ROBOT
_W = PartKind.WALKER
_FF = PartKind.FEET
QUANTITIES: tuple[Quantity, ...] = (
    Quantity("position_x", "m", "world", _P, "x of its frame or centre."),
    Quantity("position_y", "m", "world", _P, "y of its frame or centre."),
    Quantity("height", "m", "world", _P, "z of its frame or centre."),
    Quantity("velocity_x", "m/s", "world", _P, "Velocity of that point along x."),
    Quantity("velocity_y", "m/s", "world", _P, "Velocity of that point along y."),
    Quantity("velocity_z", "m/s", "world", _P, "Velocity of that point upwards."),
    Quantity("speed", "m/s", "world", _P, "Horizontal speed of that point, never negative."),
    Quantity("roll", "rad", "world", _B, "As `roll`, of this body; 0 where the robot stands in its initial pose."),
    Quantity("pitch", "rad", "heading", _B, "As `pitch`, of this body; 0 as above."),
    Quantity("yaw", "rad", "world", _B, "As `yaw`, of this body; 0 as above."),
    Quantity("up", "1", "world", _B, "As `up`, of this body; 1 as above."),
    Quantity("contact", "1", "-", _T, "1 while it touches the floor, else 0."),
    Quantity("clearance", "m", "world", _T, "Height of its lowest point over where the robot at rest has its lowest."),
    Quantity("slip", "m/s", "world", _T, "Horizontal speed of its lowest point while it touches the floor, else 0."),
    Quantity("contact_force", "N", "world", _B, "Size of the summed contact forces on it, from the floor or a body."),
    Quantity("touchdowns", "1", "-", _T, "Times it has come down on the floor since the start."),
    Quantity("step_length", "m", "world", _T, "Horizontal way from last take-off to last touch-down; 0 before."),
    Quantity("stance_share", "1", "-", _T, "Share of the time since the start in which it touched the floor."),
    Quantity("leg_swing", "rad", "joint", _F, "Largest joint_swing of the joints between the torso and it."),
    Quantity("duty_factor", "1", "-", _F, "Share of its last stride in which it touched the floor."),
    Quantity("stride_frequency", "1/s", "-", _F, "Strides per second, from its last two touch-downs; 0 before."),
    Quantity("stance_slip", "m/s", "world", _F, "Mean slip while it touched the floor in its last stride."),
    Quantity(
        "phase_offset", "1", "-", _FF, "Strides between their touch-downs: 0 together, 0.5 in turn; -1 without strides."
    ),
    Quantity("joint_angle", "rad", "joint", _J, "Its position, 0 in the model's zero pose."),
    Quantity("joint_velocity", "rad/s", "joint", _J, "Its velocity."),
    Quantity("joint_swing", "rad", "joint", _J, "Standard deviation of its position over about the last second."),
    Quantity("joint_torque", "N m", "joint", _J, "What the motors exert on it, with the step's action."),
    Quantity("power", "W", "-", _R, "Sum over the joints of |motor torque times velocity|."),
    Quantity("energy", "J", "-", _R, "Sum of power times the control period since the start."),
    Quantity("pose_range", "rad", "joint", _R, "Largest range of a joint's angle since 1 s after the start; 0 before."),
    Quantity("cost_of_transport", "1", "-", _W, "energy / (weight * displacement), the latter at least 0.1 m."),
    Quantity("most_leg_swing", "rad", "joint", _W, "Largest leg_swing of its legs."),
    Quantity("bounce", "m", "world", _W, "Up and down of its torso over about the last second, from low to high."),
    Quantity("foot_sliding", "1", "world", _W, "Mean slip of feet on the floor over its speed, of about a second."),
    Quantity("impact", "1", "-", _W, "Mean outer force of the step in weights, gravity apart: 1 at rest, 0 in flight."),
    Quantity("jerk", "m/s^3", "world", _W, "Size of the change per second of the torso's acceleration; 0 at first."),
)
"""All of them, in the order in which they are told."""
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


def parts_of(spec: EnvSpec, kind: PartKind) -> tuple[str, ...]:
    """Names of an environment's parts of a kind."""
    bodies = tuple(body.name for body in spec.bodies)
    mine = _robot_bodies(spec)
    if kind is PartKind.BODY:
        return bodies
    if kind is PartKind.FOOT:
        return spec.morphology.feet
    if kind is PartKind.FEET:
        firsts = [feet[0] for feet in legs_of(spec)]
        return tuple(f"{one}:{other}" for one, other in combinations(firsts, 2))
    if kind is PartKind.JOINT:
        return tuple(joint.name for joint in spec.joints if joint.kind in ("hinge", "slide"))
    if kind is PartKind.ROBOT:
        return ("",)
    geoms = [geom for geom in spec.geoms if geom.name not in bodies and geom.kind != "plane"]
    if kind is PartKind.POINT:
        return (*bodies, *(geom.name for geom in geoms), COM)
    if "clearance" not in spec.feature_names:
        return ()
    if kind is PartKind.WALKER:
        return ("",)
    with_geoms = {geom.body for geom in spec.geoms}
    touching = [body for body in bodies if body in mine and body in with_geoms]
    return (*touching, *(geom.name for geom in geoms if geom.body in mine))


def joints_of_leg(spec: EnvSpec, foot: str) -> tuple[str, ...]:
    """Hinges between the torso and a foot, without those that move all feet, such as a waist.

    Args:
        spec: The environment.
        foot: One of the feet of its morphology.
    """
    own = bodies_of_legs(spec)[foot]
    return tuple(joint.name for joint in spec.joints if joint.kind == "hinge" and joint.body in own)


def bodies_of_legs(spec: EnvSpec) -> dict[str, tuple[str, ...]]:
    """Foot -> bodies between it and the torso, from the foot up, without those that carry all feet."""
    parents = {body.name: body.parent for body in spec.bodies}
    ways: dict[str, list[str]] = {}
    for foot in spec.morphology.feet:
        way = ways[foot] = []
        body = next((geom.body for geom in spec.geoms if geom.name == foot), foot)
        while body in parents and body != spec.morphology.torso:
            way.append(body)
            body = parents[body]
    shared = set.intersection(*map(set, ways.values())) if len(ways) > 1 else set()
    return {foot: tuple(body for body in way if body not in shared) for foot, way in ways.items()}


def legs_of(spec: EnvSpec) -> tuple[tuple[str, ...], ...]:
    """Feet of each leg: geoms that hang on the same branch of the torso are feet of one leg."""
    legs: dict[str, list[str]] = {}
    for foot, bodies in bodies_of_legs(spec).items():
        legs.setdefault(bodies[-1] if bodies else foot, []).append(foot)
    return tuple(tuple(feet) for feet in legs.values())


def inner_joints(spec: EnvSpec) -> tuple[str, ...]:
    """Hinges between the parts of the robot, without those that move its torso in the world."""
    mine = _robot_bodies(spec) - {spec.morphology.torso}
    return tuple(joint.name for joint in spec.joints if joint.kind == "hinge" and joint.body in mine)


def parts_in_words(spec: EnvSpec) -> tuple[tuple[str, str], ...]:
    """Quantities by kind, and their parts, as lines for people and models: (names with units, parts)."""
    lines = []
    for kind in PartKind:
        parts = parts_of(spec, kind)
        if parts:
            own = [f"{q.name} [{q.unit}]: {q.description}" for q in QUANTITIES if q.kind is kind]
            lines.append((" ".join(own), ", ".join(parts) if any(parts) else ""))
    return tuple(lines)


def _robot_bodies(spec: EnvSpec) -> frozenset[str]:
    """Bodies of the tree that the torso belongs to."""
    parents = {body.name: body.parent for body in spec.bodies}

    def root(name: str) -> str:
        while parents.get(name, "world") != "world":
            name = parents[name]
        return name

    torso = root(spec.morphology.torso)
    return frozenset(name for name in parents if root(name) == torso)
