"""What a robot senses by itself: its inertial unit, its joints, and what it was last told to do."""

from typing import Literal, Self

from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.observe import ObservedInput

Observation = Literal["full", "robot", "robot_and_velocity"]


class Senses(Contract):
    """Places in the simulator's state that a robot's sensors read, in the order of `inputs`."""

    root: tuple[int, int] | None
    """First position and first velocity of the free joint; None for a robot that is fixed to the ground."""
    velocity: bool
    """Whether the velocity of the base is given too, which no sensor of a robot measures."""
    joints: tuple[str, ...]
    """Hinges and slides, in the model's order."""
    positions: tuple[int, ...]
    """Where the position of each stands."""
    velocities: tuple[int, ...]
    stance: tuple[float, ...]
    """What is subtracted of each position [rad or m]."""
    units: tuple[str, ...]
    """Of each position."""
    actions: tuple[str, ...]
    """Actuators, whose last actions are told."""

    @classmethod
    def of(cls, env: EnvSpec, observation: Observation) -> Self | None:
        """The senses of a robot; None where its policy sees the simulator's observation.

        Raises:
            InvalidConfig: the robot has no base that moves freely, and did not come as a model file.
        """
        if observation == "full":
            return None
        root = env.free_joint
        if env.robot is None and root is None:
            raise InvalidConfig(
                f'observation is "{observation}" and {env.env_id} is a robot whose base does not move freely: expected '
                'one that does, such as Ant-v5, or that came as a model file, or observation "full".'
            )
        inner = [joint for joint in env.joints if joint.kind in ("hinge", "slide")]
        return cls(
            root=(root.qpos_index, root.qvel_index) if root is not None else None,
            velocity=observation == "robot_and_velocity" and root is not None,
            joints=tuple(joint.name for joint in inner),
            positions=tuple(joint.qpos_index for joint in inner),
            velocities=tuple(joint.qvel_index for joint in inner),
            stance=tuple(env.robot.stance[joint.qpos_index] if env.robot is not None else 0.0 for joint in inner),
            units=tuple("m" if joint.kind == "slide" else "rad" for joint in inner),
            actions=tuple(actuator.name for actuator in env.action),
        )

    @property
    def inputs(self) -> tuple[ObservedInput, ...]:
        """What the policy sees, entry by entry."""
        found = []

        def add(name: str, unit: str, description: str, on_robot: bool = True) -> None:
            found.append(ObservedInput(name=name, unit=unit, description=description, on_robot=on_robot))

        if self.root is not None:
            for axis in "xyz":
                add(f"gravity_{axis}", "1", f"Direction of gravity along the base's {axis} axis; (0, 0, -1) upright.")
            for axis in "xyz":
                add(f"angular_velocity_{axis}", "rad/s", f"Angular velocity about the base's {axis} axis.")
        if self.velocity:
            for axis in "xyz":
                add(f"velocity_{axis}", "m/s", f"Velocity of the base along its own {axis} axis.", on_robot=False)
        for joint, unit in zip(self.joints, self.units, strict=True):
            add(f"position.{joint}", unit, "Its position less that of the stance.")
        for joint, unit in zip(self.joints, self.units, strict=True):
            add(f"velocity.{joint}", f"{unit}/s", "Its velocity.")
        for action in self.actions:
            add(f"last_action.{action}", "1", "What it was told in the step before; 0 at the start.")
        return tuple(found)
