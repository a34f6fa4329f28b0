"""False alarms, coverage and power of the statistics of suites, on simulated suites."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from p2p.analysis.paired import Values, difference, estimate
from p2p.contracts.suite_comparison import Difference, Estimate
from p2p.lab.suites.worlds import World

LEVEL = 0.05
CASES_FOR_TRUTH = 40_000
"""Drawn to know the mean difference of a world: an error of about 0.001 for passes."""
DRAWS = 800
"""Of a simulated suite's bootstrap, a fifth of a comparison's: the ends scatter a little more, and lie no elsewhere."""


@dataclass(frozen=True, slots=True)
class Honesty:
    """What came of the simulated suites of one world and design."""

    world: str
    n_cases: int
    n_seeds: int
    n_suites: int
    equal: bool
    truth: float
    """Mean difference over all cases of the world."""
    alarms: float
    """Share of suites with p ≤ 0.05: false alarms for equal systems, power for others."""
    covered: float
    """Share of suites whose interval holds the truth."""
    width: float
    """Of the interval, on the average."""
    estimate_covered: float
    """Share of suites in which the interval of the second system's own mean holds the truth."""
    hierarchical_covered: float | None
    """The same as `covered` for a bootstrap of cases and of seeds within them; None where it was not asked for."""


def simulate(world: World, n_cases: int, n_seeds: int, n_suites: int, seed: int, *, rival: bool = False) -> Honesty:
    """Hold the statistics of so many suites against the truth.

    Args:
        world: Rule for the suites.
        n_cases: Of each suite.
        n_seeds: Sessions of each case, as planned.
        n_suites: How many suites.
        seed: Of everything that is drawn.
        rival: Whether the bootstrap of cases and seeds is measured too.
    """
    rng = random.Random(f"{seed} {world.name} {n_cases} {n_seeds}")
    known = world.cases(rng, CASES_FOR_TRUTH) if world.name != "a change by body" else _many_bodies(world, rng)
    truth = 0.0 if world.equal else fmean(second - first for first, second in known)
    level = fmean(second for _, second in known)
    alarms, covered, own, rivals, widths = [], [], [], [], []
    for number in range(n_suites):
        first, second = _suite(world, rng, n_cases, n_seeds)
        found = difference(first, second, successes=world.successes, seed=number, draws=DRAWS)
        mean = estimate(second, bounded=world.bounded)
        low, high = ends(found)
        alarms.append(found.p is not None and found.p <= LEVEL)
        covered.append(low <= truth <= high)
        widths.append(high - low)
        low, high = ends(mean)
        own.append(low <= level <= high)
        if rival:
            low, high = hierarchical_interval(first, second, rng)
            rivals.append(low <= truth <= high)
    return Honesty(
        world=world.name,
        n_cases=n_cases,
        n_seeds=n_seeds,
        n_suites=n_suites,
        equal=world.equal,
        truth=truth,
        alarms=fmean(alarms),
        covered=fmean(covered),
        width=fmean(widths),
        estimate_covered=fmean(own),
        hierarchical_covered=fmean(rivals) if rivals else None,
    )


def ends(found: Difference | Estimate) -> tuple[float, float]:
    """Interval of two cases or more."""
    assert found.low is not None, "an interval needs two cases"
    assert found.high is not None
    return found.low, found.high


def _many_bodies(world: World, rng: random.Random) -> list[tuple[float, float]]:
    return [case for _ in range(CASES_FOR_TRUTH // 6) for case in world.cases(rng, 6)]


def _suite(world: World, rng: random.Random, n_cases: int, n_seeds: int) -> tuple[Values, Values]:
    cases = world.cases(rng, n_cases)
    names = [f"case-{number}" for number in range(n_cases)]
    first = {n: world.draw(rng, case[0], world.seeds(rng, n_seeds)) for n, case in zip(names, cases, strict=True)}
    second = {n: world.draw(rng, case[1], world.seeds(rng, n_seeds)) for n, case in zip(names, cases, strict=True)}
    return first, second


def hierarchical_interval(first: Values, second: Values, rng: random.Random) -> tuple[float, float]:
    """95 % interval by a plain percentile bootstrap of cases, then of seeds within each."""
    pairs = [(first[case], second[case]) for case in first]
    means = []
    for _ in range(DRAWS):
        drawn = rng.choices(pairs, k=len(pairs))
        means.append(
            fmean(sum(rng.choices(b, k=len(b))) / len(b) - sum(rng.choices(a, k=len(a))) / len(a) for a, b in drawn)
        )
    means.sort()
    return means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]


def power_table(rows: Sequence[Honesty]) -> str:
    """Share of suites with an alarm for each design, in Markdown."""
    worlds = list(dict.fromkeys(row.world for row in rows))
    lines = [f"| cases × seeds | {' | '.join(worlds)} | width of the interval |", "|---" * (len(worlds) + 2) + "|"]
    for design in dict.fromkeys((row.n_cases, row.n_seeds) for row in rows):
        found = {row.world: row for row in rows if (row.n_cases, row.n_seeds) == design}
        cells = " | ".join(f"{found[name].alarms:.1%}" for name in worlds)
        lines.append(f"| {design[0]} × {design[1]} | {cells} | {fmean(row.width for row in found.values()):.2f} |")
    return "\n".join(lines)


def honesty_table(rows: Sequence[Honesty]) -> str:
    """Coverage and false alarms of each world for each design, in Markdown."""
    designs = list(dict.fromkeys((row.n_cases, row.n_seeds) for row in rows))
    head = " | ".join(f"{cases} × {seeds}" for cases, seeds in designs)
    lines = [f"| world: interval covers; false alarms | {head} |", "|---" * (len(designs) + 1) + "|"]
    for world in dict.fromkeys(row.world for row in rows):
        found = {(row.n_cases, row.n_seeds): row for row in rows if row.world == world}
        cells = [_cell(found[design]) if design in found else "" for design in designs]
        lines.append(f"| {world} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: Honesty) -> str:
    alarms = f"; {row.alarms:.1%}" if row.equal else ""
    return f"{row.covered:.1%}{alarms}"
