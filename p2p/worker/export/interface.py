"""Interface of a policy: observation, action, and the environment's set-up at evaluation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from gymnasium.spaces import Box

from p2p.contracts.env import Actuator, Dimension, JointControl
from p2p.worker.description.observations import describe_observation
from p2p.worker.engine.environment import TERMINATE, make_environment
from p2p.worker.export.source import Source
from p2p.worker.rollout.policy_inputs import beyond_the_simulator, input_space


@dataclass(frozen=True, slots=True)
class Interface:
    """Inputs and outputs of a policy."""

    env_id: str
    env_kwargs: dict[str, bool | int | float | str]
    """All that `gymnasium.make` is given."""
    observation_space: Box
    action_space: Box
    observation: tuple[Dimension, ...]
    """Gymnasium's, or a robot's senses, in the frame "robot"; then what it is told besides, in the frame "episode"."""
    action: tuple[Actuator, ...]
    dt: float
    """Control period [s]."""
    control: tuple[JointControl, ...]
    """What a robot's own controller does with the actions; empty for Gymnasium's environments."""

    def metadata(self) -> Mapping[str, str]:
        """Metadata embedded in an exported file."""
        observation = [item.model_dump(include={"name", "quantity", "unit", "frame"}) for item in self.observation]
        action = [item.model_dump(include={"name", "joint", "low", "high", "unit"}) for item in self.action]
        return {
            "environment": self.env_id,
            "env_kwargs": json.dumps(self.env_kwargs),
            "observation": json.dumps(observation),
            "action": json.dumps(action),
            "control_period_s": json.dumps(self.dt),
            "control": json.dumps([item.model_dump() for item in self.control]),
        }


def describe_interface(source: Source) -> Interface:
    """Read the interface from the live environment, without early termination, as in an evaluation."""
    kwargs = dict(source.config.env_kwargs)
    if source.spec.can_disable_termination:
        kwargs[TERMINATE] = False
    env = make_environment(source.spec, source.config.env_kwargs)
    assert isinstance(env.observation_space, Box), "a MuJoCo environment has arrays"
    assert isinstance(env.action_space, Box), "a MuJoCo environment has arrays"
    senses, told = beyond_the_simulator(source.config, source.spec)
    own = (
        describe_observation(env)
        if senses is None
        else tuple(
            Dimension(index=i, name=one.name, quantity=one.description, unit=one.unit, frame="robot")
            for i, one in enumerate(senses.inputs)
        )
    )
    interface = Interface(
        env_id=source.spec.env_id,
        env_kwargs=kwargs,
        observation_space=input_space(env.observation_space, source.config, source.spec),
        action_space=env.action_space,
        observation=own
        + tuple(
            Dimension(index=len(own) + i, name=one.name, quantity=one.description, unit=one.unit, frame="episode")
            for i, one in enumerate(told)
        ),
        action=source.spec.action,
        dt=source.spec.dt,
        control=source.spec.robot.control if source.spec.robot is not None else (),
    )
    env.close()
    return interface
