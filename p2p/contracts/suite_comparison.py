"""Comparisons of runs of a suite: means over cases and paired differences, with intervals."""

from p2p.contracts.base import Contract


class Estimate(Contract):
    """Mean over cases with its 95 % interval; every case counts once, however many sessions it had."""

    mean: float | None
    """None without a case."""
    low: float | None
    """None for fewer than two cases."""
    high: float | None
    n_cases: int


class Difference(Contract):
    """Paired difference of two runs over the cases that both have: second minus first."""

    mean: float | None
    """Mean of the cases' differences; None without a common case."""
    low: float | None
    """Lower end of its 95 % interval; None for fewer than two cases."""
    high: float | None
    p: float | None
    """Two-sided, of the sign-flip permutation test over cases; None as above."""
    p_holm: float | None = None
    """`p` corrected for all comparisons made at once; None where there is nothing to correct."""
    n_cases: int
    n_changed: int
    """Cases with a difference other than 0: where few differ, nothing is known of the others."""
