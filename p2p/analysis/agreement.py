"""Agreement of two judges: in order, and about a threshold."""

from collections.abc import Sequence
from statistics import correlation

from p2p.contracts.judgment import Agreement

ENOUGH = 3
"""Two points always lie on a line."""


def agreement(first: Sequence[float], second: Sequence[float], threshold: float) -> Agreement:
    """Agreement of two judges about the same rollouts.

    Args:
        first: Scores of one judge.
        second: Scores of the other, in the same order.
        threshold: Score from which a rollout counts as good.

    Raises:
        ValueError: one has scored more rollouts than the other.
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many scores of either judge, got {len(first)} and {len(second)}")
    sides = [(a >= threshold, b >= threshold) for a, b in zip(first, second, strict=True)]
    same = sum(a == b for a, b in sides) / len(sides) if sides else None
    return Agreement(
        n=len(sides), threshold=threshold, spearman=spearman(first, second), kappa=kappa(sides), same_side=same
    )


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties sharing their mean rank; None for fewer than three, or without spread."""
    if len(first) < ENOUGH or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return correlation(_ranks(first), _ranks(second))


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa of two yes-or-no judges (J. Cohen 1960); None if chance alone would always agree."""
    n = len(pairs)
    if not n:
        return None
    observed = sum(a == b for a, b in pairs) / n
    yes = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    expected = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if expected == 1.0 else (observed - expected) / (1 - expected)


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    first = {value: order.index(value) for value in set(values)}
    return [first[value] + (order.count(value) + 1) / 2 for value in values]
