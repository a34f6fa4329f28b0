"""Flip: turn over in the air, and come down on the feet."""

from p2p.contracts.intent import Bound, Category, Criterion, Statistic, Window
from p2p.rewards.templates.bodies import Band, Body
from p2p.rewards.templates.criteria import at_least, at_most, below, between, on_feature, on_steps, stays_near
from p2p.rewards.templates.plan import Milestone, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Direction, Manner, Params
from p2p.rewards.templates.terms import effort, refuse

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
LANDED_S = 0.2
"""How long it must stay on its feet where the sentence asks for a landing [s]."""
PLACE = 2.0
"""How far from its start a flip "on the spot" may come down [m]; trained policies travel 4 to 8.5 m in 5 s."""
CLEAR = 0.05
"""Clearance of a turn in the air [m]: a back that vibrates while it rolls leaves the floor too, by less."""
FLIGHT_S = 0.25
"""Shortest flight that a turn needs [s]; trained cheetahs are in the air for 0.35 s and more."""
ROLLING_SHARE = 0.05
"""Share of the time the trunk may touch the floor while it is upside down."""


class Flip(Template):
    """Backflip, front flip. A number that is said is a limit too; without one, more turns are fine."""

    name = "flip"
    reads = frozenset({"direction", "turns", "times", "repeatedly"})
    manners = frozenset({Manner.NO_FALL, Manner.LANDING, Manner.IN_PLACE})

    def examples(self, body: Body) -> tuple[str, ...]:
        """Both directions, with numbers."""
        del body
        return ("do a backflip", "do a backflip and land on your feet", "do two backflips", "do a front flip")

    def missing(self, body: Body) -> str:
        """Why it cannot flip."""
        return f"{body.noun} cannot turn over"

    def plan(self, params: Params, body: Body, stage: Stage) -> Plan:
        """Pitch rate, high above the floor, never on the back."""
        if params.direction in (Direction.LEFT, Direction.RIGHT):
            raise refuse("flip", "it goes forward or backward; a spin goes left or right")
        forward = params.direction is Direction.FORWARD
        turns = params.turns or float(params.times or 1)
        signed = -turns if forward else turns
        place = (stays_near(PLACE),) if Manner.IN_PLACE in params.manners else ()
        amount = round(signed - (1.0 - WHOLE) * (1 if signed > 0 else -1), 3)
        target = stage.goal("pitch_turns", amount)
        return Plan(
            label="FrontFlip" if forward else "Backflip",
            summary=f"Turning over {'forward' if forward else 'backward'} in the air",
            terms=_terms(body, forward),
            main=_main(target, signed, _counted(params, stage)),
            guards=(
                _lands(target, signed, bool(params.manners & {Manner.LANDING, Manner.NO_FALL})),
                _in_the_air(turns),
                *((_flies(),) if stage.alone else ()),
                _not_from_its_back(target, signed),
                _not_on_its_back(),
                *place,
            ),
            recipe=_recipe(body, forward),
            milestone=Milestone("pitch_turns", amount),
            seconds=1.0 + 1.5 * turns,
            judged_s=max(body.judged_s, params.duration_s or 0.0, 3.0 + 1.5 * turns),
        )


def _terms(body: Body, forward: bool) -> tuple[Term, ...]:
    sign, stand = "-" if forward else "", round(body.stand.low, 2) + 0.05
    return (
        Term("flip", 1.0, f'np.clip({sign}info["pitch_rate"], -10.0, 10.0) / 5.0',
             rf"\mathrm{{clip}}({sign}\omega_p, -10, 10)/5",
             f"turning over {'forward (nose down)' if forward else 'backward (nose up)'}"),
        Term("air", 0.5, f'np.clip(info["height"] - {stand:g}, 0.0, 0.8)', rf"\mathrm{{clip}}(z - {stand:g}, 0, 0.8)",
             "height of the torso over standing"),
        Term("on_back", 0.3, 'info["torso_contact"] * (info["up"] < 0.3)', r"c_t\,[u_z < 0.3]",
             "price of lying or rolling on the trunk", sign=-1),
        effort(0.02),
    )  # fmt: skip


def _counted(params: Params, stage: Stage) -> bool:
    """Whether more is too much. Before a "then" the next step says where it must be."""
    said = params.times is not None or params.turns is not None
    return said and stage.last and not params.repeatedly


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


def _turned(target: float, signed: float) -> Bound:
    return at_least("pitch_turns", target) if signed > 0 else at_most("pitch_turns", target)


def _lands(target: float, signed: float, asked: bool) -> Criterion:
    where = (at_least("feet_down", 0.5), at_least("up", LANDING_UP))
    window = Window(after=(_turned(target, signed),), within_s=LANDING_S)
    held = LANDED_S if asked else TOUCHED_S
    return Criterion(
        key="lands_on_feet",
        title="Lands on its feet",
        description=f"Within {LANDING_S:g} s after turning over it stays on its feet, upright, for {held:g} s.",
        category=Category.STABILITY,
        predicate=on_steps(Statistic.LONGEST_HOLD, where, Band(held), margin=held, window=window),
    )


def _in_the_air(turns: float) -> Criterion:
    times, where = max(1, round(turns)), (*_off_the_floor(), at_most("up", -0.3))
    return Criterion(
        key="in_the_air",
        title="Turns over in the air",
        description=f"It is upside down while its lowest point is {CLEAR:g} m above the floor, once per turn.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT, where, Band(float(times)), margin=float(times)),
    )


def _off_the_floor() -> tuple[Bound, ...]:
    return at_least("airborne", 0.5), at_least("clearance", CLEAR)


def _flies() -> Criterion:
    """Without it, a glitch that turns it over within two steps would pass."""
    return Criterion(
        key="flies",
        title="Is in the air for as long as a turn takes",
        description=f"For {FLIGHT_S:g} s without a break its lowest point is {CLEAR:g} m above the floor.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.LONGEST_HOLD, _off_the_floor(), Band(FLIGHT_S), margin=FLIGHT_S),
    )


def _not_from_its_back(target: float, signed: float) -> Criterion:
    """Without it, a leap onto the back, and over onto the feet from there, would pass."""
    way = 1.0 if signed > 0 else -1.0
    low, high = sorted((round(target - 0.4 * way, 3), round(target - 0.1 * way, 3)))
    where = (*_off_the_floor(), between("pitch_turns", low, high))
    return Criterion(
        key="comes_round_in_the_air",
        title="Comes round to its feet in the air",
        description=f"It is {CLEAR:g} m above the floor at some moment between {low:g} and {high:g} turns.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT, where, Band(1.0), margin=1.0),
    )


def _not_on_its_back() -> Criterion:
    return Criterion(
        key="not_on_its_back",
        title="Does not roll or lie on its back",
        description=f"Its trunk touches the floor while upside down in at most {ROLLING_SHARE:.0%} of the steps.",
        category=Category.STABILITY,
        predicate=on_steps(
            Statistic.FRACTION, (at_least("torso_contact", 0.5), at_most("up", 0.0)), below(ROLLING_SHARE), margin=0.3
        ),
    )


def _recipe(body: Body, forward: bool) -> dict[str, object]:
    """Half of the training episodes start in the air and turning: without, the first half turn is all it learns."""
    rate = [-8.0, 2.0] if forward else [-2.0, 8.0]
    start = {"share": 0.5, "pitch": [-3.14, 3.14], "raised": [0.0, 0.6], "pitch_rate": rate}
    return {"total_timesteps": body.budget("flip"), "terminate_when_unhealthy": False, "start_states": start}
