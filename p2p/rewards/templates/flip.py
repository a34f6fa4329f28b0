"""Template: turn over in the air and land on the feet."""

from typing import Any

from p2p.contracts.intent import Bound, Category, Criterion, Statistic, Window
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import (
    at_least,
    at_most,
    below,
    between,
    ends_on_its_feet,
    on_feature,
    on_its_feet,
    on_steps,
    stays_near,
)
from p2p.rewards.templates.plan import LONGEST_S, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Direction, Manner, Params
from p2p.rewards.templates.terms import effort, number, refuse

BEYOND = 0.5
"""How many turns more than a number that is said are too many [turns]."""
WHOLE = 0.95
"""Share of a turn that counts as a whole one: the landing takes up the rest."""
LANDING_S = 1.0
"""Time within which the feet must be under it again [s]."""
LANDING_UP = 0.6
"""Up-vector of a landed robot."""
TOUCHED_S = 0.1
"""How long where it does not: who topples at once has its feet down for less [s]."""
PAST_FEET_UP = 0.3
"""Up-vector below which a robot that has turned over is past its feet: 72 degrees from upright. A hopper that turned
on to -0.4, fell on its knee and kicked itself up stood well a second later; trained landings keep 0.8 and more."""
PAST_FEET_TURNS = 0.2
"""The same as turns beyond those asked for, at which a training episode ends [turns]: hoppers that went on from there
came round too fast, and rocked back onto their feet."""
KNEES_S = 0.02
"""How long it may touch the floor while no foot does, as it lands [s]: contacts of good landings flicker for as long.
That hopper lay on its knee for 0.06 s."""
LANDED_S = 0.2
"""How long it must stay on its feet where the sentence asks for a landing [s]."""
PLACE = 0.5
"""How far from its start a flip "on the spot" may get [m]; trained policies that may travel go 4 to 8.5 m in 5 s."""
SECONDS_PER_FLIP = 1.5
"""Time for a flip and what prepares it [s]."""
AT_THE_END = 0.25
"""How far from the turns asked for it may end where they are counted [turns]."""
STEEP = 4
"""Power of a landed robot's height, as a share of its stance, by which it is paid. By the height itself a hopper landed
in a squat, 1 cm too low, and stayed there; paid for the last fifth of its stance alone, it did not find the way up."""
FEET = 0.38
"""Share of that pay that is for feet that are down. Paid for height alone, a hopper kept its leg folded as it came
round, fell on its knee and got up from there: to stretch the leg in time was worth nothing at that time.
With more, a squat would be paid more than three fifths of what standing is."""
TAKEN_OFF = 0.25
"""Share of a turn after which its trunk may not touch the floor before it has landed: at take-off the rump may."""
CLEAR = 0.05
"""Clearance of a turn in the air [m]: a back that vibrates while it rolls leaves the floor too, by less."""
FLIGHT_S = 0.25
"""Shortest flight that a turn needs [s]; trained cheetahs are in the air for 0.35 s and more."""
ROLLING_SHARE = 0.05
"""Share of the time the trunk may touch the floor while it is upside down."""


