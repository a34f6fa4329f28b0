"""Which Gymnasium class has a vectorised description."""

from typing import Any

from p2p.worker.engine.tasks.ant import Ant
from p2p.worker.engine.tasks.arms import Pusher, Reacher
from p2p.worker.engine.tasks.humanoid import Humanoid, HumanoidStandup
from p2p.worker.engine.tasks.pendulums import InvertedDoublePendulum, InvertedPendulum
from p2p.worker.engine.tasks.planar import HalfCheetah, Hopper, Swimmer, Walker2d
from p2p.worker.engine.tasks.robot import Robot
from p2p.worker.engine.tasks.task import VectorisedTask

_PACKAGE = "gymnasium.envs.mujoco"
TASKS: dict[str, type[VectorisedTask]] = {
    f"{_PACKAGE}.ant_v5:AntEnv": Ant,
    f"{_PACKAGE}.half_cheetah_v5:HalfCheetahEnv": HalfCheetah,
    f"{_PACKAGE}.hopper_v5:HopperEnv": Hopper,
    f"{_PACKAGE}.humanoid_v5:HumanoidEnv": Humanoid,
    f"{_PACKAGE}.humanoidstandup_v5:HumanoidStandupEnv": HumanoidStandup,
    f"{_PACKAGE}.inverted_double_pendulum_v5:InvertedDoublePendulumEnv": InvertedDoublePendulum,
    f"{_PACKAGE}.inverted_pendulum_v5:InvertedPendulumEnv": InvertedPendulum,
    f"{_PACKAGE}.pusher_v5:PusherEnv": Pusher,
    f"{_PACKAGE}.reacher_v5:ReacherEnv": Reacher,
    f"{_PACKAGE}.swimmer_v5:SwimmerEnv": Swimmer,
    f"{_PACKAGE}.walker2d_v5:Walker2dEnv": Walker2d,
    "p2p.worker.engine.robot_environment:RobotEnv": Robot,
}
"""By "module:class", and only that class: a subclass may have changed anything."""


def describe(env: Any) -> VectorisedTask | None:
    """The vectorised description of an unwrapped environment; None where there is none."""
    task = TASKS.get(f"{type(env).__module__}:{type(env).__qualname__}")
    return task(env) if task is not None else None
