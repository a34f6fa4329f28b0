"""Two systems on the same cases: how much better one is, and how sure.

The case is the unit of chance. Sessions of one case are alike, so the seeds of a case are averaged first, and only the
differences of cases are resampled. To resample seeds within the resampled cases as well counts the noise between seeds
twice: `p2p lab suites` measures it, and every other figure named here.

The interval is a percentile bootstrap over cases with two corrections for few cases:

- The quantiles are widened as Student's t widens the normal's (T. Hesterberg, "What Teachers Should Know About the
  Bootstrap", 2015, https://doi.org/10.1080/00031305.2015.1089789).
- Where values count successes, two pseudo-cases are added, one in favour of each system, as D. Bonett and R. Price do
  for paired proportions (2012, https://doi.org/10.3102/1076998611411915). Without them, ten cases without a difference
  would prove that there is none.

The test flips the signs of the cases' differences (R. A. Fisher 1935): if the systems are equal, either sign is as
likely. Standard library alone: the front ends start without numpy.
"""

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import mul
from statistics import NormalDist, fmean

from p2p.analysis.intervals import mean_interval, share_interval, t_quantile
from p2p.contracts.suite_comparison import Difference, Estimate

DRAWS = 4000
"""Of the bootstrap: the ends of an interval move by about 1 % of its width with another seed."""
FLIPS = 10_000
MOST_SUMS = 1 << 16
"""Distinct sums up to which the permutation test is exact: always for pass rates, up to 16 cases for other values."""
PSEUDO_CASE = 0.5
"""Difference of a pseudo-case with one seed; n seeds take it through √n, as they take the noise of a case."""
SETTLED_CASES = 8
"""Cases from which a difference has some chance to be told from none; see `p2p lab suites`."""
_SAME = 1e-12
"""A difference below it is a rounding error."""
_UNIT = 10**12
"""Parts into which 1 is divided where values are no shares of small whole numbers."""

Values = Mapping[str, Sequence[float]]
"""Case -> values of its sessions."""


def estimate(values: Values, *, bounded: bool) -> Estimate:
    """Mean over cases with its 95 % interval.

    Args:
        values: One run's. A case without a value is left out.
        bounded: Whether all values lie in [0, 1]: then the interval is Wilson's with the effective number of trials, at
            most as many as there are sessions; otherwise Student's t.

    Raises:
        ValueError: values that are said to be bounded are not.
    """
    means = [fmean(case) for case in values.values() if case]
    sessions = sum(len(case) for case in values.values())
    interval = share_interval(means, sessions) if bounded else mean_interval(means)
    low, high = interval or (None, None)
    return Estimate(mean=fmean(means) if means else None, low=low, high=high, n_cases=len(means))


def difference(first: Values, second: Values, *, successes: bool, seed: int = 0, draws: int = DRAWS) -> Difference:
    """Second minus first over the cases that both have, with its 95 % interval and p.

    Args:
        first: Values of one run; seeds need not be the same, nor as many.
        second: Those of the other.
        successes: Whether values are successes, or shares of them, in [0, 1]; not scores, which move little by little.
        seed: Of the bootstrap, and of the permutations where they are drawn.
        draws: Of the bootstrap; of permutations, where they are drawn, as many times `FLIPS / DRAWS`.
    """
    common = [case for case in first if first[case] and second.get(case)]
    found = [fmean(second[case]) - fmean(first[case]) for case in common]
    if len(found) < 2:
        mean = found[0] if found else None
        return Difference(mean=mean, low=None, high=None, p=None, n_cases=len(found), n_changed=_changed(found))
    seeds = fmean([2 / (1 / len(first[case]) + 1 / len(second[case])) for case in common])
    pseudo = PSEUDO_CASE / math.sqrt(seeds)
    low, high = bootstrap_interval([*found, pseudo, -pseudo] if successes else found, draws=draws, seed=seed)
    mean = fmean(found)
    return Difference(
        mean=mean,
        low=min(mean, max(-1.0, low)) if successes else low,
        high=max(mean, min(1.0, high)) if successes else high,
        p=sign_flip(found, draws=round(draws * FLIPS / DRAWS), seed=seed),
        n_cases=len(found),
        n_changed=_changed(found),
    )


def _changed(differences: Sequence[float]) -> int:
    return sum(abs(value) > _SAME for value in differences)


def bootstrap_interval(values: Sequence[float], *, draws: int = DRAWS, seed: int = 0) -> tuple[float, float]:
    """95 % interval of the mean: percentile bootstrap with quantiles widened for few values.

    Raises:
        ValueError: fewer than two values.
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"expected two values or more, got {n}")
    rng = random.Random(seed)
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(draws))
    tail = NormalDist().cdf(-math.sqrt(n / (n - 1)) * t_quantile(n - 1))
    return _quantile(means, tail), _quantile(means, 1 - tail)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def sign_flip(differences: Sequence[float], *, draws: int = FLIPS, seed: int = 0) -> float:
    """Two-sided p of no difference: how often random signs make the sum as large as it is.

    Exact where the sums of all signs fall together on few values, as those of pass rates do; otherwise drawn.

    Args:
        differences: One per case. A case without a difference changes nothing.
        draws: Of signs, where their sums are too many to list.
        seed: Of the draws.

    Returns:
        In (0, 1]; 1 where no case differs.
    """
    changed = _whole_numbers([value for value in differences if abs(value) > _SAME])
    seen = abs(sum(changed))
    counts = _sums(changed)
    if counts is not None:
        extreme = sum(count for total, count in counts.items() if abs(total) >= seen)
        return extreme / float(1 << len(changed))
    rng = random.Random(seed)
    hits: int = sum(abs(sum(map(mul, rng.choices((-1, 1), k=len(changed)), changed))) >= seen for _ in range(draws))
    return (1 + hits) / (1 + draws)


def _whole_numbers(values: Sequence[float]) -> list[int]:
    """The same values in a unit in which all are whole, so that equal sums are equal: shares have a common one."""
    shares = [Fraction(value).limit_denominator(10_000) for value in values]
    unit = math.lcm(*(share.denominator for share in shares))
    if unit > _UNIT or any(abs(share - value) > _SAME for share, value in zip(shares, values, strict=True)):
        return [round(value * _UNIT) for value in values]
    return [int(share * unit) for share in shares]


def _sums(values: Sequence[int]) -> dict[int, int] | None:
    """Every sum that signs can make, and by how many; None if there are too many to list."""
    counts = {0: 1}
    for value in values:
        grown: dict[int, int] = {}
        for total, count in counts.items():
            for signed in (total + value, total - value):
                grown[signed] = grown.get(signed, 0) + count
        if len(grown) > MOST_SUMS:
            return None
        counts = grown
    return counts


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for being several (S. Holm 1979), in the order given.

    With them, the chance of one false alarm among all comparisons stays below the level.
    """
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    corrected = [0.0] * len(ps)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        corrected[index] = highest
    return corrected
