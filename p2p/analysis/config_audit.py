"""What a reward's configuration keeps from its policy, or takes from under it, before anything is trained."""

import re
from collections.abc import Iterable, Iterator

from p2p.contracts.commands import COMMAND_FEATURES
from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import ON_ROBOT
from p2p.contracts.training import TrainConfig

_READ = re.compile(r"""info\[\s*["'](\w+)["']|info\.get\(\s*["'](\w+)["']""")
_AXES = {"pitch_turns": "pitch", "yaw_turns": "yaw"}
"""Turns -> how the angle of a root joint about the same axis is called in an observation."""


def features_read(code: str) -> frozenset[str]:
    """Names that a reward's code reads of `info` as they are written out."""
    return frozenset(name for pair in _READ.findall(code) for name in pair if name)


def not_shown(names: Iterable[str], env: EnvSpec) -> tuple[str, ...]:
    """Time and turns among these features that the observation of `env` does not show, in alphabetical order."""
    return tuple(name for name in sorted(ON_ROBOT.intersection(names)) if not _shown(name, env))


def config_warnings(source: str, config: TrainConfig, env: EnvSpec) -> Iterator[str]:
    """What is likely to keep a policy from learning, in words.

    Args:
        source: Of the reward.
        config: It is trained with.
        env: Where.
    """
    told = set(config.observe.reads) if config.observe is not None else set()
    hidden = [name for name in not_shown(features_read(source), env) if name not in told]
    if hidden:
        yield (
            f"The reward reads {' and '.join(hidden)}, which the observation does not show: the policy cannot know it. "
            f'Tell it, with config_changes {{"observe": {{"features": [{", ".join(map(_quoted, hidden))}]}}}}.'
        )
    if config.commands is not None and COMMAND_FEATURES.isdisjoint(features_read(source)):
        yield (
            "The policy is told commands, and the reward pays for following none of them: it reads neither "
            "velocity_error nor another feature of commands."
        )


def _shown(feature: str, env: EnvSpec) -> bool:
    """Whether the observation holds the angle of a root joint that counts these turns."""
    axis = _AXES.get(feature)
    roots = {joint.name for joint in env.joints if joint.kind == "hinge" and joint.body == env.morphology.torso}
    return axis is not None and any(
        one.name in roots and one.quantity.startswith(f"angle, {axis}") for one in env.observation
    )


def _quoted(name: str) -> str:
    return f'"{name}"'