class Flip(Template):
    """Backflip, front flip: the stated number, one for the singular, one or more for the plural."""

    name = "flip"
    reads = frozenset({"direction", "turns", "times", "repeatedly"})
    manners = frozenset({Manner.NO_FALL, Manner.LANDING, Manner.IN_PLACE})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences with both directions and with numbers."""
        del body
        return ("do a backflip", "do a backflip and land on your feet", "do two backflips", "do a front flip")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot flip."""
        return f"{body.noun} cannot turn over"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Pitch rate, high above the floor, never on the back."""
        if params.direction in (Direction.LEFT, Direction.RIGHT):
            raise refuse("flip", "it goes forward or backward; a spin goes left or right")
        forward = params.direction is Direction.FORWARD
        turns = params.turns or float(params.times or 1)
        if turns % 1.0:
            raise refuse(f"{turns:g} turns", "a flip that ends on the feet is a whole turn")
        if 3.0 + SECONDS_PER_FLIP * turns > LONGEST_S:
            raise refuse(f"{turns:g} flips", f"so many do not fit into the {LONGEST_S:g} s that can be judged")
        signed = -turns if forward else turns
        place = (stays_near(PLACE),) if Manner.IN_PLACE in params.manners else ()
        exact = not params.repeatedly and stage.last
        judged = max(body.judged_s, params.duration_s or 0.0, 3.0 + SECONDS_PER_FLIP * turns)
        amount = round(signed - (1.0 - WHOLE) * (1 if signed > 0 else -1), 3)
        target = stage.goal("pitch_turns", amount)
        once = not params.repeatedly and self.name not in stage.then
        recipe = {
            "total_timesteps": body.budget("flip"),
            "terminate_when_unhealthy": False,
            **_practice(body, forward, stage.goal("pitch_turns", signed) if once else None),
        }
        return Plan(
            label="FrontFlip" if forward else "Backflip",
            summary=f"Turning over {'forward' if forward else 'backward'} in the air"
            + (f", {_times(turns)}, and landing" if exact else ""),
            terms=_terms(body, forward, exact=exact, lands=stage.last, in_place=bool(place)),
            main=_main(target, signed, exact),
            guards=(
                _lands(body, target, signed, bool(params.manners & {Manner.LANDING, Manner.NO_FALL})),
                *(_feet_first(target, signed) if once else ()),
                _trunk_off_the_floor(target, signed),
                *((_ends(body, stage, signed, judged, exact),) if stage.last else ()),
                _in_the_air(turns),
                *((_FLIES,) if stage.alone else ()),
                _not_from_its_back(target, signed),
                _NOT_ON_ITS_BACK,
                *place,
            ),
            definitions=_done(body, stage, signed, exact) if stage.last else {},
            recipe=recipe,
            milestones=(Milestone(feature="pitch_turns", amount=amount),),
            seconds=1.0 + SECONDS_PER_FLIP * turns,
            judged_s=judged,
        )


def _terms(body: RobotFacts, forward: bool, *, exact: bool, lands: bool, in_place: bool) -> tuple[Term, ...]:
    """Turning and height until the turns are done where they are counted, and landing where that comes last."""
    sign = "-" if forward else ""
    stand = round(body.stand.low, 2) + 0.05
    going, latex = ("(turned < done) * ", r"[\phi < n]\,") if exact else ("", "")
    found = [
        Term("flip", 1.0, f'{going}np.clip({sign}info["pitch_rate"], -10.0, 10.0) / 5.0',
             rf"{latex}\mathrm{{clip}}({sign}\omega_p, -10, 10)/5",
             f"turning over {'forward (nose down)' if forward else 'backward (nose up)'}"),
        Term("air", 0.5, f'{going}np.clip(info["height"] - {stand:g}, 0.0, 0.8)',
             rf"{latex}\mathrm{{clip}}(z - {stand:g}, 0, 0.8)", "height of the torso over standing"),
        Term("on_back", 0.3, 'info["torso_contact"] * (info["up"] < 0.3)', r"c_t\,[u_z < 0.3]",
             "penalty for lying or rolling on the trunk", sign=-1),
        effort(0.02),
    ]  # fmt: skip
    if lands:
        words = "having turned over as often as asked, and being on its feet"
        landed = 'over * stance * tolerance(info["up"], 0.85, 1.0, {margin})'
        found.append(Term("landed", 2.0, landed, r"[\phi \geq n]\,\mathrm{tol}(u_z; 0.85, 1)", words, margin=1.0))
    if in_place:
        drift = 'np.clip(info["displacement"], 0.0, 3.0)'
        found.append(Term("drift", 0.3, drift, r"\mathrm{clip}(d, 0, 3)", "penalty for leaving the spot", sign=-1))
    return tuple(found)


def _practice(body: RobotFacts, forward: bool, end: float | None) -> dict[str, Any]:
    """How training episodes begin and end.

    Half of them begin in the air, turning: without, a cheetah learns no more than the first half of a turn. A hopper
    turns over by itself, and needs to see how a turn ends; a cheetah that began all over the turn only stood.

    All end where the trunk touches the floor, or hoppers and cheetahs roll over it. A cheetah's "do a backflip and land
    on your feet" met everything in 6 and 0 % of the rollouts without this end, in 88 and 20 % with it, in 100 and 28 to
    44 % with the end past its feet too (seeds 1 and 2).

    Args:
        body: The robot.
        forward: Which way it turns.
        end: `pitch_turns` after the last flip; None where there is no last one.
    """
    way = -1.0 if forward else 1.0
    first, last = (0.0, 6.28) if body.terminates else (-3.14, 3.14)
    ends = ["torso_contact >= 0.5"]
    if end is not None:
        past = round(end + way * PAST_FEET_TURNS, 3)
        ends.append(f"pitch_turns {'<=' if forward else '>='} {past:g}")
    return {
        "start_states": {
            "share": 0.5,
            "pitch": sorted((way * first, way * last)),
            "raised": [0.0, 0.6],
            "pitch_rate": sorted((way * -2.0, way * 8.0)),
        },
        "end_when": ends,
    }


def _done(body: RobotFacts, stage: Stage, signed: float, exact: bool) -> dict[str, str]:
    """Definitions for the reward: turns in its direction, the required number, and the phase after them."""
    no_more = f" * (turned < done + {BEYOND})" if exact else ""
    start = stage.done.get("pitch_turns", 0.0)
    low = number(0.9 * body.stand.low)
    turned = f'(info["pitch_turns"] - {number(start)})' if start else 'info["pitch_turns"]'
    return {
        "turned": turned if signed > 0 else f"-{turned}",
        "done": number(abs(signed) - 1.0 + WHOLE),
        "over": f"np.clip(turned / done, 0.0, 1.0) ** 4{no_more}",
        "tall": f'np.clip(info["height"] / {low}, 0.0, 1.0) ** {STEEP} * (1.0 - 0.5 * info["torso_contact"])',
        "stance": f'{FEET:g} * info["feet_down"] + {1.0 - FEET:g} * tall',
    }


def _times(turns: float) -> str:
    return "once" if turns == 1 else f"{turns:g} times"


def _ends(body: RobotFacts, stage: Stage, signed: float, judged_s: float, exact: bool) -> Criterion:
    """Stops a brief stance before a fall, and a flip there and back, from passing as one flip."""
    if exact:
        end = stage.goal("pitch_turns", signed)
        turned = between("pitch_turns", round(end - AT_THE_END, 3), round(end + AT_THE_END, 3))
        return ends_on_its_feet(body, judged_s, (turned,))
    share = round(SECONDS_PER_FLIP / judged_s, 3)
    return Criterion(
        key="ends_on_its_feet",
        title="Comes down on its feet to the end",
        description=f"In the last {100 * share:g}% of the episode it is on its feet, upright, with its trunk off the "
        f"floor, for {TOUCHED_S:g} s: it may be in the next flip when the episode ends.",
        category=Category.STABILITY,
        predicate=on_steps(
            Statistic.LONGEST_HOLD,
            (at_least("feet_down", 0.5), *on_its_feet(body, LANDING_UP)),
            Band(TOUCHED_S),
            margin=TOUCHED_S,
            window=Window(last_share=share),
        ),
    )


def _main(target: float, signed: float, counted: bool) -> Criterion:
    way, turns = ("backward", signed) if signed > 0 else ("forward", -signed)
    more = f"{BEYOND:g} more are too many" if counted else "more is fine"
    limit = BEYOND if counted else float("inf")
    return Criterion(
        key="turns_over",
        title=f"Turns over {turns:g} {'time' if turns == 1 else 'times'} {way}",
        description=f"Its turns about the side-to-side axis reach {target:g}, backward positive; {more}.",
        category=Category.DYNAMICS,
        predicate=on_feature(
            Statistic.MAX if signed > 0 else Statistic.MIN,
            "pitch_turns",
            Band(target, target + limit) if signed > 0 else Band(target - limit, target),
            "turns",
            margin=turns,
        ),
        weight=2.0,
    )


def _trunk_off_the_floor(target: float, signed: float) -> Criterion:
    """Stops a bounce on the back or head from passing as a turn in the air."""
    way = 1.0 if signed > 0 else -1.0
    begin = round(target - signed + way * (1.0 - WHOLE) + way * TAKEN_OFF, 3)
    low, high = sorted((begin, target))
    where = (at_least("torso_contact", 0.5), between("pitch_turns", low, high))
    return Criterion(
        key="trunk_off_the_floor",
        title="Keeps its trunk off the floor while it turns over",
        description=f"Between {low:g} and {high:g} turns its trunk never touches the floor.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT_EVENTS, where, below(0.0), margin=2.0),
    )


def _lands(body: RobotFacts, target: float, signed: float, asked: bool) -> Criterion:
    where = (at_least("feet_down", 0.5), *on_its_feet(body, LANDING_UP))
    held = LANDED_S if asked else TOUCHED_S
    return Criterion(
        key="lands_on_feet",
        title="Lands on its feet",
        description=f"Within {LANDING_S:g} s after turning over it is on its feet, upright and with its trunk off "
        f"the floor, for {held:g} s.",
        category=Category.STABILITY,
        predicate=on_steps(Statistic.LONGEST_HOLD, where, Band(held), margin=held, window=_landing(target, signed)),
    )


def _landing(target: float, signed: float) -> Window:
    """The second after it has turned over."""
    turned = at_least("pitch_turns", target) if signed > 0 else at_most("pitch_turns", target)
    return Window(after=(turned,), within_s=LANDING_S)


def _feet_first(target: float, signed: float) -> tuple[Criterion, ...]:
    """Stops a fall from which it gets up at once from passing as a landing."""
    window = _landing(target, signed)
    no_foot = (at_most("airborne", 0.5), at_most("feet_down", 0.0))
    return (
        Criterion(
            key="comes_down_upright",
            title="Does not turn on past its feet",
            description=f"Within {LANDING_S:g} s after turning over its up-vector stays at {PAST_FEET_UP:g} or more.",
            category=Category.STABILITY,
            predicate=on_feature(Statistic.MIN, "up", Band(PAST_FEET_UP), "1", margin=0.5, window=window),
        ),
        Criterion(
            key="feet_first",
            title="Comes down feet first",
            description=f"Within {LANDING_S:g} s after turning over it touches the floor without a foot on it for at "
            f"most {KNEES_S:g} s.",
            category=Category.STABILITY,
            predicate=on_steps(Statistic.LONGEST_HOLD, no_foot, below(KNEES_S), margin=0.2, window=window),
        ),
    )


def _in_the_air(turns: float) -> Criterion:
    times = max(1, round(turns))
    where = (*_off_the_floor(), at_most("up", -0.3))
    return Criterion(
        key="in_the_air",
        title="Turns over in the air",
        description=f"It is upside down while its lowest point is {CLEAR:g} m above the floor, once per turn.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT_EVENTS, where, Band(float(times)), margin=float(times)),
    )


def _off_the_floor() -> tuple[Bound, ...]:
    return at_least("airborne", 0.5), at_least("clearance", CLEAR)


_FLIES = Criterion(
    key="flies",
    title="Is in the air for as long as a turn takes",
    description=f"For {FLIGHT_S:g} s without a break its lowest point is {CLEAR:g} m above the floor.",
    category=Category.DYNAMICS,
    predicate=on_steps(Statistic.LONGEST_HOLD, _off_the_floor(), Band(FLIGHT_S), margin=FLIGHT_S),
)
"""Stops a simulation glitch that turns the robot within two steps from passing."""


def _not_from_its_back(target: float, signed: float) -> Criterion:
    """Stops a leap onto the back, and from there onto the feet, from passing."""
    way = 1.0 if signed > 0 else -1.0
    low, high = sorted((round(target - 0.4 * way, 3), round(target - 0.1 * way, 3)))
    where = (*_off_the_floor(), between("pitch_turns", low, high))
    return Criterion(
        key="comes_round_in_the_air",
        title="Comes round to its feet in the air",
        description=f"It is {CLEAR:g} m above the floor at some moment between {low:g} and {high:g} turns.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT_EVENTS, where, Band(1.0), margin=1.0),
    )


_NOT_ON_ITS_BACK = Criterion(
    key="not_on_its_back",
    title="Does not roll or lie on its back",
    description=f"Its trunk touches the floor while upside down in at most {ROLLING_SHARE:.0%} of the steps.",
    category=Category.STABILITY,
    predicate=on_steps(
        Statistic.FRACTION, (at_least("torso_contact", 0.5), at_most("up", 0.0)), below(ROLLING_SHARE), margin=0.3
    ),
)
