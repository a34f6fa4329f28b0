"""Findings from a probe training: can the return be raised, and do the criteria rise with it?"""

from collections.abc import Sequence
from statistics import fmean

from p2p.contracts.intent import Comparison, needed, number
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.reward import ProbedCriterion, RewardProbe

APPROACHED = 0.1
"""Share of the way to what is wanted that counts as a rise. A probe makes a small part of the steps of a training, so
most criteria are still missed at its end; most of the good rewards it was tried with cover more than half of the way
of one of them."""


def probed_criteria(at_steps: Sequence[Sequence[CriterionScore]]) -> tuple[ProbedCriterion, ...]:
    """Criteria over the checkpoints of a probe.

    Args:
        at_steps: Scores at each checkpoint, the untrained policy first; the same criteria in the same order.
    """
    found = []
    for scores in zip(*at_steps, strict=True):
        first, last = scores[0], scores[-1]
        probed = ProbedCriterion(
            key=last.key,
            title=last.title,
            unit=last.unit,
            wanted=needed(last.comparison, last.threshold, last.upper, last.unit),
            weight=last.weight,
            values=tuple(score.value for score in scores),
            met_shares=tuple(score.met_share for score in scores),
            met=last.met,
            approached=None if first.met else _approached(first, last),
        )
        found.append(probed)
    return tuple(found)


def probe_warnings(probe: RewardProbe) -> tuple[str, ...]:
    """Problems of a probe, in words."""
    first, last = probe.returns[0], probe.returns[-1]
    told = f"In a probe training of {probe.steps[-1]:,} steps the return went from {first:.4g} to {last:.4g}"
    rose = any(low > probe.intervals[0][1] for low, _ in probe.intervals[1:])  # disjoint intervals
    if not rose:
        return (
            f"{told}: nothing was learnt, as far as {len(probe.steps)} measurements tell. Make the reward denser, "
            "or its terms larger against the noise of random actions.",
        )
    words = _unasked(probe) or _opposite(probe)
    return (f"{told} while {words}.",) if words else ()


def _unasked(probe: RewardProbe) -> str:
    """Warn if no criterion rises with the return."""
    open_ones = [criterion for criterion in probe.criteria if criterion.approached is not None]
    if not open_ones or any((criterion.approached or 0.0) >= APPROACHED for criterion in open_ones):
        return ""
    worst = min(open_ones, key=lambda criterion: criterion.approached or 0.0)
    return (
        f"no criterion came nearer to what is wanted ({worst.title}: {number(worst.values[0])} to "
        f"{number(worst.values[-1])} {worst.unit}, wanted {worst.wanted}): the reward is earned by something that was "
        "not asked for"
    )


def _opposite(probe: RewardProbe) -> str:
    """Warn if the heaviest criteria move away from their targets, on average if several do."""
    heaviest = max((criterion.weight for criterion in probe.criteria), default=0.0)
    goals = [one for one in probe.criteria if one.weight == heaviest and one.approached is not None]
    if not goals or fmean(max(-1.0, one.approached or 0.0) for one in goals) > -APPROACHED:
        return ""
    told = ", ".join(
        f"{one.title}: {number(one.values[0])} to {number(one.values[-1])} {one.unit}, wanted {one.wanted}"
        for one in goals
    )
    return f"what was asked for got worse ({told}): the reward is earned by the opposite, or by something else"


def _approached(first: CriterionScore, last: CriterionScore) -> float:
    """Share of the way to the target, by value, partial credit or share of rollouts that meet it.

    The largest counts, as the mean value may move away while more rollouts meet it; where none rose, the smallest.
    """
    gains = [_share(1.0 - first.score, 1.0 - last.score), _share(1.0 - first.met_share, 1.0 - last.met_share)]
    if first.value is not None and last.value is not None:
        gains.append(_share(_missing(first, first.value), _missing(last, last.value)))
    return max(gains) if max(gains) > 0 else min(gains)


def _share(before: float, after: float) -> float:
    return (before - after) / before if before > 0 else 0.0


def _missing(score: CriterionScore, value: float) -> float:
    """Distance of a value from the required range, in its unit."""
    below, above = max(0.0, score.threshold - value), max(0.0, value - score.threshold)
    if score.comparison is Comparison.AT_LEAST:
        return below
    if score.comparison is Comparison.AT_MOST:
        return above
    return below + max(0.0, value - (score.threshold if score.upper is None else score.upper))
