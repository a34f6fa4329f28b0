"""What training configurations need: a learner that is installed, and a robot that has what they ask for."""

from collections.abc import Iterable

from p2p.contracts.env import EnvSpec
from p2p.contracts.senses import Senses
from p2p.contracts.training import TrainConfig
from p2p.rewards.definitions import commanded
from p2p.rewards.part_features import require_bounds
from p2p.service.jobs import packages


def require_trainable(spec: EnvSpec, configs: Iterable[TrainConfig]) -> None:
    """Refuse configurations that could only fail in their training.

    Args:
        spec: The robot, with the features of the commands that it follows where a configuration gives none.
        configs: What is asked for.

    Raises:
        InvalidConfig: the robot does not have what a field asks for; the message names both.
        MissingExtra: the learner is not installed.
    """
    for config in configs:
        packages.require_learner(config.learner)
        _require_of_robot(config, spec if config.commands is None else commanded(spec, config.commands))


def _require_of_robot(config: TrainConfig, spec: EnvSpec) -> None:
    Senses.of(spec, config.observation)  # refuses a robot that has none
    if config.observe is not None:
        config.observe.require(spec)
    if config.start_states is not None:
        config.start_states.require(spec)
        if config.start_states.planned is not None:
            require_bounds(config.start_states.planned.goal, spec, "start_states.planned.goal")
    if config.terrain is not None:
        config.terrain.require(spec)
    require_bounds(config.end_when, spec)
    require_bounds(config.end_when_lost, spec, "end_when_lost")
    if config.curriculum is not None:
        config.curriculum.require(spec)
        for name, goal in config.curriculum.goals.items():
            require_bounds(goal, spec, name)
