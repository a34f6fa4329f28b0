"""What catches the ways to have the speed that was asked for without going as it was meant."""

from math import inf

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.rewards.templates.bodies import Band, Body, Pacing
from p2p.rewards.templates.criteria import at_least, at_most, below, on_feature, on_steps
from p2p.rewards.templates.skill import Direction

AXIS = {Direction.FORWARD: "x", Direction.BACKWARD: "x", Direction.LEFT: "y", Direction.RIGHT: "y"}
SIGN = {Direction.FORWARD: 1, Direction.BACKWARD: -1, Direction.LEFT: 1, Direction.RIGHT: -1}
"""Axis and sign of a direction."""
FLIGHTS = 3
"""Flight phases that a hop or gallop must show."""
FLIGHT_CLEARANCE = 0.03
"""Clearance of a flight phase [m]: feet that vibrate leave the floor too, by less."""
MOVING_SHARE = 0.4
"""Share of the steps that must go at half the speed asked for; trained gaits reach 0.63 (swimming) to 0.99."""
STEPPING_GAITS = frozenset({"walk", "run", "trot"})
STEPPING_SHARE = 0.1
"""Share of the steps at which a foot must be off the floor; of feet that slide none is, and trained gaits have 0.2
(walking slowly) to 1."""
TRUNK_SHARE = 0.3
"""Share of the time a crawler's trunk may drag."""


def guards(direction: Direction, pacing: Pacing, body: Body, band: Band | None, gait: str) -> list[Criterion]:
    """What a robot and a gait need besides the speed."""
    found = []
    if body.sideways is not None:
        found.append(_keeps_line("x" if AXIS[direction] == "y" else "y", body.sideways))
    if gait in ("hop", "gallop"):
        found.append(_leaves_the_ground())
    if body.upright is None:
        found.append(_keeps_going(direction, pacing))
    if band is not None:
        found.append(keeps_height(band))
    if gait == "crawl":
        found.append(_on_its_legs())
    return found


def _keeps_line(across: str, limit: float) -> Criterion:
    return Criterion(
        key="keeps_line",
        title="Keeps to the direction asked for",
        description=f"The mean velocity across it stays within {limit:g} m/s.",
        category=Category.GAIT,
        predicate=on_feature(Statistic.MEAN, f"velocity_{across}", Band(-limit, limit), "m/s", margin=limit),
    )


def _keeps_going(direction: Direction, pacing: Pacing) -> Criterion:
    half = round(0.5 * pacing.judged.low, 3)
    signed = Band(half) if SIGN[direction] > 0 else below(-half)
    return Criterion(
        key="keeps_going",
        title="Keeps going",
        description=f"In the second half of the episode it still moves {direction} at {half:g} m/s or more.",
        category=Category.GAIT,
        predicate=on_feature(
            Statistic.MEAN,
            f"velocity_{AXIS[direction]}",
            signed,
            "m/s",
            margin=half,
            window=Window(last_share=0.5),
        ),
    )


def keeps_moving(direction: Direction, pacing: Pacing) -> Criterion:
    """Without it, one spike of the velocity, or a dash of a moment, would have the mean of a whole run."""
    half = round(0.5 * pacing.judged.low, 3)
    velocity = f"velocity_{AXIS[direction]}"
    bound = at_least(velocity, half) if SIGN[direction] > 0 else at_most(velocity, -half)
    return Criterion(
        key="keeps_moving",
        title="Keeps moving, at half that speed or faster",
        description=f"In {MOVING_SHARE:.0%} of the steps or more it moves {direction} at {half:g} m/s or faster.",
        category=Category.GAIT,
        predicate=on_steps(Statistic.FRACTION, (bound,), Band(MOVING_SHARE), margin=MOVING_SHARE),
    )


def lifts_feet(body: Body, gait: str) -> tuple[Criterion, ...]:
    """Without it, sliding on legs that stand still would be walking; nothing where no gait is said, or one leg."""
    if gait not in STEPPING_GAITS or sum(name.startswith("contact_") for name in body.features) < 2:
        return ()
    criterion = Criterion(
        key="lifts_feet",
        title="Lifts its feet",
        description=f"In {STEPPING_SHARE:.0%} of the steps or more at least one foot is off the floor.",
        category=Category.GAIT,
        predicate=on_steps(
            Statistic.FRACTION, (at_most("feet_down", 0.99),), Band(STEPPING_SHARE), margin=STEPPING_SHARE
        ),
    )
    return (criterion,)


def _leaves_the_ground() -> Criterion:
    where = (at_least("airborne", 0.5), at_least("clearance", FLIGHT_CLEARANCE))
    return Criterion(
        key="flight_phases",
        title="Leaves the ground again and again",
        description=f"There are at least {FLIGHTS} phases in which nothing touches the floor and the lowest point is "
        f"{FLIGHT_CLEARANCE:g} m above it.",
        category=Category.GAIT,
        predicate=on_steps(Statistic.COUNT, where, Band(FLIGHTS), margin=FLIGHTS),
    )


def keeps_height(band: Band, settle: float = 0.7) -> Criterion:
    """The torso is held at the heights asked for, once it has had time to get there."""
    words = f"at {band.low:g} m or higher" if band.high == inf else f"between {band.low:g} and {band.high:g} m"
    return Criterion(
        key="keeps_height",
        title=f"Holds its torso {words}",
        description=f"In the last {settle:.0%} of the episode the mean height of the torso is {words}.",
        category=Category.POSTURE,
        predicate=on_feature(Statistic.MEAN, "height", band, "m", margin=0.2, window=Window(last_share=settle)),
    )


def _on_its_legs() -> Criterion:
    return Criterion(
        key="on_its_legs",
        title="Crawls on its legs",
        description=f"The trunk touches the floor in at most {TRUNK_SHARE:.0%} of the steps.",
        category=Category.GAIT,
        predicate=on_feature(Statistic.MEAN, "torso_contact", below(TRUNK_SHARE), "1", margin=0.5),
    )
