"""Robots of the calibration set, their sentences, and the sentences' meaning in numbers.

The numbers say what a person means by a sentence for this robot. They are written down here, and not taken from the
criteria they are held against.
"""

from dataclasses import dataclass
from math import inf, pi

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KnownSentence:
    """One sentence and its meaning."""

    sentence: str
    skill: str
    """"move", "hop", "crawl", "still", "jump", "flip", "spin", "rear" or "roll"."""
    low: float = 1.0
    """Least of it: speed [m/s], height [m], turns, or time [s]."""
    high: float = inf
    """Most of it."""
    way: float = 1.0
    """1 forward, to the left, or backward for a flip; -1 the other way; 0 where either will do."""
    sideways: bool = False
    times: int = 1
    exact: bool = False
    """Whether a number or an angle is said, so that more of it is wrong too."""
    lands: bool = False
    """Whether a landing is asked for."""

    def along(self, amount: float) -> float:
        """Amount in the requested direction, positive along it."""
        return amount * self.way if self.way else abs(amount)


@dataclass(frozen=True)
class Robot:
    """A robot of the set."""

    env_id: str
    asked: tuple[KnownSentence, ...]
    settles: bool = False
    """Whether it stands by itself."""
    crouch: tuple[float, ...] = ()
    """Joint angles of a crouch, relative to standing [rad]."""
    fall: tuple[str, float] = ("pitch", -pi / 2)
    """How it lies when it has fallen forward, or to its right: path, and angle [rad]."""
    fall_back: tuple[str, float] = ("pitch", pi / 2)
    """How it lies when it has fallen the other way."""
    back: tuple[str, float] = ("pitch", pi)
    """How it lies on its back."""
    seconds: float = 6.0
    """Length of its clips [s]."""
    sideways: bool = False
    """Whether it can go and turn to the left and right."""
    floor: bool = True
    steps: bool = True
    """Whether it has legs that step in turn."""
    bounds: bool = False
    """Whether its gait is one of bounds, as the swing of its joints does not lift its feet."""
    bounce: float = 0.1
    """Height of its hops [m]."""

    def least(self, skill: str, way: float = 1.0) -> float | None:
        """Largest lower bound among the sentences of a skill; None if there is none."""
        amounts = [a.low for a in self.asked if a.skill == skill and a.way == way and not a.sideways]
        return max(amounts, default=None)

    def asks(self, skill: str) -> bool:
        """Whether any sentence asks for a skill."""
        return any(asked.skill == skill for asked in self.asked)


