"""Worlds: rules by which the chances of cases are drawn, and what two systems reach on them."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Case = tuple[float, float]
"""What either system reaches on a case in the long run."""
Cases = Callable[[random.Random, int], list[Case]]
Draw = Callable[[random.Random, float, int], list[float]]
Seeds = Callable[[random.Random, int], int]

BODIES = 6
ALIKE = 0.5
"""Correlation of the seeds of one case, in the world where they are alike."""
PRECISION = 8.0
"""Of scores: that of a beta distribution around what a case reaches in the long run."""


@dataclass(frozen=True)
class World:
    """A rule for suites.

    Args:
        name: In the table.
        cases: Draws cases.
        draw: Draws the values of so many sessions of a system that reaches so much on their case.
        seeds: Sessions of a case, from the number that is planned.
        equal: Whether the two systems are equal on every case.
        bounded: Whether values lie in [0, 1].
        successes: Whether they are successes, not scores or costs.
    """

    name: str
    cases: Cases
    draw: Draw
    seeds: Seeds
    equal: bool
    bounded: bool = True
    successes: bool = True


def independently(case: Callable[[random.Random], Case]) -> Cases:
    """Cases drawn one by one."""
    return lambda rng, n: [case(rng) for _ in range(n)]


def passes(rng: random.Random, chance: float, n: int) -> list[float]:
    """Sessions that pass or not, each by itself."""
    return [float(rng.random() < chance) for _ in range(n)]


def alike_passes(rng: random.Random, chance: float, n: int) -> list[float]:
    """Sessions whose seeds are alike: all of them share what chance made of the system that day (beta-binomial)."""
    if not 0 < chance < 1:
        return passes(rng, chance, n)
    weight = (1 - ALIKE) / ALIKE
    return passes(rng, rng.betavariate(max(1e-3, chance * weight), max(1e-3, (1 - chance) * weight)), n)


def scores(rng: random.Random, mean: float, n: int) -> list[float]:
    """Scores in [0, 1] around the case's own."""
    mean = min(0.999, max(0.001, mean))
    return [rng.betavariate(mean * PRECISION, (1 - mean) * PRECISION) for _ in range(n)]


def costs(rng: random.Random, mean: float, n: int) -> list[float]:
    """Seconds or dollars: lognormal around the case's own, so that some sessions take many times as long."""
    return [mean * rng.lognormvariate(-0.5 * 0.6**2, 0.6) for _ in range(n)]


def as_planned(_: random.Random, n: int) -> int:
    """Every case has as many sessions as planned."""
    return n


def unequal(rng: random.Random, n: int) -> int:
    """One to twice as many sessions as planned, less one; each system has its own."""
    return rng.randint(1, max(2, 2 * n - 1))


def clipped(value: float) -> float:
    """The nearest number in [0, 1]."""
    return min(1.0, max(0.0, value))


def mixed(rng: random.Random) -> float:
    """Cases that are mostly easy or hard."""
    return rng.betavariate(0.8, 0.8)


def same(chance: Callable[[random.Random], float]) -> Cases:
    """Two equal systems."""

    def case(rng: random.Random) -> Case:
        both = chance(rng)
        return both, both

    return independently(case)


def lifted(lift: float) -> Cases:
    """A change that helps some cases and hurts others, with this mean before it meets 0 or 1."""

    def case(rng: random.Random) -> Case:
        chance = mixed(rng)
        return chance, clipped(chance + rng.gauss(lift, 0.15))

    return independently(case)


def moved_in_odds(chance: Callable[[random.Random], float], shift: float) -> Cases:
    """A change of the odds: small where nearly all or nearly none pass."""

    def case(rng: random.Random) -> Case:
        before = min(0.999, max(0.001, chance(rng)))
        odds = math.log(before / (1 - before)) + rng.gauss(shift, 0.7)
        return before, 1 / (1 + math.exp(-odds))

    return independently(case)


def some_break(share: float) -> Cases:
    """A defect: this share of the cases fails for good, the others are as before."""

    def case(rng: random.Random) -> Case:
        before = 0.05 if rng.random() < 0.3 else 0.95
        return before, 0.02 if rng.random() < share else before

    return independently(case)


