"""What a mutation is: a change of a positive clip, and what the changed clip is for each sentence, with the reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.known_motions import ClaimKind
from p2p.lab.contracts.calibration import MutationFamily
from p2p.worker.known_motions.motion import Motion
from p2p.worker.known_motions.motion_player import MotionPlayer, Played
from p2p.worker.known_motions.robots import KnownSentence, Robot
from p2p.worker.known_motions.scene import UNCLEAR, Random, Scene

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BaseClip:
    """A clip that does what some sentences ask for."""

    robot: Robot
    stage: MotionPlayer
    scene: Scene
    motion: Motion
    played: Played

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return self.stage.spec.dt

    @property
    def t(self) -> Floats:
        """Times of the states, shape (T + 1,) [s]."""
        return self.motion.t

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return self.motion.seconds


@dataclass(frozen=True)
class Mutant:
    """A mutated clip."""

    played: Played
    parameters: dict[str, float] = field(default_factory=dict)
    """What was drawn."""
    speed_factor: float = 1.0
    """Mean velocity, as a multiple of the base's."""


Make = Callable[[BaseClip, Random], Mutant | None]
"""None where the robot or the motion has nothing to change in this way."""
When = Callable[[Robot, KnownSentence], bool]


def always(_robot: Robot, _asked: KnownSentence) -> bool:
    """True of every sentence."""
    return True


@dataclass(frozen=True)
class Truth:
    """What a mutated clip is for the sentences of some skills."""

    skills: tuple[str, ...]
    kind: ClaimKind
    reason: str
    when: When = always
    """Further condition on the sentence."""


@dataclass(frozen=True)
class Mutation:
    """One change.

    What is asked of the changed clip follows from the change and from the sentence, never from a measurement of the
    clip. The first of `truths` that fits a sentence holds; where none does, nothing is claimed.
    """

    key: str
    """In the ids of its clips."""
    family: MutationFamily
    words: str
    make: Make
    truths: tuple[Truth, ...]

    def truth_for(self, robot: Robot, asked: KnownSentence) -> Truth | None:
        """What holds for a sentence that the base is a positive for; None where that is not clear."""
        return next((t for t in self.truths if asked.skill in t.skills and t.when(robot, asked)), None)

    def kinds(self, base: BaseClip, mutant: Mutant) -> Mapping[str, ClaimKind | None]:
        """What the mutant is for each sentence that the base is a positive for."""
        found: dict[str, ClaimKind | None] = {}
        for asked in base.robot.asked:
            if base.scene.kinds.get(asked.sentence) is ClaimKind.POSITIVE:
                truth = self.truth_for(base.robot, asked)
                allowed = truth is not None and _within(asked, base.scene, mutant.speed_factor)
                found[asked.sentence] = truth.kind if truth is not None and allowed else UNCLEAR
        return found


def _within(asked: KnownSentence, scene: Scene, factor: float) -> bool:
    """Whether a sentence that asks for a speed allows that much more or less of it."""
    if factor == 1.0 or asked.skill not in ("move", "hop", "crawl"):
        return True
    speed = abs(scene.parameters["vy" if asked.sideways else "vx"]) * factor
    if asked.low == asked.high:
        return abs(speed / asked.low - 1.0) <= 0.04
    return 1.06 * asked.low <= speed <= 0.94 * asked.high
