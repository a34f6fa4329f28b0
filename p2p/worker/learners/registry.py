"""Learners by name; torch is imported for the one that needs it."""

from gymnasium.spaces import Box

from p2p import registry
from p2p.contracts.training import TrainConfig
from p2p.worker.learners.learner import Learner

LEARNERS: dict[str, str] = {
    "fast": "p2p.worker.learners.ppo:FastLearner",
    "sb3": "p2p.worker.learners.sb3:Sb3Learner",
}


def make_learner(name: str, config: TrainConfig, observation_space: Box, action_space: Box) -> Learner:
    """New learner for these spaces.

    Raises:
        UnknownName: nothing is registered under `name`.
        MissingExtra: what it needs is not installed.
    """
    learner: Learner = registry.load("learner", LEARNERS, name).for_spaces(config, observation_space, action_space)
    return learner