def some_trade(share: float) -> Cases:
    """A trade: as many cases turn from easy to hard as from hard to easy."""

    def case(rng: random.Random) -> Case:
        before = 0.03 if rng.random() < 0.5 else 0.97
        return before, 1 - before if rng.random() < share else before

    return independently(case)


def by_body(rng: random.Random, n: int) -> list[Case]:
    """A change that is the same for all cases of a body: what holds for six bodies need not for a seventh."""
    shifts = [rng.gauss(0.1, 0.2) for _ in range(BODIES)]
    chances = [rng.uniform(0.25, 0.75) for _ in range(n)]
    return [(chance, clipped(chance + shifts[index % BODIES])) for index, chance in enumerate(chances)]


def dearer(rng: random.Random) -> Case:
    """A system that takes a fifth longer on the average; cases differ by an order of magnitude."""
    before = rng.lognormvariate(0.0, 0.8)
    return before, before * rng.lognormvariate(math.log(1.2), 0.3)


def easy(rng: random.Random) -> float:
    """Nearly all pass."""
    return rng.betavariate(9, 1)


def hard(rng: random.Random) -> float:
    """Nearly none pass."""
    return rng.betavariate(1, 9)


def very_easy(rng: random.Random) -> float:
    """All but one of thirty sessions pass."""
    return rng.betavariate(30, 1)


def very_hard(rng: random.Random) -> float:
    """One of thirty sessions passes."""
    return rng.betavariate(1, 30)


def even(rng: random.Random) -> float:
    """Cases of every difficulty."""
    return rng.uniform(0.0, 1.0)


CHOSEN_ON: Sequence[World] = (
    World("equal", same(mixed), passes, as_planned, equal=True),
    World("+20 points", lifted(0.2), passes, as_planned, equal=False),
    World("easy, better odds", moved_in_odds(easy, 0.8), passes, as_planned, equal=False),
    World("hard, better odds", moved_in_odds(hard, 0.8), passes, as_planned, equal=False),
    World("a tenth breaks", some_break(0.1), passes, as_planned, equal=False),
    World("a tenth changes places", some_trade(0.1), passes, as_planned, equal=False),
)
"""Rules that the size of the pseudo-cases was chosen on."""
OTHERS: Sequence[World] = (
    World("equal, all very easy", same(very_easy), passes, as_planned, equal=True),
    World("equal, all very hard", same(very_hard), passes, as_planned, equal=True),
    World("equal, every difficulty", same(even), passes, as_planned, equal=True),
    World("equal, seeds alike", same(mixed), alike_passes, as_planned, equal=True),
    World("equal, unequal seeds", same(mixed), passes, unequal, equal=True),
    World("equal, scores", same(mixed), scores, as_planned, equal=True, successes=False),
    World(
        "equal, costs",
        same(lambda rng: rng.lognormvariate(0.0, 0.8)),
        costs,
        as_planned,
        equal=True,
        bounded=False,
        successes=False,
    ),
    World("very easy, worse odds", moved_in_odds(very_easy, -1.0), passes, as_planned, equal=False),
    World("very hard, better odds", moved_in_odds(very_hard, 1.0), passes, as_planned, equal=False),
    World("+10 points, seeds alike", lifted(0.1), alike_passes, as_planned, equal=False),
    World("+10 points, unequal seeds", lifted(0.1), passes, unequal, equal=False),
    World("+10 points, scores", lifted(0.1), scores, as_planned, equal=False, successes=False),
    World(
        "costs, a fifth dearer", independently(dearer), costs, as_planned, equal=False, bounded=False, successes=False
    ),
    World("a change by body", by_body, passes, as_planned, equal=False),
)
"""Rules that nothing was chosen on."""
LIFTS: Sequence[World] = (
    CHOSEN_ON[0],
    World("+10 points", lifted(0.1), passes, as_planned, equal=False),
    CHOSEN_ON[1],
)
"""For the power of a design."""
