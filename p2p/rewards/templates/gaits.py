"""Gaits of four-legged bodies: the order in which their feet come down, as criteria and as a reward."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.rewards.legs import FourFeet
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import GUARD, at_least, below, between, on_feature, on_steps
from p2p.rewards.templates.plan import Term
from p2p.rewards.templates.terms import jerk, number

GRAVITY = 9.81
SWINGING = 0.06
"""Height to which the reward has a foot lifted while it swings [m]: three times what counts as a step."""
JERK = 0.15
"""Weight of the actions' change: feet that land hard bounce off the floor."""
GAIT_SHARE = 0.6
"""Share of the steps in which the feet must keep the order of the gait and its duty factor."""
SLIDING = 0.5
"""Most slip of feet on the floor, as a share of its speed: who slides on feet that do not step has 1."""
GOING_S = 1.5
"""Time in which it may get into its gait [s]."""
ABOUT = 0.15
"""How far a phase may be off, in strides: half of the way from one gait to the next."""
LONGEST_STANCE = 0.9
"""Farthest that a foot is carried back while it is down, in standing heights: what legs reach."""


@dataclass(frozen=True, slots=True)
class FourLegGait:
    """A gait of four legs (Hildebrand 1965; see `p2p.rewards.strides`)."""

    phases: tuple[float, float, float, float]
    """When the front left, front right, rear left and rear right foot come down, in strides; what the reward pays."""
    duty: float
    """Duty factor that the reward pays."""
    stride: float
    """Length of a stride, in times sqrt(standing height / gravity): animals of the same Froude number move alike."""
    judged: Mapping[tuple[int, int], tuple[float, float]]
    """Pair of feet, in that order -> phase offsets that are this gait."""
    duties: tuple[float, float]
    """Duty factors that are this gait."""
    words: str
    """The order, in words."""
    bounce: float | None = None
    """Most that its torso goes up and down, in standing heights; None for a gait that leaps."""


_TOGETHER = (0.0, ABOUT)
_IN_TURN = (0.5 - ABOUT, 0.5)
_BETWEEN = (0.25 - ABOUT, 0.25 + ABOUT)
_NEAR = (0.0, 0.3)
FL, FR, RL, RR = range(4)
BOUNCE = 0.15
"""Most that the torso of a walking robot goes up and down, in standing heights: that of a pogo stick has 0.5."""
FOUR_LEG_GAITS: dict[str, FourLegGait] = {
    "amble": FourLegGait(
        (0.25, 0.75, 0.0, 0.5), 0.7, 4.0, {(FL, FR): _IN_TURN, (RL, RR): _IN_TURN, (FL, RL): _BETWEEN}, (0.5, 0.9),
        "one foot after the other, four beats to a stride", BOUNCE,
    ),
    "trot": FourLegGait(
        (0.0, 0.5, 0.5, 0.0), 0.55, 3.0, {(FL, RR): _TOGETHER, (FR, RL): _TOGETHER, (FL, FR): _IN_TURN}, (0.25, 0.75),
        "diagonal feet together, the two pairs in turn", BOUNCE,
    ),
    "pace": FourLegGait(
        (0.0, 0.5, 0.0, 0.5), 0.55, 3.0, {(FL, RL): _TOGETHER, (FR, RR): _TOGETHER, (FL, FR): _IN_TURN}, (0.25, 0.75),
        "the feet of one side together, the two sides in turn", BOUNCE,
    ),
    "bound": FourLegGait(
        (0.0, 0.0, 0.5, 0.5), 0.4, 3.0, {(FL, FR): _TOGETHER, (RL, RR): _TOGETHER, (FL, RL): _IN_TURN}, (0.1, 0.65),
        "the front feet together, the rear feet together, the two pairs in turn",
    ),
    "gallop": FourLegGait(
        (0.4, 0.55, 0.0, 0.15), 0.35, 2.8, {(FL, FR): _NEAR, (RL, RR): _NEAR, (FL, RL): (0.2, 0.5)}, (0.1, 0.6),
        "the rear feet shortly after one another, then the front feet",
    ),
}  # fmt: skip
"""Gait -> how it goes on four legs."""


def gait_of(body: RobotFacts, gait: str) -> FourLegGait | None:
    """How a gait goes on this body's legs; None where the order of its feet is not judged, as of a walk or a run."""
    return None if body.four_feet is None else FOUR_LEG_GAITS.get(gait)


def stride_s(how: FourLegGait, body: RobotFacts, speed: float) -> float:
    """Time of a stride that legs of this length take at a speed, in whole control steps [s]."""
    natural = how.stride * sqrt(body.standing / GRAVITY)
    reach = LONGEST_STANCE * body.standing / (how.duty * max(speed, 0.01))
    return round(max(2, round(max(0.25, min(natural, reach, 1.5)) / body.dt)) * body.dt, 4)


