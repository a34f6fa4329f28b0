"""Guards against reaching the speed in a way that was not meant."""

from math import inf

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.rewards.templates.bodies import Band, Pacing, RobotFacts
from p2p.rewards.templates.criteria import GUARD, at_least, at_most, between, off_its_trunk, on_feature, on_steps
from p2p.rewards.templates.gaits import BOUNCE, does_not_bounce, does_not_slide, gait_of, keeps_the_order
from p2p.rewards.templates.plan import Stage
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
STRAYS = 0.5
"""Most of the speed across the direction asked for, as a share of the least along it."""
STEADY = 0.4
"""Least share of the mean velocity, and of the time in the air of a hop, in each of the last five sixths of an episode;
trained gaits have 0.5 (a cheetah's run) to 0.9."""
STEPPING_GAITS = frozenset({"walk", "run", "amble", "trot", "pace", "bound", "gallop", "crawl"})
"""Gaits in which every leg takes part. A hop may be on one leg, and who is only to move may glide."""
IDLE_S = 2.0
"""Longest time for which a leg of a gait may rest [s]; the legs of trained gaits rest for 0.4 to 2.8 s."""
BUSY_SHARE = 0.8
"""Share of the steps at which no leg may have rested for longer."""
EACH_LEG_SHARE = 0.4
"""Share of the steps at which all legs must bend at once; trained ants have 0.58, cheetahs and walkers 0.99."""
SWING = 0.04
"""Least standard deviation of the angle of a leg's most used joint over a second of a gait [rad], about 3 degrees to
either side; joints that only vibrate have 0.015."""
STANDING = 0.15
"""Part of the least speed asked for from which on it gets on."""
ON_SHARE = 0.75
STROKES_SHARE = 0.6
"""Share of the steps in which it must get on; of what has no feet less, as its head swings with each stroke. Trained
gaits have 0.95 and more, trained swimmers 0.7."""
STARTING_S = 1.0
"""Time in which it may get going [s]."""
UNDULATING = 0.2
"""Least mean joint speed of swimming [rad/s]; trained swimmers have 1.7."""
HEADING = 0.25
"""How far from its heading at the start a robot may be turned that is to go somewhere [turns]."""
HEADING_SHARE = 0.75
"""Share of the steps at which it must face that way; ants turn to and fro while they learn to walk."""
OWN_HEADING = 0.056
OWN_HEADING_SHARE = 0.9
"""The same of a robot that was described from its model file, 20 degrees [turns]: whoever sends a robot somewhere wants
it to face that way, and what is asked of the robots that come with p2p stays as it was."""


def guards(
    direction: Direction, pacing: Pacing, body: RobotFacts, band: Band | None, gait: str, stage: Stage
) -> list[Criterion]:
    """Guards that a robot and a gait need besides the speed."""
    found = [*off_its_trunk(body)]
    limit = strays_by(body, direction, pacing)
    if limit is not None:
        across = "x" if AXIS[direction] == "y" else "y"
        keeps_line = Criterion(
            key="keeps_line",
            title="Keeps to the direction asked for",
            description=f"The mean velocity across it stays within {limit:g} m/s.",
            category=Category.GAIT,
            predicate=on_feature(Statistic.MEAN, f"velocity_{across}", Band(-limit, limit), "m/s", margin=limit),
        )
        found.append(keeps_line)
    if body.has("yaw_turns") and stage.alone:
        turned, share = (OWN_HEADING, OWN_HEADING_SHARE) if body.described else (HEADING, HEADING_SHARE)
        keeps_heading = Criterion(
            key="keeps_heading",
            title="Keeps its heading",
            description=f"In {share:.0%} of the steps or more it is turned by at most {turned:g} turns from "
            "how it began.",
            category=Category.GAIT,
            predicate=on_steps(Statistic.FRACTION, (between("yaw_turns", -turned, turned),), Band(share), margin=0.5),
            weight=GUARD,
        )
        found.append(keeps_heading)
    if stage.last:
        keeps_going = Criterion(
            key="keeps_going",
            title="Keeps going to the end",
            description=f"In each of the last five sixths of the episode its mean velocity {direction} is at least "
            f"{STEADY:.0%} of that of the whole.",
            category=Category.GAIT,
            predicate=on_feature(
                Statistic.STEADINESS,
                f"velocity_{AXIS[direction]}",
                Band(STEADY),
                "1",
                margin=1.0,
                window=Window() if stage.alone else Window(last_share=0.7),
            ),
            weight=GUARD,
        )
        found.append(keeps_going)
        if stage.alone:
            # Stops going to and fro, in circles, or in dashes with rests from passing as moving
            slowest = round(STANDING * pacing.judged.low, 4)
            share = ON_SHARE if body.feet else STROKES_SHARE
            velocity = f"velocity_{AXIS[direction]}"
            bound = at_least(velocity, slowest) if SIGN[direction] > 0 else at_most(velocity, -slowest)
            gets_on = Criterion(
                key="gets_on",
                title="Neither rests nor goes back on the way",
                description=f"After the first {STARTING_S:g} s it moves {direction} at {slowest:g} m/s or faster in "
                f"{share:.0%} of the steps.",
                category=Category.GAIT,
                predicate=on_steps(
                    Statistic.FRACTION,
                    (bound,),
                    Band(share),
                    margin=share,
                    window=Window(after=(at_least("time", STARTING_S),)),
                ),
                weight=GUARD,
            )
            found.append(gets_on)
    how = gait_of(body, gait)
    if how is not None:
        found.append(keeps_the_order(gait, how, body))
    if gait in ("hop", "gallop"):
        found += [_LEAVES_THE_GROUND, _KEEPS_HOPPING]
    bounce = bounces_by(body, gait)
    if bounce is not None:
        found.append(does_not_bounce(bounce, body))
    if slides_by(body, gait):
        found.append(does_not_slide())
    if band is not None:
        found.append(keeps_height(band))
    return found


