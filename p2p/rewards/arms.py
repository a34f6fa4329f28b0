"""Which arms a body has, by the names of its parts. Front ends load this: no numpy."""

import re
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from p2p.contracts.env import bodies_of_legs

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.env import EnvSpec

SIDES = {"left": frozenset({"left", "l"}), "right": frozenset({"right", "r"})}
"""Side of an arm -> words in names that say so."""
_WORDS = frozenset({"arm", "uarm", "larm", "forearm", "shoulder", "sho", "elbow", "wrist", "hand", "palm"})


class Arm(NamedTuple):
    """An arm of a body that also has legs."""

    hand: str
    """Geom at its end: called a hand, else the last of its last body."""
    shoulder: str
    """Body at which it begins."""
    joints: tuple[str, ...]
    """Hinges from the shoulder on."""
    reach: float
    """How far one of its servos goes from the stance at most [rad]; infinite where actions ask for no positions."""


def arms_of(spec: "EnvSpec") -> dict[str, Arm]:
    """Arms by side, "left" and "right", as far as the names of bodies and joints tell.

    An arm is a chain of bodies, not of a leg, whose names have a side and a word such as "arm" or "elbow" in them. Of
    several chains that part, as fingers do, it is what they have in common.
    """
    if not spec.morphology.feet:
        return {}
    legs = {body for bodies in bodies_of_legs(spec).values() for body in bodies}
    parents = {body.name: body.parent for body in spec.bodies}
    words: dict[str, set[str]] = {body: _words(body) for body in parents}
    for joint in spec.joints:
        if joint.body in words:
            words[joint.body] |= _words(joint.name)
    found: dict[str, Arm] = {}
    for side, said in SIDES.items():
        chains = []
        for tip in parents.keys() - parents.values() - legs:
            chain = [tip]
            while parents.get(chain[-1], "world") not in {"world", spec.morphology.torso}:
                chain.append(parents[chain[-1]])
            own = [body for body in reversed(chain) if said & words[body]]
            if any(_WORDS & words[body] for body in own):
                chains.append(own)
        if chains:
            bodies = [body for body in chains[0] if all(body in chain for chain in chains)]
            found |= {side: _arm(bodies, spec)} if bodies else {}
    return found


def _arm(bodies: list[str], spec: "EnvSpec") -> Arm:
    """Of bodies from the shoulder to the hand."""
    geoms = [geom.name for geom in spec.geoms if geom.body == bodies[-1] and geom.name not in bodies]
    hands = [name for name in geoms if "hand" in _words(name)]
    joints = tuple(joint.name for joint in spec.joints if joint.kind == "hinge" and joint.body in bodies)
    control = spec.robot.control if spec.robot is not None else ()
    asked = [one.scale for one, action in zip(control, spec.action, strict=False) if action.joint in joints]
    return Arm((hands or geoms or bodies)[-1], bodies[0], joints, max(asked, default=inf))


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
