"""What a policy must be told to follow a sentence: the order of its steps, its counts, and the turns it asks for."""

import re
from collections.abc import Sequence

from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import ON_ROBOT, Milestone, Observe
from p2p.rewards.templates.plan import Plan

_READ = re.compile(r'info\["(\w+)"\]')
_AXES = {"pitch_turns": "pitch", "yaw_turns": "yaw"}
"""Turns -> how the angle of a root joint about the same axis is called in an observation."""


def observed(plans: Sequence[Plan], env: EnvSpec) -> Observe | None:
    """What the reward of these plans remembers and the observation does not show; None where that is nothing."""
    milestones = tuple(plan.milestone for plan in plans[:-1])
    counter = next((plan.counter for plan in plans if plan.counter), None)
    texts = [text for plan in plans for text in (*(term.expression for term in plan.terms), *plan.definitions.values())]
    read = {name for text in texts for name in _READ.findall(text)} | {one.feature for one in milestones}
    features = tuple(name for name in sorted(ON_ROBOT) if name in read and not _shown(name, env))
    if not (features or milestones or counter):
        return None
    return Observe(features=features, milestones=milestones, counter=counter)


def in_words(observe: Observe) -> str:
    """What the policy is told, as a sentence."""
    steps: tuple[Milestone, ...] = observe.milestones
    told = [name.replace("_", " ") for name in observe.features]
    told += [f"which of the {len(steps) + 1} steps it is in, and for how long"] if steps else []
    told += ["how many it has counted"] if observe.counter else []
    text = f"The policy is told {', '.join(told)}: no single state shows it."
    simulated = [one.name for one in observe.inputs if not one.on_robot]
    return text + (f" A robot cannot compute {', '.join(simulated)} by itself." if simulated else "")


def _shown(feature: str, env: EnvSpec) -> bool:
    """Whether the observation holds the angle of a root joint that counts these turns."""
    axis = _AXES.get(feature)
    roots = {joint.name for joint in env.joints if joint.kind == "hinge" and joint.body == env.morphology.torso}
    return axis is not None and any(
        one.name in roots and one.quantity.startswith(f"angle, {axis}") for one in env.observation
    )
