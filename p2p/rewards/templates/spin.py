"""Template: spin about the vertical, in place."""

from dataclasses import dataclass
from math import pi

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import (
    at_least,
    at_most,
    between,
    has_not_fallen_at_the_end,
    on_feature,
    on_steps,
    stays_near,
    stays_upright,
)
from p2p.rewards.templates.plan import LONGEST_S, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Direction, Manner, Params
from p2p.rewards.templates.terms import effort, gate, gate_latex, number, refuse

SPUN_S = 0.5
"""Least time that a spin takes, half a turn included [s]."""
TURNING = 0.3
"""Rate from which on it counts as spinning [rad/s]; trained ants do so in 93 % of the steps."""
RATE = 3.0
"""Rate that is paid for in full, and charged for in full where nothing holds it but water: swimmers whose way back cost
no more than 1 rad/s swung their heads slowly there and fast back [rad/s]."""
SLIP = 0.05
"""Price of each m/s over the floor. At 0.15, and `effort` at its usual weight, ants turned half as far. Who swims pays
none: swimmers that did lay still."""
EFFORT_SHARE = 0.3
"""Share of the usual price of acting."""
SETTLING_S = 0.3
"""Time in which the rest of a counted turn is made: the rate paid for falls to 0 at the angle asked for [s]."""
SHORT = 0.9
OVER = 1.15
"""Where a spin of a number of turns must end, as shares of them. 80 % of a turn is not one."""
SLACK = 0.03
"""Least of either, for small angles [turns]."""
BEYOND = 0.5
"""How many turns more than asked it may swing over on the way, at most half of what is asked [turns]."""
THROUGH = 1.05
"""Where a spin that another step follows is steered to, as a share of the turns asked for."""
STAY_S = 0.5
"""Time before the end in which a counted turn is over [s]."""
STAYS_SHARE = 0.8
"""Share of that time in which it must be where it was to turn to."""
STAYS_RATE = 1.0
"""Rate of a turn that still counts as staying [rad/s]."""
SEVERAL = 4
"""How many times as long a spin of several counted turns trains as one of one turn. After half of that an ant left its
metre more often."""
IN_PLACE = 0.5
"""How far from its start it may get where "in place" is said, as a share of where it is not."""
KEEPS_SHARE = 0.8
"""Share of the steps at which it must spin where a duration is said."""


@dataclass(frozen=True, slots=True)
class _RequestedTurn:
    """Requested turn."""

    way: float
    """1 to the left, -1 to the right, 0 where either will do."""
    paid: float
    """The way that is paid for, in the same numbers: to the left where a swimmer may turn either way, since its head
    swings to both sides before it turns to one."""
    turns: float
    """Positive."""
    exact: bool
    """Whether a number or angle is said, so that more is wrong too."""
    start: float
    """Turns that earlier steps asked for, to the left positive."""
    duration_s: float | None

    @property
    def side(self) -> str:
        return {1.0: "left", -1.0: "right", 0.0: "one side"}[self.way]

    @property
    def key(self) -> str:
        return f"spins_{self.side}" if self.way else "spins"

    @property
    def words(self) -> str:
        return f"{self.turns:g} {'time' if self.turns == 1 else 'times'} to {'the ' if self.way else ''}{self.side}"

    def band(self, low: float, high: float) -> Band:
        """Values of yaw_turns, or of its magnitude, after `low` to `high` turns of this step [turns]."""
        if self.way < 0:
            return Band(round(self.start - high, 3), round(self.start - low, 3))
        return Band(round(self.start + low, 3), round(self.start + high, 3))

    @property
    def ends(self) -> tuple[float, float]:
        """Fewest and most turns at the end of a counted spin."""
        slack = SLACK + 0.1 * abs(self.start)  # what the steps before may have missed
        return min(SHORT * self.turns, self.turns - slack), max(OVER * self.turns, self.turns + slack)


