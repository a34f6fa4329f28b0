"""What a person says about a robot: where the model file does not, or where p2p guessed wrong; and its name."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract, MachineName

Name = Annotated[str, Field(min_length=1, max_length=200)]
Scale = Annotated[float, Field(gt=0, le=3.2)]


class RobotOverrides(Contract):
    """A file `my_robot.toml` beside `my_robot.xml`. Each key takes the place of what p2p would choose."""

    torso: Name | None = None
    """Body whose pose is the robot's: one of the tree that has the motors."""
    base: Literal["free"] | None = None
    """"free" gives a robot that its file fixes to the world, as a URDF without a `floating` joint, a free joint."""
    forward: Literal["x", "y", "-x", "-y"] | None = None
    """Axis of the torso that points forwards."""
    feet: tuple[Name, ...] | None = None
    """Geoms, or bodies, that may touch the floor in normal motion."""
    stance: Name | dict[Name, float] | None = None
    """Name of a keyframe, or a table of joints with their angles; joints that are not in it keep the first pose
    [rad, or m of a slide]."""
    lying: Literal["back", "side"] | None = None
    """On what the robot lies as its episodes begin: it can be asked to stand up, and no more."""
    healthy: tuple[float, float] | None = None
    """Heights of the torso between which a training episode goes on [m]."""
    excluded_actuators: tuple[Name, ...] = ()
    """Actuators that a policy does not have. Joints of servos are held by springs of the same stiffness."""
    control_period: Annotated[float, Field(ge=0.002, le=0.2)] | None = None
    """Time between two actions [s], at least one step of the simulator."""
    motors: Literal["position", "torque"] | None = None
    """Whether an action asks a motor for a position, as a servo with its torque as the limit does, or for a torque."""
    kp: Annotated[float, Field(gt=0, le=1e5)] | None = None
    """Stiffness of all position servos [N m/rad]."""
    kd: Annotated[float, Field(ge=0, le=1e4)] | None = None
    """Damping of all position servos [N m s/rad]."""
    action_scale: Scale | dict[Name, Scale] | None = None
    """How far from the stance an action of 1 asks a servo to go [rad or m]: one number, or a table of joints. Those
    that are not in it keep the usual one."""
    end_effector: Name | None = None
    """Body, or site, that is to reach `target`."""
    target: Name | None = None
    """Body to be reached: the feature `target_distance` is from `end_effector` to it."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.healthy is not None and self.healthy[0] >= self.healthy[1]:
            raise ValueError(f"healthy is [{self.healthy[0]:g}, {self.healthy[1]:g}]: expected the lower height first")
        if self.healthy is not None and self.lying is not None:
            raise ValueError("healthy and lying are both given: no height ends the episodes of a robot that lies")
        return self


class NamedRobot(Contract):
    """A robot that was given a name. Its environment stays when the name goes: sessions name that."""

    env_id: str
    """Of its environment, of which the model is a part."""
    source: str
    """Where the model file was; it is needed no more."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of the model file that was copied."""


class NamedRobots(Contract):
    """Every robot with a name."""

    robots: dict[MachineName, NamedRobot] = {}
