"""Scene: a motion, its recipe, and its kind for each sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from p2p.contracts.known_motions import ClaimKind
from p2p.worker.known_motions.motion import Motion
from p2p.worker.known_motions.robots import Robot

Random = np.random.Generator
Kinds = Mapping[str, ClaimKind | None]
"""Key of a sentence -> what the scene is for it; None where that is not clear. All others it is a negative for."""
POSITIVE = ClaimKind.POSITIVE
NEGATIVE = ClaimKind.NEGATIVE
NEAR_MISS = ClaimKind.NEAR_MISS
EXPLOIT = ClaimKind.EXPLOIT
UNCLEAR = None
"""No judge is asked."""


@dataclass(frozen=True)
class Scene:
    """One motion with its truth."""

    build: Callable[[Motion], Motion]
    """From the robot standing still to the motion."""
    parameters: dict[str, float] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=dict)

    def but(self, kinds: Kinds) -> Self:
        """The same scene with other kinds for some sentences."""
        return replace(self, kinds={**self.kinds, **kinds})


@dataclass(frozen=True)
class Recipe:
    """Scenes of one kind, with different random draws."""

    name: str
    make: Callable[[Robot, Random], Scene]


def every(robot: Robot, skills: tuple[str, ...], kind: ClaimKind | None) -> dict[str, ClaimKind | None]:
    """The same kind for all sentences of some skills."""
    return {asked.sentence: kind for asked in robot.asked if asked.skill in skills}


def only(robot: Robot, skill: str, kind: ClaimKind | None, way: float = 0.0) -> dict[str, ClaimKind | None]:
    """The same kind for one skill's sentences; with `way`, only for those of that direction, or of either."""
    return {a.sentence: kind for a in robot.asked if a.skill == skill and (way == 0.0 or a.way * way >= 0)}


def cheating(kinds: Kinds) -> dict[str, ClaimKind | None]:
    """Kinds of a trick with the right numbers: exploits instead of positives."""
    return {sentence: EXPLOIT if kind is POSITIVE else kind for sentence, kind in kinds.items()}


def spoilt(kinds: Kinds) -> dict[str, ClaimKind | None]:
    """Kinds of a near-miss variant: near misses instead of positives."""
    return {sentence: NEAR_MISS if kind is POSITIVE else kind for sentence, kind in kinds.items()}


def amount_kind(amount: float, low: float, high: float = float("inf")) -> ClaimKind | None:
    """Kind of an amount for a sentence with bounds `low` and `high`, both positive.

    The wrong way is a near miss where it would be enough the right way; so is some 80 % of what is asked, or 125 %.
    Close to a limit nothing is claimed.
    """
    if amount < 0.0:
        return NEAR_MISS if amount_kind(-amount, low, high) is POSITIVE else NEGATIVE
    if 1.06 * low <= amount <= 0.94 * high or (low == high and abs(amount / low - 1.0) <= 0.04):
        return POSITIVE
    if 0.5 * low <= amount <= 0.84 * low or 1.2 * high <= amount <= 1.6 * high:
        return NEAR_MISS
    return NEGATIVE if amount < 0.5 * low or amount > 1.6 * high else None


def speed_kinds(robot: Robot, vx: float = 0.0, vy: float = 0.0) -> dict[str, ClaimKind | None]:
    """Kind of steady travel on the feet for all travel sentences.

    Args:
        robot: Who travels.
        vx: Mean velocity forward [m/s].
        vy: Mean velocity to the left [m/s].
    """
    found: dict[str, ClaimKind | None] = {}
    for asked in robot.asked:
        if asked.skill == "move":
            along, across = (vy, vx) if asked.sideways else (vx, vy)
            kind = amount_kind(along * asked.way, asked.low, asked.high)
            if kind is POSITIVE and abs(across) > 0.2 * asked.low:
                strays = robot.floor and abs(across) > max(0.8 * asked.low, 0.5)
                kind = NEAR_MISS if strays else UNCLEAR
            found[asked.sentence] = kind
    return found
