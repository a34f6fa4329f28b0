"""Searches for motions that meet the criteria of a sentence and do not do what it asks for."""

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent

ATTACKED: tuple[tuple[str, str], ...] = (
    ("HalfCheetah-v5", "run forward as fast as you can"),
    ("HalfCheetah-v5", "move at 2 m/s"),
    ("HalfCheetah-v5", "hop forward without falling"),
    ("HalfCheetah-v5", "crawl forward"),
    ("HalfCheetah-v5", "stand still for 5 seconds"),
    ("HalfCheetah-v5", "stand on your hind legs"),
    ("HalfCheetah-v5", "do a backflip"),
    ("HalfCheetah-v5", "jump 3 times"),
    ("Hopper-v5", "hop forward without falling"),
    ("Hopper-v5", "run forward as fast as you can"),
    ("Hopper-v5", "do a backflip and land on your feet"),
    ("Walker2d-v5", "walk forward"),
    ("Walker2d-v5", "jump"),
    ("Ant-v5", "walk forward"),
    ("Ant-v5", "walk to the left"),
    ("Ant-v5", "spin in place"),
    ("Ant-v5", "turn right 180 degrees"),
    ("Humanoid-v5", "walk forward"),
    ("Swimmer-v5", "swim forward"),
    ("Swimmer-v5", "stay still"),
)
"""Robots and sentences of the table in docs/attacks.md; criteria were mended on what it showed."""
HELD_BACK: tuple[tuple[str, str], ...] = (
    ("HalfCheetah-v5", "run backward"),
    ("HalfCheetah-v5", "move forward slowly"),
    ("HalfCheetah-v5", "jump"),
    ("HalfCheetah-v5", "jump 0.3 m high"),
    ("HalfCheetah-v5", "stand on your hind legs for 3 seconds"),
    ("HalfCheetah-v5", "do a backflip and land on your feet"),
    ("HalfCheetah-v5", "do two backflips"),
    ("HalfCheetah-v5", "do a front flip"),
    ("Hopper-v5", "run backward"),
    ("Hopper-v5", "move forward slowly"),
    ("Hopper-v5", "stand still for 5 seconds"),
    ("Hopper-v5", "jump"),
    ("Hopper-v5", "jump 3 times"),
    ("Hopper-v5", "do a backflip"),
    ("Hopper-v5", "do two backflips"),
    ("Hopper-v5", "do a front flip"),
    ("Walker2d-v5", "walk forward slowly, upright"),
    ("Walker2d-v5", "run forward"),
    ("Walker2d-v5", "walk backward"),
    ("Walker2d-v5", "stand still for 5 seconds"),
    ("Walker2d-v5", "jump 3 times"),
    ("Walker2d-v5", "do a backflip"),
    ("Walker2d-v5", "do a backflip and land on your feet"),
    ("Walker2d-v5", "do two backflips"),
    ("Walker2d-v5", "do a front flip"),
    ("Ant-v5", "walk backward"),
    ("Ant-v5", "run forward as fast as you can"),
    ("Ant-v5", "walk to the right"),
    ("Ant-v5", "crawl forward"),
    ("Ant-v5", "stand still for 5 seconds"),
    ("Ant-v5", "jump"),
    ("Ant-v5", "jump 3 times"),
    ("Ant-v5", "spin clockwise"),
    ("Ant-v5", "spin left twice"),
    ("Humanoid-v5", "walk to the left"),
    ("Humanoid-v5", "run forward as fast as you can"),
    ("Humanoid-v5", "stand still for 5 seconds"),
    ("Humanoid-v5", "jump"),
    ("Humanoid-v5", "jump 3 times"),
    ("Humanoid-v5", "spin in place"),
    ("Humanoid-v5", "spin clockwise"),
    ("Humanoid-v5", "turn right 180 degrees"),
    ("Humanoid-v5", "spin left twice"),
    ("Swimmer-v5", "swim forward as fast as you can"),
    ("Swimmer-v5", "swim backward"),
    ("Swimmer-v5", "spin in place"),
    ("Swimmer-v5", "spin clockwise"),
    ("Swimmer-v5", "turn right 180 degrees"),
)
"""The other sentences of the calibration set whose truth can be told. No criterion was mended on what attacks of them
find; on the set's own clips of them, criteria were."""
MOST_FINDS = 5
"""Kept of one search, each wrong in another respect."""


class AttackRequest(Contract):
    """What is to be attacked."""

    env_id: str
    intent: Intent
    """The sentence and the criteria that are attacked."""
    tries: int = Field(default=250, ge=1, le=100_000)
    """Motions that are played."""
    seed: int = Field(default=1, ge=0)
    pass_threshold: float = 0.8


class AttackFind(Contract):
    """A motion that passes and is wrong."""

    clip_id: str
    wrong: tuple[str, ...]
    """In what, the worst first, by checks of the simulator's states."""
    score: float
    made_from: dict[str, tuple[float, float, float]]
    """Disturbance -> strength, time and rate, each in [0, 1]."""
    found_at: int
    """Number of the try."""


class Attack(Contract):
    """What a search found (`result.json`)."""

    env_id: str
    sentence: str
    seed: int
    tries: int
    passes: int
    """Motions that met the criteria."""
    wrong_passes: int
    """Of these, the ones that are wrong beyond doubt."""
    first_at: int | None
    """Number of the first try that passed and was wrong."""
    by_wrong: dict[str, int]
    """Main respect in which they were wrong -> how many."""
    finds: tuple[AttackFind, ...]
    """At most `MOST_FINDS`, filmed on request."""
    seconds: float
