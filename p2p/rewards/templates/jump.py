"""Template: lift every part of the robot off the floor."""

from dataclasses import dataclass, replace
from math import inf

from p2p.contracts.intent import Category, Criterion, Predicate, Statistic, Window
from p2p.contracts.observe import Counter, Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import (
    GUARD,
    at_least,
    at_most,
    below,
    ends_on_its_feet,
    on_feature,
    on_its_feet,
    on_steps,
    stays_near,
    stays_upright,
)
from p2p.rewards.templates.plan import LONGEST_S, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, number, refuse

ALOFT_S = 0.1
"""How long a jump is above half its height [s]: free flight takes 0.2 s for 0.1 m."""
RISE = 0.5
"""Share of the height asked for that the torso must rise by, as `jump_height` has it: who draws up the legs falls."""
STARTED = Window(after=(at_most("airborne", 0.5),))
"""From when it is on the floor: some robots are dropped at their start, which is no jump."""
REPEATED = 3
"""Jumps that "repeatedly" asks for in one episode."""
WITHOUT = 0.4
"""Longest part of the episode without a jump, where they are to be repeated."""
SECONDS_PER_JUMP = 1.0
"""Time for a jump and what prepares it [s]."""
NEARLY = 0.6
"""Share of the height asked for from which on a flight counts as one more jump where a number is said; a reward that
counted full heights alone was paid in full by robots that made lower jumps beside them."""
HELD = 0.6
"""Share of its weight by which a robot is held up when it begins to learn to jump."""
SEVERAL = 2
"""How many times as long a counted number of jumps trains as one."""
LANDED_S = 0.1
"""How long it must be on its feet after a jump [s]."""
SPARE = 1.2
"""How much higher a jump that must land softly is trained to go: a higher one lands harder, so it just gets there."""
ON_THE_SPOT = 0.5
"""How far from its start "in place" lets it get [m]."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for: how high, how often, and whether more are too many."""

    clearance: float
    times: int
    exact: bool

    @property
    def _once(self) -> bool:
        return self.times == 1 and not self.exact

    @property
    def nearly(self) -> float:
        """Height from which on a flight is one of them where they are counted [m]."""
        return round(NEARLY * self.clearance, 4)

    @property
    def often(self) -> str:
        """How a description begins."""
        if self._once:
            return "At least once"
        return f"{_times(self.times)}{'' if self.exact else ' or more'}"

    @property
    def number(self) -> str:
        """How a title ends."""
        return f" {self.times} times" if self.times > 1 else " once" if self.exact else ""

    def reached(self, feature: str, height: float, window: Window | None = None) -> Predicate:
        """Require that a feature is so high once, or as often as is asked for."""
        if self._once:
            margin = round(self.clearance, 4)
            return on_feature(Statistic.MAX, feature, Band(height), "m", margin=margin, window=window)
        band = Band(float(self.times), float(self.times) if self.exact else inf)
        where = (at_least(feature, height),)
        return on_steps(Statistic.COUNT_EVENTS, where, band, margin=float(self.times), window=window)


