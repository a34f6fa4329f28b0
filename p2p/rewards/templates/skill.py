"""Skills that a sentence can name, and their parameters."""

from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    """In the world: forward is +x, left is +y; for a spin, left is counter-clockwise from above."""

    FORWARD = "forward"
    BACKWARD = "backward"
    LEFT = "left"
    RIGHT = "right"


class Pace(StrEnum):
    """Pace without a stated number."""

    SLOW = "slow"
    MODERATE = "moderate"
    FAST = "fast"


class HeightLevel(StrEnum):
    """Torso height without a stated number."""

    LOW = "low"
    HIGH = "high"


class Manner(StrEnum):
    """Manner of a skill, apart from pace and direction."""

    SMOOTH = "smoothly"
    SAVING = "with little effort"
    NO_FALL = "without falling"
    UPRIGHT = "upright"
    IN_PLACE = "in place"
    STRAIGHT = "in a straight line"
    LANDING = "landing on the feet"
    CENTRED = "in the middle"


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of a skill; None if not stated."""

    direction: Direction | None = None
    gait: str | None = None
    """The verb of a movement: "walk", "run", "hop", "trot", "gallop", "crawl", "swim" or "move"."""
    pace: Pace | None = None
    speed: float | None = None
    """[m/s]."""
    turns: float | None = None
    """[turns], positive."""
    times: int | None = None
    repeatedly: bool = False
    highest: bool = False
    """As high as possible."""
    level: HeightLevel | None = None
    height: float | None = None
    """Of the torso above the floor; of a jump, under the lowest point [m]."""
    duration_s: float | None = None
    manners: frozenset[Manner] = frozenset()
    fastest: bool = False
    """As fast as possible: more than fast."""
    speed_range: tuple[float, float] | None = None
    """Lowest and highest speed that is right, where the sentence bounds it [m/s]; an open end is 0 or infinite."""
    height_range: tuple[float, float] | None = None
    """The same for the height of the torso [m]."""
    qualities: frozenset[str] = frozenset()
    """Names of `qualities.QUALITIES`, with a value after a colon where they take one: "no_jump", "at_most:2"."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One step of a sentence: a template's name and its parameters."""

    name: str
    params: Params = Params()
