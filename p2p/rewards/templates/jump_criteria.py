"""Criteria of jumps: how high, how often, and what catches the ways to meet that without jumping."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from p2p.contracts.intent import Category, Criterion, Predicate, Statistic, Window
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
from p2p.rewards.templates.plan import Plan, Stage
from p2p.rewards.templates.skill import Manner, Params

ALOFT_S = 0.1
"""How long a jump is above half its height [s]: free flight takes 0.2 s for 0.1 m."""
RISE = 0.5
"""Share of the height asked for that the torso must rise by, as `jump_height` has it: who draws up the legs falls."""
STARTED = Window(after=(at_most("airborne", 0.5),))
"""From when it is on the floor: some robots are dropped at their start, which is no jump."""
WITHOUT = 0.4
"""Longest part of the episode without a jump, where they are to be repeated."""
NEARLY = 0.6
"""Share of the height asked for from which on a flight counts as one more jump where a number is said."""
LANDED_S = 0.1
"""How long it must be on its feet after a jump [s]."""
ON_THE_SPOT = 0.5
"""How far from its start "in place" lets it get [m]."""


@dataclass(frozen=True, slots=True)
class AskedJumps:
    """What is asked for."""

    clearance: float
    """Under the lowest point [m]."""
    times: int
    exact: bool
    """Whether more are too many."""
    goes_on: bool
    """Whether they are to be repeated, without a number."""
    judged_s: float
    """Length of the judged episode [s]."""

    @property
    def _once(self) -> bool:
        return self.times == 1 and not self.exact

    @property
    def nearly(self) -> float:
        """Height from which on a flight uses up one of the number that is asked for [m]."""
        return round(NEARLY * self.clearance, 4)

    @property
    def words(self) -> str:
        """How often, as in "3 times"."""
        return f"{self.times} {'time' if self.times == 1 else 'times'}"

    @property
    def often(self) -> str:
        """How a description begins."""
        if self._once:
            return "At least once"
        return f"{self.words}{'' if self.exact else ' or more'}"

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


def clearance_of(plan: Plan) -> float:
    """Height that a jump's plan asks for [m]: its first phase goes up to it."""
    return plan.milestones[0].amount


def jumps(asked: AskedJumps) -> Criterion:
    """Decide whether it jumped as high and as often as was asked for."""
    return Criterion(
        key="jumps",
        title=f"Jumps {asked.clearance:g} m off the floor{asked.number}",
        description=f"{asked.often} the lowest point of the whole robot is {asked.clearance:g} m above where it rests.",
        category=Category.DYNAMICS,
        predicate=asked.reached("clearance", asked.clearance, STARTED),
        weight=2.0,
    )


def guards_of(asked: AskedJumps, params: Params, body: RobotFacts, stage: Stage) -> Iterator[Criterion]:
    """What catches the ways to be so high so often without jumping as it was asked for."""
    yield from stays_upright(body, params)
    yield stays_near(ON_THE_SPOT if Manner.IN_PLACE in params.manners else body.jump.drift)
    if stage.last:
        yield ends_on_its_feet(body, asked.judged_s)
    if asked.times == 1:
        yield _lands(body, asked.clearance)
    yield _rises(asked)
    yield _flies(asked.clearance)
    if asked.times > 1:
        yield _lands_between(asked)
    if asked.exact:
        yield _no_more(asked)
    if asked.goes_on and stage.alone:
        yield _keeps_jumping(asked)


def _rises(asked: AskedJumps) -> Criterion:
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


def _lands_between(asked: AskedJumps) -> Criterion:
    """Stops one high jump with kicking legs from counting as several."""
    times = float(asked.times)
    return Criterion(
        key="lands_between",
        title="Comes down between the jumps",
        description=f"It comes to be on the floor {asked.words} or more, the start included.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT_EVENTS, (at_most("airborne", 0.5),), Band(times), margin=times),
    )


def _no_more(asked: AskedJumps) -> Criterion:
    """Counts slightly lower jumps too, against the stated number."""
    times, height = asked.times, asked.nearly
    return Criterion(
        key="jumps_no_more",
        title="Makes no other jumps",
        description=f"{asked.words} or less its lowest point is {height:g} m above where it rests.",
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


def _keeps_jumping(asked: AskedJumps) -> Criterion:
    """Stops a few jumps in the first second, then standing, from passing as jumping again and again."""
    clearance, longest = asked.clearance, round(WITHOUT * asked.judged_s, 2)
    return Criterion(
        key="keeps_jumping",
        title="Goes on jumping",
        description=f"It is never without a jump of {clearance:g} m for more than {longest:g} s.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.LONGEST_HOLD, (at_most("clearance", clearance),), below(longest), margin=longest),
    )