class Jump(Template):
    """Jump once, several times, or as high as possible."""

    name = "jump"
    reads = frozenset({"gait", "times", "repeatedly", "highest", "height", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE, Manner.LANDING})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences by number and by height."""
        return (
            "jump",
            "jump repeatedly",
            "jump 3 times",
            "jump as high as possible",
            f"jump {body.jump.once:g} m high",
        )

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot jump."""
        return f"{body.noun} cannot leave the floor"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Clearance under the lowest point, in place, on its feet."""
        if not stage.last and (params.times or 1) > 1:
            raise refuse("several jumps", "in a sequence they must come last")
        if 1.0 + SECONDS_PER_JUMP * (params.times or 1) > (params.duration_s or LONGEST_S):
            limit = params.duration_s or LONGEST_S
            raise refuse(f"{params.times} jumps", f"so many do not fit into the {limit:g} s that are judged")
        if params.height is not None and params.height > 3 * body.jump.high:
            raise refuse(
                f"{params.height:g} m", f"{body.noun} cannot jump that high; about {body.jump.high:g} m is high for it"
            )
        clearance = params.height or (body.jump.high if params.highest else body.jump.once)
        goes_on = params.times is None and (params.repeatedly or params.duration_s is not None)
        times = params.times or (REPEATED if goes_on else 1)
        exact = params.times is not None and not params.repeatedly
        asked = _Asked(clearance, times, exact)
        soft = "soft_landing" in params.qualities
        # Paid for each, robots jump on and on, are hardly on their feet, and land more often than softly.
        counted = exact or (stage.last and not goes_on)
        in_place = Manner.IN_PLACE in params.manners
        single = None if goes_on or counted else body.jump.single_drift_weight
        low, high = round(clearance / 2, 4), round(clearance * (SPARE if soft else 1.0), 4)
        drift = max(single or body.jump.drift_weight, 0.5 if in_place else 0.0)
        judged = params.duration_s or max(body.judged_s, 1.0 + SECONDS_PER_JUMP * times)
        return Plan(
            label="JumpHigh" if params.highest else "Jump",
            summary=f"Getting the whole body {clearance:g} m off the floor, upright"
            + (", on the spot" if in_place else "")
            + (f", {_times(times)} and no more" if exact else ""),
            terms=(
                *(alive(body) if goes_on else _standing(body, clearance)),
                *_terms(body, asked, counted, drift),
                effort(0.02),
            ),
            main=_jumps(asked),
            guards=(
                *stays_upright(body, params),
                stays_near(ON_THE_SPOT if in_place else body.jump.drift),
                *((ends_on_its_feet(body, judged),) if stage.last else ()),
                *((_lands(body, clearance),) if times == 1 else ()),
                _rises(asked),
                _flies(clearance),
                *((_lands_between(times),) if times > 1 else ()),
                *((_no_more(asked),) if exact else ()),
                *((_keeps_jumping(clearance, judged),) if goes_on and stage.alone else ()),
            ),
            definitions=gate(body) | {"landed": _landed(body, clearance), "going": _going(times)},
            counter=Counter(feature="jump_height", low=low, high=asked.nearly if exact else high) if counted else None,
            full=Counter(feature="jump_height", low=low, high=high) if exact else None,
            recipe={
                "total_timesteps": body.budget("jump") * (SEVERAL if exact and times > 1 else 1),
                "terminate_when_unhealthy": body.terminates,
                "curriculum": {"assistance": {"goal": [f"jump_height >= {number(high)}"], "share": HELD}},
            },
            milestones=_up_and_down(clearance),
            seconds=1.0 + SECONDS_PER_JUMP * times,
            judged_s=judged,
        )


def _up_and_down(clearance: float) -> tuple[Milestone, ...]:
    """Up, down again, and a moment on the floor: a step that ended in the air would never see its landing paid."""
    height = round(clearance, 3)
    return (
        Milestone(feature="jump_height", amount=height),
        Milestone(feature="jump_height", amount=-height),
        Milestone(feature="time", amount=2 * LANDED_S),
    )


def _standing(body: RobotFacts, clearance: float) -> tuple[Term, ...]:
    """Bonus for being on the feet; a larger one than usual keeps a robot on the floor that is asked to jump high."""
    weight = body.jump.alive_weight
    if weight is None or (clearance > body.jump.once and weight > body.alive_weight):
        return alive(body)
    return tuple(replace(term, weight=weight) for term in alive(body))


def _landed(body: RobotFacts, clearance: float) -> str:
    """Expression for how far it is down again, in [0, 1].

    A flight that counts is paid in full: paid by their height, robots put their feet down before half of its time.
    """
    return f'max(self.within, tolerance(info["clearance"], 0.0, {number(_low(body))}, {number(clearance)}))'


def _going(times: int) -> str:
    """Expression for whether there are jumps to do, the last of them until it lands."""
    return f"counted < {times} or (counted == {times} and self.within)"


def _low(body: RobotFacts) -> float:
    """Clearance up to which it stays on the floor [m]."""
    return max(body.jump.once / 2, 0.05)


def _terms(body: RobotFacts, asked: _Asked, counted: bool, drift: float) -> list[Term]:
    """`counted` is whether more jumps are not paid; `drift` is the weight of the distance from the start."""
    jump, times = body.jump, asked.times
    u = gate_latex(body)
    going = "" if not counted else "going * " if asked.exact else f"(counted < {times}) * "
    lift = number(max(jump.lift, asked.clearance))
    found = [
        Term("lift", jump.lift_weight, f'{going}upright * np.clip(info["clearance"], 0.0, {lift}) / {lift}',
             rf"{u}\mathrm{{clip}}(h, 0, {lift})/{lift}", "height of the lowest point above the floor"),
        Term("rise", 1.0, f'{going}upright * tolerance(info["height"], {number(jump.rise)}, np.inf, {{margin}})',
             rf"{u}\mathrm{{tol}}(z; {jump.rise:g}, \infty)", "height of the torso", margin=jump.rise_margin),
        Term("drift", drift, 'np.clip(info["displacement"], 0.0, 3.0)', r"\mathrm{clip}(d, 0, 3)",
             "penalty for leaving the spot", sign=-1),
    ]  # fmt: skip
    if counted:
        done, latex_done = ("full", "m") if asked.exact else ("counted", "n")
        stays = f"(counted == {times}) * upright * landed" + (f" * full / {times}" if asked.exact else "")
        latex = rf"[n = N]\,{u}\max(f, \mathrm{{tol}}(h; 0, {number(_low(body))}))" + ("\\,m/N" if asked.exact else "")
        found += [
            Term("jumps", 1.0, f"min({done}, {times}) / {times}", rf"\min({latex_done}, N)/N", "jumps that are done"),
            Term("stays", jump.lift_weight + 1.0, stays, latex, "staying on the floor once they are all done"),
        ]  # fmt: skip
    if jump.slip_weight:
        slip = Term("slip", jump.slip_weight, 'info["speed"]', "v", "penalty for horizontal speed", sign=-1)
        found.append(slip)
    return found


def _times(number: int) -> str:
    return f"{number} {'time' if number == 1 else 'times'}"


def _jumps(asked: _Asked) -> Criterion:
    return Criterion(
        key="jumps",
        title=f"Jumps {asked.clearance:g} m off the floor{asked.number}",
        description=f"{asked.often} the lowest point of the whole robot is {asked.clearance:g} m above where it rests.",
        category=Category.DYNAMICS,
        predicate=asked.reached("clearance", asked.clearance, STARTED),
        weight=2.0,
    )


def _rises(asked: _Asked) -> Criterion:
    """Stops legs that are drawn up, above which the body falls, from passing as a jump, and one flight as several.

    It needs not be on the floor first: who is dropped at the start sinks, and who jumps with the first step rises.
    """
    height = round(RISE * asked.clearance, 4)
    return Criterion(
        key="rises",
        title=f"Rises off the floor{asked.number}",
        description=f"{asked.often} its torso rises in the air to {height:g} m above where it was when it left the "
        "floor.",
        category=Category.DYNAMICS,
        predicate=asked.reached("flight_rise", height),
    )


def _flies(clearance: float) -> Criterion:
    return Criterion(
        key="flies",
        title="Is in the air for as long as a jump takes",
        description=f"For {ALOFT_S:g} s without a break its lowest point is {clearance / 2:g} m above where it rests.",
        category=Category.DYNAMICS,
        predicate=on_steps(
            Statistic.LONGEST_HOLD,
            (at_least("clearance", round(clearance / 2, 4)),),
            Band(ALOFT_S),
            margin=ALOFT_S,
            window=STARTED,
        ),
    )


def _lands_between(times: int) -> Criterion:
    """Stops one high jump with kicking legs from counting as several."""
    return Criterion(
        key="lands_between",
        title="Comes down between the jumps",
        description=f"It comes to be on the floor {times} times or more, the start included.",
        category=Category.DYNAMICS,
        predicate=on_steps(
            Statistic.COUNT_EVENTS, (at_most("airborne", 0.5),), Band(float(times)), margin=float(times)
        ),
    )


def _no_more(asked: _Asked) -> Criterion:
    """Counts slightly lower jumps too, against the stated number."""
    times, height = asked.times, asked.nearly
    return Criterion(
        key="jumps_no_more",
        title="Makes no other jumps",
        description=f"{_times(times)} or less its lowest point is {height:g} m above where it rests.",
        category=Category.DYNAMICS,
        predicate=on_steps(
            Statistic.COUNT_EVENTS, (at_least("clearance", height),), below(times), margin=float(times), window=STARTED
        ),
        weight=GUARD,
    )


def _lands(body: RobotFacts, clearance: float) -> Criterion:
    """Stops a landing on the back or the nose from ending a jump."""
    return Criterion(
        key="lands_on_feet",
        title="Lands on its feet",
        description=f"After it was in the air it is on its feet, the right way up, for {LANDED_S:g} s.",
        category=Category.STABILITY,
        predicate=on_steps(
            Statistic.LONGEST_HOLD,
            (at_least("feet_down", 0.5), *on_its_feet(body)),
            Band(LANDED_S),
            margin=LANDED_S,
            window=Window(after=(at_least("clearance", clearance), at_least("airborne", 0.5))),
        ),
    )


def _keeps_jumping(clearance: float, judged_s: float) -> Criterion:
    """Stops a few jumps in the first second, then standing, from passing as jumping again and again."""
    longest = round(WITHOUT * judged_s, 2)
    return Criterion(
        key="keeps_jumping",
        title="Goes on jumping",
        description=f"It is never without a jump of {clearance:g} m for more than {longest:g} s.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.LONGEST_HOLD, (at_most("clearance", clearance),), below(longest), margin=longest),
    )