_FLIPS = (
    KnownSentence("do a backflip", "flip"),
    KnownSentence("do a backflip and land on your feet", "flip", lands=True),
    KnownSentence("do two backflips", "flip", low=2.0, exact=True),
    KnownSentence("do a front flip", "flip", way=-1.0),
)
_STILL = KnownSentence("stand still for 5 seconds", "still")
CHEETAH = Robot(
    env_id="HalfCheetah-v5",
    asked=(
        KnownSentence("run forward as fast as you can", "move", low=3.0),
        KnownSentence("run backward", "move", low=2.0, way=-1.0),
        KnownSentence("move forward slowly", "move", low=0.3, high=0.7),
        KnownSentence("move at 2 m/s", "move", low=2.0, high=2.0),
        KnownSentence("hop forward without falling", "hop", low=0.7),
        KnownSentence("crawl forward", "crawl", low=0.5),
        _STILL,
        KnownSentence("jump", "jump", low=0.2),
        KnownSentence("jump 0.3 m high", "jump", low=0.3),
        KnownSentence("jump 3 times", "jump", low=0.2, times=3, exact=True),
        KnownSentence("stand on your hind legs", "rear", low=2.0),
        KnownSentence("stand on your hind legs for 3 seconds", "rear", low=3.0),
        KnownSentence("roll forward on the ground", "roll", way=-1.0),
        *_FLIPS,
    ),
    settles=True,
    fall_back=("pitch", pi),
    crouch=(-0.5, 0.7, 0.7, 0.7, -1.0, -0.3),
)
HOPPER = Robot(
    env_id="Hopper-v5",
    steps=False,
    bounds=True,
    crouch=(-0.5, -1.0, 0.5),
    asked=(
        KnownSentence("run forward as fast as you can", "move", low=1.4),
        KnownSentence("run backward", "move", low=1.4, way=-1.0),
        KnownSentence("move forward slowly", "move", low=0.3, high=0.8),
        KnownSentence("hop forward without falling", "hop", low=1.0),
        _STILL,
        KnownSentence("jump", "jump", low=0.15),
        KnownSentence("jump 3 times", "jump", low=0.15, times=3, exact=True),
        *_FLIPS,
    ),
)
WALKER = Robot(
    env_id="Walker2d-v5",
    crouch=(-0.5, -1.0, 0.5, -0.5, -1.0, 0.5),
    asked=(
        KnownSentence("walk forward", "move", low=0.7, high=1.6),
        KnownSentence("walk forward slowly, upright", "move", low=0.2, high=0.8),
        KnownSentence("run forward", "move", low=1.4),
        KnownSentence("walk backward", "move", low=0.7, high=1.6, way=-1.0),
        _STILL,
        KnownSentence("jump", "jump", low=0.1),
        KnownSentence("jump 3 times", "jump", low=0.1, times=3, exact=True),
        *_FLIPS,
    ),
)
_TURNS_TWICE = KnownSentence("spin left twice", "spin", low=2.0, exact=True)
_SPINS = (
    KnownSentence("spin in place", "spin", way=0.0),
    KnownSentence("spin clockwise", "spin", way=-1.0),
    KnownSentence("turn right 180 degrees", "spin", low=0.5, way=-1.0, exact=True),
)
ANT = Robot(
    env_id="Ant-v5",
    asked=(
        KnownSentence("walk forward", "move", low=0.5),
        KnownSentence("walk backward", "move", low=0.5, way=-1.0),
        KnownSentence("run forward as fast as you can", "move", low=1.0),
        KnownSentence("walk to the left", "move", low=0.5, sideways=True),
        KnownSentence("walk to the right", "move", low=0.5, way=-1.0, sideways=True),
        KnownSentence("crawl forward", "crawl", low=0.5),
        _STILL,
        KnownSentence("jump", "jump", low=0.15),
        KnownSentence("jump 3 times", "jump", low=0.15, times=3, exact=True),
        KnownSentence("roll over to the right", "roll"),
        *_SPINS,
        _TURNS_TWICE,
    ),
    settles=True,
    crouch=(0.0, -0.42, 0.0, 0.42, 0.0, 0.42, 0.0, -0.42),
    fall=("roll", pi),
    fall_back=("roll", -pi),
    back=("roll", pi),
    sideways=True,
)
HUMANOID = Robot(
    env_id="Humanoid-v5",
    bounds=True,
    bounce=0.06,
    crouch=(*(0.0,) * 3, *(0.0, 0.0, -0.5, -1.0) * 2, *(0.0,) * 6),
    asked=(
        KnownSentence("walk forward", "move", low=0.5),
        KnownSentence("walk to the left", "move", low=0.5, sideways=True),
        KnownSentence("run forward as fast as you can", "move", low=1.5),
        _STILL,
        KnownSentence("jump", "jump", low=0.1),
        KnownSentence("jump 3 times", "jump", low=0.1, times=3, exact=True),
        *_SPINS,
        _TURNS_TWICE,
    ),
    fall=("roll", pi / 2),
    fall_back=("roll", -pi / 2),
    back=("pitch", pi / 2),
    sideways=True,
)
SWIMMER = Robot(
    env_id="Swimmer-v5",
    asked=(
        KnownSentence("swim forward", "move", low=0.1),
        KnownSentence("swim forward as fast as you can", "move", low=0.27),
        KnownSentence("swim backward", "move", low=0.1, way=-1.0),
        KnownSentence("stay still", "still"),
        *_SPINS,
    ),
    seconds=10.0,
    sideways=True,
    floor=False,
    steps=False,
)
ROBOTS = {robot.env_id: robot for robot in (CHEETAH, HOPPER, WALKER, ANT, HUMANOID, SWIMMER)}
