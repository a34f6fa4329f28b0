"""95 % intervals of means and of shares."""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

Z = NormalDist().inv_cdf(0.975)
"""Two-sided 95 % quantile of the normal distribution, 1.95996."""

_T_SMALL = (12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814)
"""Student's 95 % two-sided quantiles for 1 to 10 degrees of freedom (NIST/SEMATECH e-Handbook, 1.3.6.7.2)."""


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's t interval of the mean of `values`; None for fewer than two, which have no spread."""
    n = len(values)
    if n < 2:
        return None
    mean = fmean(values)
    half = t_quantile(n - 1) * stdev(values) / math.sqrt(n)
    return mean - half, mean + half


def share_interval(values: Sequence[float], most_trials: float = math.inf) -> tuple[float, float] | None:
    """Interval of the mean of values in [0, 1], which stays in [0, 1]; None for fewer than two.

    Wilson's interval of as many trials as would give the variance that was seen (n p (1 - p) / s²; the effective
    sample size of Korn and Graubard 1998). Values of 0 and 1 alone give Wilson's interval itself.

    Args:
        values: In [0, 1].
        most_trials: Trials that were made, where they are known: values that happen to be alike count as no more.

    Raises:
        ValueError: a value lies outside [0, 1].
    """
    n = len(values)
    if n < 2:
        return None
    if min(values) < 0 or max(values) > 1:
        raise ValueError(f"expected shares in [0, 1], got {min(values)} to {max(values)}")
    mean, spread = fmean(values), stdev(values)
    if spread == 0 and 0 < mean < 1 and most_trials == math.inf:
        return mean, mean
    within = mean * (1 - mean)
    effective = n * within / spread**2 if spread else math.inf if within else float(n)
    return _wilson(mean, max(float(n), min(effective, most_trials)))


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval of a share of `n` trials (E. B. Wilson 1927).

    Unlike the normal approximation it stays inside [0, 1], and 20 of 20 does not come out as certain.
    https://doi.org/10.1080/01621459.1927.10502953

    Raises:
        ValueError: `n` is not positive, or `successes` lies outside [0, n].
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"expected 0 <= successes <= n and n >= 1, got {successes} of {n}")
    return _wilson(successes / n, n)


def _wilson(share: float, n: float) -> tuple[float, float]:
    z2 = Z * Z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high


def t_quantile(freedom: int) -> float:
    """Student's two-sided 95 % quantile.

    Above 10 degrees of freedom the series of Abramowitz and Stegun 26.7.5, which is off by less than 2e-4 there.

    Raises:
        ValueError: `freedom` is less than 1.
    """
    if freedom < 1:
        raise ValueError(f"degrees of freedom must be at least 1, got {freedom}")
    if freedom <= len(_T_SMALL):
        return _T_SMALL[freedom - 1]
    z = Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return float(z + first / freedom + second / freedom**2 + third / freedom**3)