def bounces_by(body: RobotFacts, gait: str) -> float | None:
    """Most that the torso may go up and down [standing heights]; None where that is not judged."""
    how = gait_of(body, gait)
    if not body.described or not body.has("height", "airborne"):
        return None
    return how.bounce if how is not None else BOUNCE if gait == "walk" else None


def slides_by(body: RobotFacts, gait: str) -> bool:
    """Whether it is judged that feet do not slide while they are down."""
    return body.described and body.feet > 0 and gait in STEPPING_GAITS


def strays_by(body: RobotFacts, direction: Direction, pacing: Pacing) -> float | None:
    """Largest mean velocity across the direction asked for [m/s]; None for a robot that moves in a vertical plane.

    Half of the least speed along it, which is 27 degrees, within what the body's gaits can hold.
    """
    if body.sideways is None or not body.has(f"velocity_{'x' if AXIS[direction] == 'y' else 'y'}"):
        return None
    return round(min(body.sideways, max(STRAYS * pacing.judged.low, 0.6 * body.sideways)), 3)


def keeps_moving(direction: Direction, pacing: Pacing) -> Criterion:
    """Stops one velocity spike or a short dash from passing as a run with the same mean."""
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


def uses_its_legs(body: RobotFacts, gait: str, stage: Stage) -> tuple[Criterion, ...]:
    """Stops sliding on still legs, or with a leg held up, from passing as walking.

    Feet that leave the floor are not enough, for the whole robot may rock or bounce with stiff legs; nor are legs that
    swing, for feet may be dragged. A step of a sequence is too short to ask for feet that are put down again and again.
    """
    if gait == "swim":
        undulates = Criterion(
            key="moves_its_body",
            title="Swims with its body",
            description=f"The mean joint speed is at least {UNDULATING:g} rad/s.",
            category=Category.GAIT,
            predicate=on_feature(Statistic.MEAN, "joint_speed", Band(UNDULATING), "rad/s", margin=UNDULATING),
            weight=GUARD,
        )
        return (undulates, *_bends("its joints", tuple(f"joint_swing:{joint}" for joint in body.joints)))
    if gait == "hop" and body.feet:
        return _bends("a leg", ("most_leg_swing",))
    legs = tuple(f"leg_swing:{foot}" for foot in body.feet_names)
    if gait_of(body, gait) is not None:  # which no foot keeps that is not lifted
        return _bends("every leg", legs, EACH_LEG_SHARE)
    if gait not in STEPPING_GAITS or not body.has("foot_idle_time"):
        return ()
    if not stage.alone:
        return _bends("every leg", legs, EACH_LEG_SHARE)
    criterion = Criterion(
        key="uses_its_legs",
        title="Lifts each foot and puts it down, again and again",
        description=f"In {BUSY_SHARE:.0%} of the steps or more every foot was put down, after having been lifted by 2 "
        f"cm or more, within the last {IDLE_S:g} s.",
        category=Category.GAIT,
        predicate=on_steps(Statistic.FRACTION, (at_most("foot_idle_time", IDLE_S),), Band(BUSY_SHARE), margin=0.4),
        weight=GUARD,
    )
    return (criterion, *_bends("every leg", legs, EACH_LEG_SHARE))


def _bends(what: str, names: tuple[str, ...], share: float = BUSY_SHARE) -> tuple[Criterion, ...]:
    if not names:
        return ()
    criterion = Criterion(
        key="bends_its_joints",
        title=f"Bends {what} to get on",
        description=f"In {share:.0%} of the steps or more the angle of {what} varies by {SWING:g} rad or more, of a "
        "leg its most used joint (standard deviation over about the last second).",
        category=Category.GAIT,
        predicate=on_steps(Statistic.FRACTION, tuple(at_least(name, SWING) for name in names), Band(share), margin=0.4),
        weight=GUARD,
    )
    return (criterion,)


_LEAVES_THE_GROUND = Criterion(
    key="flight_phases",
    title="Leaves the ground again and again",
    description=f"There are at least {FLIGHTS} phases in which nothing touches the floor and the lowest point is "
    f"{FLIGHT_CLEARANCE:g} m above it.",
    category=Category.GAIT,
    predicate=on_steps(
        Statistic.COUNT_EVENTS,
        (at_least("airborne", 0.5), at_least("clearance", FLIGHT_CLEARANCE)),
        Band(FLIGHTS),
        margin=FLIGHTS,
    ),
)


_KEEPS_HOPPING = Criterion(
    key="keeps_hopping",
    title="Hops to the end",
    description="In each of the last five sixths of the episode it is in the air for at least "
    f"{STEADY:.0%} of the share of the whole.",
    category=Category.GAIT,
    predicate=on_feature(Statistic.STEADINESS, "airborne", Band(STEADY), "1", margin=1.0),
    weight=GUARD,
)


def keeps_height(band: Band, settle: float = 0.7) -> Criterion:
    """Require the stated torso heights, after time to reach them."""
    words = f"at {band.low:g} m or higher" if band.high == inf else f"between {band.low:g} and {band.high:g} m"
    return Criterion(
        key="keeps_height",
        title=f"Holds its torso {words}",
        description=f"In the last {settle:.0%} of the episode the mean height of the torso is {words}.",
        category=Category.POSTURE,
        predicate=on_feature(Statistic.MEAN, "height", band, "m", margin=0.2, window=Window(last_share=settle)),
    )
