"""An environment, described from its live model."""

from pydantic import Field

from p2p.contracts.base import Contract


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
    """Body that reaches for it (the pushed object in Pusher), or None."""
    pole: str | None = None
    """Last pole body of a pendulum, or None."""
    upright: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the torso's body frame when the robot stands facing +x, as a quaternion (w, x, y, z)."""


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
    """Height of the torso in the initial pose [m]."""
    rest_clearance: float = 0.0
    """Height of the robot's lowest point when it rests on the floor [m]; not 0, as contacts have margins and give."""
    morphology: Morphology
    camera: Camera
    features: tuple[Feature, ...] = Field(min_length=1)

    @property
    def obs_dim(self) -> int:
        """Length of the observation vector."""
        return len(self.observation)

    @property
    def action_dim(self) -> int:
        """Length of the action vector."""
        return len(self.action)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in the order they are computed."""
        return tuple(feature.name for feature in self.features)
