"""Colour limbs so that left and right, front and back can be told apart."""

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.worker.engine.morphology import index_of, name_of

Colour = tuple[float, float, float, float]

RED = (0.82, 0.12, 0.12, 1.0)
ORANGE = (0.96, 0.58, 0.05, 1.0)
GREEN = (0.12, 0.58, 0.22, 1.0)
BLUE = (0.13, 0.36, 0.85, 1.0)
COLOURS: Mapping[str, tuple[str, Colour]] = {
    "left": ("green", GREEN),
    "right": ("blue", BLUE),
    "front": ("red", RED),
    "back": ("blue", BLUE),
    "front left": ("red", RED),
    "front right": ("orange", ORANGE),
    "back left": ("green", GREEN),
    "back right": ("blue", BLUE),
}
"""Name and value of the colour of each limb."""
MANY_FEET = 4
"""From as many feet on front and back are told apart as well as left and right."""
OFF_CENTRE = 0.1
"""From this far off the torso's centre a limb is on one side, as a share of the farthest."""


@dataclass(frozen=True)
class Limb:
    """A leg or an arm."""

    side: str
    """A key of `COLOURS`."""
    bodies: frozenset[int]
    """From its last body up to, and without, the first that it shares with another limb or the torso."""

    @property
    def colour(self) -> Colour:
        """Colour of the limb."""
        return COLOURS[self.side][1]


def mark_limbs(model: mujoco.MjModel, spec: EnvSpec) -> mujoco.MjModel:
    """Model with coloured limbs, if it has several that can be told apart; otherwise unchanged."""
    limbs = limbs_of(model, spec)
    if not limbs:
        return model
    marked = copy.copy(model)
    for limb in limbs:
        geoms = np.isin(model.geom_bodyid, list(limb.bodies))
        marked.geom_rgba[geoms] = limb.colour
        marked.geom_matid[geoms] = -1
    return marked


def limbs_in_words(limbs: tuple[Limb, ...]) -> str:
    """Legend of the colours: "left green, right blue"; empty without limbs."""
    sides = [side for side in COLOURS if any(limb.side == side for limb in limbs)]
    if sides == ["front left", "front right", "back left", "back right"]:
        front_left, front_right, back_left, back_right = (COLOURS[side][0] for side in sides)
        return f"left/right legs: front {front_left}/{front_right}, back {back_left}/{back_right}"
    return ", ".join(f"{side} {COLOURS[side][0]}" for side in sides)


def limbs_of(model: mujoco.MjModel, spec: EnvSpec) -> tuple[Limb, ...]:
    """Limbs of a robot with two feet or more, if all can be told apart.

    Sides are where limbs are at rest, seen from the torso: names of models lie (of the ant's "front" legs one is
    behind). Where all are in one plane, a name with "left" in it tells left from right.
    """
    if len(spec.morphology.feet) < 2:
        return ()
    torso = index_of(model, "body", spec.morphology.torso)
    feet = {int(model.geom_bodyid[index_of(model, "geom", name)]) for name in spec.morphology.feet}
    chains = {
        last: chain
        for last, chain in _chains(model, torso).items()
        if feet & set(chain) or any(side in name_of(model, "body", last).lower() for side in ("left", "right"))
    }
    forward, left = _places(model, spec, torso, list(chains))
    across = _named(left, "left", "right")
    if not across:
        by_name = {last: "left" if "left" in name_of(model, "body", last).lower() else "right" for last in chains}
        across = by_name if len(set(by_name.values())) > 1 else {}
    along = _named(forward, "front", "back")
    if across and along and len(spec.morphology.feet) >= MANY_FEET:
        sides = {last: f"{along[last]} {across[last]}" for last in chains}
    else:
        sides = across or along
    return tuple(Limb(sides[last], frozenset(bodies)) for last, bodies in chains.items()) if sides else ()


def limb_at(limbs: tuple[Limb, ...], body: int) -> Limb | None:
    """The limb that a body belongs to."""
    return next((limb for limb in limbs if body in limb.bodies), None)


def _chains(model: mujoco.MjModel, torso: int) -> dict[int, list[int]]:
    """Bodies from each outermost one up to the torso, without bodies of two chains."""
    parents = {int(parent) for parent in model.body_parentid[1:]}
    chains = {}
    for last in range(1, model.nbody):
        body = last
        chain = []
        while body not in (torso, 0):
            chain.append(body)
            body = int(model.body_parentid[body])
        if last not in parents and body == torso and chain:
            chains[last] = chain
    shared = Counter(body for chain in chains.values() for body in chain)
    return {last: [body for body in chain if shared[body] == 1] for last, chain in chains.items()}


def _places(
    model: mujoco.MjModel, spec: EnvSpec, torso: int, bodies: list[int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Distance of each body ahead of the torso at rest, and to its left [m]."""
    data = mujoco.MjData(model)
    turn = np.empty(9)
    mujoco.mj_kinematics(model, data)
    mujoco.mju_quat2Mat(turn, np.array(spec.morphology.upright))
    axes: NDArray[np.float64] = data.xmat[torso].reshape(3, 3) @ turn.reshape(3, 3).T
    offsets = {body: (data.xipos[body] - data.xpos[torso]) @ axes for body in bodies}
    return {body: float(o[0]) for body, o in offsets.items()}, {body: float(o[1]) for body, o in offsets.items()}


def _named(offsets: Mapping[int, float], positive: str, negative: str) -> dict[int, str]:
    """The side of each, by the sign of its offset; empty where one is in the middle or all are on one side."""
    farthest = max(map(abs, offsets.values()), default=0.0)
    least = max(OFF_CENTRE * farthest, 1e-3)
    if any(abs(offset) < least for offset in offsets.values()) or len({o > 0 for o in offsets.values()}) == 1:
        return {}
    return {body: positive if offset > 0 else negative for body, offset in offsets.items()}