def keeps_the_order(gait: str, how: FourLegGait, body: RobotFacts) -> Criterion:
    """Feet come down in the order of the gait, and stay down as long as in it."""
    feet = _feet(body)
    order = tuple(
        between(f"phase_offset:{body.pair(feet[one], feet[other])}", round(low, 3), round(high, 3))
        for (one, other), (low, high) in how.judged.items()
    )
    low, high = how.duties
    stands = tuple(between(f"duty_factor:{foot}", low, high) for foot in feet)
    return Criterion(
        key="keeps_its_gait",
        title=f"Sets its feet down as in a {gait}",
        description=f"In {GAIT_SHARE:.0%} of the steps after the first {GOING_S:g} s: {how.words} (phase offsets "
        f"within {ABOUT:g} strides), and each foot is down for {low:.0%} to {high:.0%} of its stride.",
        category=Category.GAIT,
        predicate=on_steps(Statistic.FRACTION, (*order, *stands), Band(GAIT_SHARE), margin=0.5, window=_GOING),
        weight=2.0,
    )


def does_not_bounce(share: float, body: RobotFacts) -> Criterion:
    """The torso goes on level, not up and down as a pogo stick."""
    limit = round(share * body.standing, 3)
    return Criterion(
        key="does_not_bounce",
        title="Carries its torso level",
        description=f"After the first {GOING_S:g} s its torso goes up and down by {limit:g} m or less on average, "
        f"{share:.0%} of its standing height.",
        category=Category.GAIT,
        predicate=on_feature(Statistic.MEAN, "bounce", below(limit), "m", margin=limit, window=_GOING),
    )


def does_not_slide() -> Criterion:
    """Feet that are down stay where they are."""
    return Criterion(
        key="does_not_slide",
        title="Stands on its feet instead of sliding on them",
        description=f"After the first {GOING_S:g} s its feet slide, while they are down, at {SLIDING:.0%} of its own "
        "speed or slower on average.",
        category=Category.GAIT,
        predicate=on_feature(Statistic.MEAN, "foot_sliding", below(SLIDING), "1", margin=SLIDING, window=_GOING),
        weight=GUARD,
    )


def terms_of_gait(how: FourLegGait, body: RobotFacts) -> tuple[Term, ...]:
    """A schedule of contacts on a clock that the policy is told, with lifted feet, and no sliding."""
    feet = _feet(body)
    late = " + ".join(f'abs(info["contact_{foot}"] - due_{n})' for n, foot in enumerate(feet, start=1))
    swings = " + ".join(
        f'(1.0 - due_{n}) * np.clip(1.0 - abs(info["clearance:{foot}"] - arc_{n}) / {{margin}}, 0.0, 1.0)'
        for n, foot in enumerate(feet, start=1)
    )
    slipping = " + ".join(f'np.clip(info["slip:{foot}"], 0.0, 2.0)' for foot in feet)
    return (
        Term("in_time", 1.5, f"upright * (1.0 - ({late}) / 4.0)", r"U\,(1 - \overline{|c - c^*|})",
             "each foot on the floor when its gait has it there"),
        Term("swing", 1.0, f"upright * ({swings}) / {number(4.0 * (1.0 - how.duty))}",
             r"U\,\overline{(1 - c^*)\,\mathrm{tol}(z_f; z^*, z^*)}", "swinging feet in an arc", margin=SWINGING),
        Term("slip", 0.5, f"({slipping}) / 4.0", r"\overline{v_f}", "penalty for feet that slide", sign=-1),
        jerk(JERK),
    )  # fmt: skip


def definitions_of_gait(how: FourLegGait, period_s: float) -> dict[str, str]:
    """Which feet are due on the floor, and how high those that swing, by the clock."""
    found = {"strides": f'info["time"] / {number(period_s)}'}
    swing = number(1.0 - how.duty)
    for n, phase in enumerate(how.phases, start=1):
        found[f"done_{n}"] = f"(strides - {number(phase)}) % 1.0"
        found[f"due_{n}"] = f"1.0 * (done_{n} < {number(how.duty)})"
        part = f"np.clip((done_{n} - {number(how.duty)}) / {swing}, 0.0, 1.0)"
        found[f"arc_{n}"] = f"{SWINGING:g} * np.sin(np.pi * {part})"
    return found


def _feet(body: RobotFacts) -> FourFeet:
    assert body.four_feet is not None, "only bodies with four feet have these gaits"
    return body.four_feet


_GOING = Window(after=(at_least("time", GOING_S),))