class Spin(Template):
    """Turn on the spot, to the left or to the right; a stated number is a limit too."""

    name = "spin"
    reads = frozenset({"direction", "turns", "times", "repeatedly", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences with a number, a direction, an angle."""
        twice = ("spin left twice",) if _seconds(2.0, body) <= LONGEST_S else ()
        return ("spin in place", *twice, "spin clockwise", "turn right 180 degrees")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot spin."""
        return f"{body.noun} moves in a vertical plane and cannot turn to the left or to the right"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Yaw rate in the requested direction, until the number of turns is reached, on the spot."""
        if params.direction in (Direction.FORWARD, Direction.BACKWARD):
            raise refuse(f"spin {params.direction}", "a spin goes left or right; a flip goes forward or backward")
        said = params.turns if params.turns is not None else params.times
        turns = float(said or 1)
        if params.duration_s is not None:
            turns = turns if said is not None else min(1.0, params.duration_s / (2.0 * body.turn_s))
        if _seconds(turns, body) > LONGEST_S:
            raise refuse(
                f"{turns:g} turns", f"{body.noun} cannot make so many in the {LONGEST_S:g} s that can be judged"
            )
        way = {
            Direction.LEFT: 1.0,
            Direction.RIGHT: -1.0,
            None: 0.0 if stage.first and "spin" not in stage.then else 1.0,
        }[params.direction]
        exact = said is not None and not params.repeatedly
        asked = _RequestedTurn(
            way, way or float(body.swims), turns, exact, stage.done.get("yaw_turns", 0.0), params.duration_s
        )
        several = asked.exact and asked.turns > 1.0
        limit = body.spin_drift * (IN_PLACE if Manner.IN_PLACE in params.manners else 1.0)
        near = (0.25 if several else 0.5) * limit if stage.first and not body.swims else None
        seconds = max(_seconds(asked.turns, body), 1.0 + (asked.duration_s or 0.0))
        judged = asked.duration_s if asked.duration_s and not asked.exact else max(body.judged_s, seconds)
        signed = asked.way * asked.turns or asked.turns
        held = asked.duration_s is not None and not asked.exact
        turned = f'(info["yaw_turns"] - {asked.start:g})' if asked.start else 'info["yaw_turns"]'
        if asked.paid:
            sign = "-" if asked.paid < 0 else ""
            found = {"rate": f'{sign}info["yaw_rate"]', "turned": f"{sign}{turned}"}
        else:
            found = {"rate": 'np.copysign(1.0, info["yaw_turns"]) * info["yaw_rate"]', "turned": f"abs({turned})"}
        if asked.exact:
            gain = round(2.0 * pi / SETTLING_S, 1)
            target = asked.turns if stage.last else round(THROUGH * asked.turns, 4)  # or the next step is never reached
            found["wanted"] = f"np.clip({gain} * ({target:g} - turned), -{RATE}, {RATE})"
        fewest, most = asked.ends
        counts = asked.exact and stage.last
        reached = asked.band(fewest if asked.exact else asked.turns, most if counts else float("inf"))
        statistic = Statistic.FINAL if stage.last else Statistic.MIN if asked.way < 0 else Statistic.MAX
        lowest = f"at least {reached.low:g}" if asked.way >= 0 else f"at most {reached.high:g}"
        words = f"{reached.low:g} to {reached.high:g}" if counts else lowest
        when = "at the end" if stage.last else "at some moment"
        predicate = on_feature(statistic, "yaw_turns", reached, "turns", margin=asked.turns)
        main = Criterion(
            key=asked.key,
            title=f"Turns {asked.words}",
            description="The turns about the vertical since the start, "
            f"{'left positive' if asked.way else 'either way'}, are {words} {when}.",
            category=Category.DYNAMICS,
            predicate=predicate.model_copy(update={"absolute": asked.way == 0.0}),
            weight=2.0,
        )
        return Plan(
            label=f"Spin{asked.side.title() if asked.way else 'Around'}",
            summary=f"Turning to {'the ' if asked.way else ''}{asked.side} on the spot"
            + (f", {asked.turns:g} {'turn' if asked.turns == 1 else 'turns'} and no more" if asked.exact else ""),
            terms=_terms(body, asked, near),
            main=main,
            guards=(
                *stays_upright(body, params),
                stays_near(limit),
                *_counted(asked, stage, judged),
                *((_keeps_spinning(asked, judged),) if stage.alone else ()),
                *(has_not_fallen_at_the_end(body, judged) if stage.last else ()),
            ),
            definitions=gate(body) | found | (_near(near, limit) if near is not None else {}),
            recipe={
                "total_timesteps": body.budget("spin") * (SEVERAL if several else 1),
                "terminate_when_unhealthy": body.terminates,
            },
            tells=("displacement_x", "displacement_y")
            if asked.exact and stage.first and "move" not in stage.then
            else (),
            milestones=(
                Milestone(feature="time", amount=asked.duration_s or 0.0)
                if held
                else Milestone(feature="yaw_turns", amount=signed, either=asked.way == 0.0),
            ),
            seconds=seconds,
            judged_s=judged,
        )


def _seconds(turns: float, body: RobotFacts) -> float:
    """Length of an episode in which it can turn so often [s]."""
    return 1.0 + body.turn_s * turns


def _near(full: float, limit: float) -> dict[str, str]:
    """Definition of `near`, in [0, 1]: 1 up to `full` from the start, falling to 0 over `limit` [m].

    A factor, not a price: an ant that paid for each metre either left the spot or hardly turned. One that turned twice
    was carried off the farther by what one turn may drift.
    """
    return {"near": f'tolerance(info["displacement"], 0.0, {number(full)}, {number(limit)})'}


def _terms(body: RobotFacts, asked: _RequestedTurn, near: float | None) -> tuple[Term, ...]:
    u = gate_latex(body)
    gated = "" if body.gate == "1.0" else "upright * "
    place = ""
    if near is not None:
        gated += "near * "
        place = rf"\mathrm{{tol}}(d; 0, {near:g})\,"
    sign = {1.0: "", -1.0: "-", 0.0: r"\mathrm{sgn}(\psi)\,"}[asked.paid]
    if asked.exact:
        credit = f"np.clip(1.0 - abs(rate - wanted) / {RATE}, -1.0, 1.0)"
        latex = rf"(1 - |{sign}\omega_z - \omega^*|/3)"
        words = f"turning to {'the ' if asked.way else ''}{asked.side}, slower near {asked.turns:g} turns, and staying"
    else:
        back = RATE if body.swims else 1.0
        credit = f"np.clip(rate, -{back}, {RATE}) / 2.0"
        latex = rf"\mathrm{{clip}}({sign}\omega_z, -{back:g}, {RATE:g})/2"
        words = f"turning to {'the ' if asked.way else ''}{asked.side}"
    slip = Term("slip", SLIP, 'np.clip(info["speed"], 0.0, 2.0)', r"\mathrm{clip}(v, 0, 2)",
                "penalty for leaving the spot", sign=-1)  # fmt: skip
    upright = Term("alive", 0.3, "upright", "U" if u else "1", "being on its feet")
    return (
        *(() if body.swims else (upright,)),
        Term("spin", 1.0, f"{gated}{credit}", f"{u}{place}{latex}", words),
        *(() if body.swims else (slip,)),
        effort(EFFORT_SHARE * body.effort),
    )


def _counted(asked: _RequestedTurn, stage: Stage, judged_s: float) -> tuple[Criterion, ...]:
    """Stops spinning on for ever, or swinging there and back, from passing as the stated number of turns."""
    if not asked.exact:
        return ()
    if not stage.last:
        return () if "spin" in stage.then else (_keeps_heading(asked),)
    limit = asked.turns + min(BEYOND, 0.5 * asked.turns)
    farthest = asked.band(-float("inf"), limit)
    no_more = Criterion(
        key="turns_no_more",
        title=f"Never turns more than {limit:g} times",
        description=f"The turns since the start never pass {limit:g}.",
        category=Category.DYNAMICS,
        predicate=on_feature(
            Statistic.MIN if asked.way < 0 else Statistic.MAX, "yaw_turns", farthest, "turns", margin=asked.turns
        ).model_copy(update={"absolute": asked.way == 0.0}),
    )
    band = asked.band(*asked.ends)
    share = round(STAY_S / judged_s, 3)
    there = between("yaw_turns", band.low, band.high).model_copy(update={"absolute": asked.way == 0.0})
    stays = Criterion(
        key="stays_turned",
        title="Stays where it turned to",
        description=f"In the last {100 * share:g}% of the episode it is between {band.low:g} and {band.high:g} turns, "
        f"turning at {STAYS_RATE:g} rad/s or slower, for {STAYS_SHARE:.0%} of the time.",
        category=Category.STABILITY,
        predicate=on_steps(
            Statistic.FRACTION,
            (there, between("yaw_rate", -STAYS_RATE, STAYS_RATE)),
            Band(STAYS_SHARE),
            margin=STAYS_SHARE,
            window=Window(last_share=share),
        ),
    )
    return no_more, stays


def _keeps_heading(asked: _RequestedTurn) -> Criterion:
    """Keeps the heading of a turn by an angle during the next steps."""
    slack = min(BEYOND, max(2.0 * SLACK, 0.5 * asked.turns))
    band = asked.band(asked.turns - slack, asked.turns + slack)
    heading = between("yaw_turns", band.low, band.high).model_copy(update={"absolute": asked.way == 0.0})
    return Criterion(
        key="keeps_heading",
        title="Goes on in the heading it turned to",
        description=f"Afterwards the turns since the start stay between {band.low:g} and {band.high:g} for "
        f"{STAYS_SHARE:.0%} of the time.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.FRACTION, (heading,), Band(STAYS_SHARE), margin=STAYS_SHARE),
        after=asked.key,
    )


def _keeps_spinning(asked: _RequestedTurn, judged_s: float) -> Criterion:
    """Stops one spike of the yaw rate from passing as a spin."""
    bound = at_most("yaw_rate", -TURNING) if asked.way < 0 else at_least("yaw_rate", TURNING)
    bound = bound.model_copy(update={"absolute": asked.way == 0.0})
    held = asked.duration_s is not None and not asked.exact
    share = KEEPS_SHARE if held else round(max(SPUN_S, 0.4 * asked.turns) / judged_s, 3)
    return Criterion(
        key="keeps_spinning",
        title="Spins for the whole time" if held else "Takes the time that a spin takes",
        description=f"In {100 * share:g}% of the steps or more it turns to {'the ' if asked.way else ''}{asked.side} "
        f"at {TURNING:g} rad/s or faster.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.FRACTION, (bound,), Band(share), margin=share),
    )
