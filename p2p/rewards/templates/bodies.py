"""Facts about a robot for the built-in author: fast and slow speeds, low heights, falls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from p2p.contracts.commands import Commands
from p2p.rewards.arms import Arm
from p2p.rewards.legs import FourFeet
from p2p.rewards.templates.skill import Pace


@dataclass(frozen=True, slots=True)
class Band:
    """An interval of a quantity; an open end is infinite."""

    low: float
    high: float = inf


@dataclass(frozen=True, slots=True)
class Pacing:
    """One pace: the judge's range, and the reward's aim, which lies safely inside it.

    The reward either grows linearly with the velocity, clipped to [-2, top] and divided by `scale`, or is a tolerance
    around `aim`.
    """

    judged: Band
    """[m/s]."""
    aim: Band | None = None
    """[m/s]; None rewards linearly."""
    margin: float = 1.0
    """Of the tolerance around `aim` [m/s]."""
    top: float = 10.0
    """Velocity above which nothing more is gained [m/s]."""
    scale: float = 5.0
    """Velocity that is worth 1 [m/s]."""
    fewest_steps: int = 0
    """Fewest training steps of a speed within `judged`."""


@dataclass(frozen=True, slots=True)
class Upright:
    """Limits within which the robot has not fallen."""

    up: float = 0.7
    """Lowest z of the torso's up-vector."""
    share: float = 0.9
    """Share of the time it must hold."""
    height: float | None = None
    """Lowest torso height [m]; None where lying low is no fall."""


@dataclass(frozen=True, slots=True)
class JumpLimits:
    """Limits of a jump. Clearances are of the robot's lowest point above its resting height [m]."""

    once: float = 0.2
    high: float = 0.5
    lift: float = 0.5
    """Clearance above which nothing more is gained."""
    lift_weight: float = 2.0
    rise: float = 1.2
    """Torso height to aim at."""
    rise_margin: float = 0.6
    drift: float = 3.0
    """Largest distance from the start that is still "in place" [m]."""
    drift_weight: float = 0.1
    """Weight of the distance from the start."""
    single_drift_weight: float | None = None
    """The same in a jump that another step follows; None takes that."""
    slip_weight: float = 0.0
    """Weight of the horizontal speed."""
    alive_weight: float | None = None
    """Weight of being on the feet in single jumps, where the usual one has it leap and fall, or stay on the floor; a
    larger one than usual is for those of `once` alone. None takes the usual one."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What a robot from a model file is to reach."""

    noun: str
    """What it is called: "box"."""
    in_words: str
    """With an article, and its name where that is another: "a box called 'crate'"."""
    words: frozenset[str]
    """Words in the names of its body and its geoms."""
    shapes: frozenset[str]
    """Kinds of its geoms, as MuJoCo names them."""
    radius: float
    """As `Morphology.target_radius` [m]."""


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """Facts of one environment for the templates. Sources: measured policies, or marked proposals."""

    noun: str = "the robot"
    skills: frozenset[str] = frozenset()
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Skill -> why this robot cannot do it, where it is not plain from its features."""
    gaits: frozenset[str] = frozenset({"move", "walk", "run", "hop", "gallop", "crawl"})
    gate: str = "1.0"
    """Expression in [0, 1] of how well it is on its feet; multiplies what it is rewarded for."""
    gate_latex: str = ""
    alive: str | None = None
    """Expression paid at every step; None pays nothing for merely standing."""
    alive_weight: float = 0.0
    main_weight: float = 1.0
    effort: float = 0.05
    """Weight of the control effort."""
    upright: Upright | None = Upright()
    sideways: float | None = None
    """Largest mean velocity across the direction asked for [m/s]; None where it cannot drift, or may."""
    paces: Mapping[Pace, Pacing] = field(default_factory=dict)
    backward: Mapping[Pace, Pacing] = field(default_factory=dict)
    """Where they differ from `paces`."""
    hop: Pacing | None = None
    """What "hop" is judged by; None takes the pace's."""
    crawl: Pacing = Pacing(judged=Band(0.5), aim=Band(1.0, 2.0))
    stand: Band = Band(0.0)
    """Torso height of standing [m]."""
    low: float = 0.0
    """Torso height that counts as low [m]."""
    high: float = 0.0
    """Torso height that counts as high [m]."""
    jump: JumpLimits = JumpLimits()
    turn_s: float = 3.5
    """Time for a turn, with what starting, stopping and staying on the spot take [s]."""
    still_drift: float = 0.3
    """How far from its start standing still may drift [m]; trained cheetahs get 0.09 m away."""
    glides: float | None = None
    """Mean speed at which it may still glide in the second half of standing still [m/s]; None if it does not glide."""
    spin_drift: float = 1.0
    """How far from its start a spin may get where "in place" is not said [m]."""
    terminates: bool = False
    """End training episodes on a fall, for skills on its feet."""
    fallen: float | None = None
    """Torso height below which a robot from a model file has fallen [m]."""
    budgets: Mapping[str, int] = field(default_factory=dict)
    """Skill -> training steps."""
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Skill -> fields of `TrainConfig` that take the place of those of the robot's preset."""
    sequence_budget: int = 0
    """Fewest training steps of a sequence."""
    judged_s: float = 5.0
    """Length of a judged episode [s]."""
    env_id: str = ""
    features: frozenset[str] = frozenset()
    dt: float = 0.05
    feet_names: tuple[str, ...] = ()
    legs: int = 0
    """Bodies that its feet are on: one may have several."""
    joints: tuple[str, ...] = ()
    """Hinges between its parts."""
    described: bool = False
    """Whether it was described from a model file."""
    free: bool = False
    """Whether its base moves and turns freely."""
    standing: float = 1.0
    """Height of the torso in the stance [m]."""
    arms: Mapping[str, Arm] = field(default_factory=dict)
    """By side, "left" and "right"; none for a robot that is an arm."""
    part_names: frozenset[str] = frozenset()
    """Words in the names of its bodies, joints and geoms, such as "arm" of `right_upper_arm`."""
    four_feet: FourFeet | None = None
    """The feet of a four-legged body, by where they are."""
    thing: Thing | None = None
    """What it is to reach, of a robot that was described from a model file."""
    commands: Commands | None = None
    """What its session tells it to follow; None where the session says nothing of it."""

    def has(self, *names: str) -> bool:
        """Whether all these features are measured on the robot."""
        return self.features.issuperset(names)

    @property
    def swims(self) -> bool:
        """Whether nothing but water holds it."""
        return "swim" in self.gaits

    @property
    def feet(self) -> int:
        """Number of feet it stands on."""
        return len(self.feet_names)

    def pair(self, one: str, other: str) -> str:
        """Two feet as features name them: in the order of the robot's feet."""
        return ":".join(sorted((one, other), key=self.feet_names.index))

    def budget(self, skill: str) -> int:
        """Training steps for a skill."""
        return self.budgets.get(skill, DEFAULT_BUDGET)

    def budget_of_sequence(self, budgets: Sequence[int]) -> int:
        """Training steps of a sequence, from those of its steps: their sum within bounds, and the longest at least."""
        return max(min(sum(budgets), LONGEST_SUM), *budgets, self.sequence_budget)


DEFAULT_BUDGET = 300_000
LONGEST_SUM = 600_000
"""Training steps of a sequence, where those of its steps add up to more."""
