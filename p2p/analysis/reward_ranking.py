"""A reward's ranking of known motions against that of the criteria: ties and inversions."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.paid import Paid
from p2p.contracts.reward import MotionPay, RewardIssue, RewardRanking

SAME = 0.02
"""Difference of two pays, as a share of the range over all motions, below which they are the same."""
LOW_CORRELATION = 0.1
"""Below this rank correlation with the criteria, a reward pays for something else."""
GOOD_SCORE = 0.75
"""A best motion with less does not show what was asked: how the others rank says little then."""
WORSE_BY = 0.1
"""Motions whose scores are closer are not ranked by the criteria."""
NOISE_PRICE = 1.0
"""Where random actions cost so many times what doing the asked gains over standing, holding still is learnt first."""
OPPOSITE = {"moving forward": "moving backward", "moving backward": "moving forward"}
FEWEST = 4
"""Motions that can be ranked."""
MOST_NAMED = 3
"""Inversions that are told."""


def ranking(paid: Sequence[Paid]) -> RewardRanking | None:
    """A reward's ranking of the motions it was tried on; None for too few motions.

    Args:
        paid: All of them; dashes and motions with noise on their motors are left out.
    """
    shown = [motion for motion in paid if motion.plain]
    if len(shown) < FEWEST:
        return None
    motions = tuple(
        MotionPay(name=motion.name, score=motion.score, pay=motion.earned)
        for motion in sorted(shown, key=lambda motion: -motion.earned)
    )
    scores = [motion.score for motion in shown]
    pays = [motion.earned for motion in shown]
    return RewardRanking(
        motions=motions, correlation=rank_correlation(scores, pays), inversions=tuple(_inversions(shown))
    )


def audit_ranking(paid: Sequence[Paid], terminates: bool) -> list[RewardIssue]:
    """Warnings about a reward's ranking of known motions.

    Args:
        paid: All motions it was tried on; none for robots that show none.
        terminates: Whether an unhealthy state ends an episode.
    """
    shown = [motion for motion in paid if motion.plain]
    if len(shown) < FEWEST:
        return []
    found = [*_flat(shown, terminates)]
    if max(motion.score for motion in shown) >= GOOD_SCORE:
        found += [*_falling(shown, terminates), *_noise(paid, shown), *_against(shown)]
    return [RewardIssue(severity="warning", message=message) for message in found]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None if one side is constant."""
    first, second = _ranks(np.array(one)), _ranks(np.array(other))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, place, count = np.unique(values.round(9), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[place])


def _flat(shown: Sequence[Paid], terminates: bool) -> Iterator[str]:
    """Motions of clearly different worth with equal pay.

    Where nothing ends an episode, a robot that has fallen goes on and may still find what pays.
    """
    best = max(shown, key=lambda motion: motion.score)
    spread = _spread(shown)
    if spread <= 1e-9 * max(1.0, abs(shown[0].earned)):
        yield (
            f"It pays the same ({shown[0].earned:.3g} per step) for every motion it was tried on, {best.name!r} among "
            "them: an untrained policy gets no signal. Pay for progress towards what was asked."
        )
        return
    standing = next((motion for motion in shown if motion.idle and not motion.fallen), None)
    if not terminates or standing is None or best.score - standing.score < WORSE_BY:
        return
    worse = [motion for motion in shown if motion is not standing and best.score - motion.score >= WORSE_BY]
    same = [motion.name for motion in worse if abs(motion.earned - standing.earned) <= SAME * spread]
    opposite = next((other for way, other in OPPOSITE.items() if way in best.name), "")
    wrong_way = [motion.name for motion in worse if opposite and opposite in motion.name]
    fallen = [motion.name for motion in worse if motion.fallen]
    if fallen and wrong_way and {*fallen, *wrong_way} <= set(same):
        yield (
            f"It pays the same for {standing.name!r} as for {_listed(same)} ({standing.earned:.3g} per step): nothing "
            "tells staying up from falling, or standing from going the wrong way, until the robot does by chance what "
            "was asked. Let the pay fall below that of standing, by a term that has a slope there."
        )


def _falling(shown: Sequence[Paid], terminates: bool) -> Iterator[str]:
    standing = next((motion for motion in shown if motion.idle and not motion.fallen), None)
    spread = _spread(shown)
    if not terminates or standing is None:
        return
    better = [
        motion
        for motion in shown
        if motion.fallen and motion.score < standing.score and motion.earned > standing.earned + SAME * spread
    ]
    if better:
        most = max(better, key=lambda motion: motion.earned)
        yield (
            f"It pays more for {most.name!r} ({most.earned:.3g} per step, as the episode ends there) than for "
            f"{standing.name!r} ({standing.earned:.3g}): falling is learnt first. Add a bonus for staying up, "
            "or make the costs smaller."
        )


def _noise(paid: Sequence[Paid], shown: Sequence[Paid]) -> Iterator[str]:
    """Warn if exploration noise costs more than the wanted motion gains."""
    noisy = next((motion for motion in paid if motion.noise_on is not None), None)
    still = next((motion for motion in shown if noisy is not None and motion.name == noisy.noise_on), None)
    best = max(shown, key=lambda motion: (motion.score, motion.earned))
    if noisy is None or still is None or best is still:
        return
    cost = still.total - noisy.total
    gain = best.total - still.total
    if cost > NOISE_PRICE * max(gain, 0.0) and cost > 0:
        yield (
            f"Random actions, as a training begins with, cost {cost:.3g} per step, and {best.name!r} gains only "
            f"{max(gain, 0.0):.3g} over {still.name!r}: holding still is learnt first and hardly unlearnt. Make the "
            "action penalty smaller."
        )


def _against(shown: Sequence[Paid]) -> Iterator[str]:
    """Warn if the whole ranking contradicts the criteria's, or a wrong motion is paid most."""
    best = max(shown, key=lambda motion: motion.score)
    most = max(shown, key=lambda motion: motion.earned)
    ties = [m.name for m in shown if most.earned - m.earned <= SAME * _spread(shown) and best.score - m.score >= 0.3]
    correlation = rank_correlation([motion.score for motion in shown], [motion.earned for motion in shown])
    inverted = list(_inversions(shown))
    wrong = best.earned < most.earned - SAME * _spread(shown)
    if correlation is not None and correlation < LOW_CORRELATION and inverted and wrong:
        yield (
            f"It ranks known motions differently from the criteria (rank correlation {correlation:.2f}): "
            f"{'; '.join(inverted)}."
        )
    elif ties and _spread(shown) > 0:
        yield (
            f"It pays {_listed(ties)} as much as anything, {best.name!r} included, although the criteria rate that "
            f"far lower ({best.score:.0%} for {best.name!r}). Remove the terms that pay for it."
        )


def _inversions(shown: Sequence[Paid]) -> Iterator[str]:
    """Pairs paid most against the criteria, in words."""
    spread = _spread(shown)
    pairs = [
        (worse.earned - better.earned, worse, better)
        for better in shown
        for worse in shown
        if better.score - worse.score >= WORSE_BY and worse.earned - better.earned > SAME * spread
    ]
    for _, worse, better in sorted(pairs, key=lambda pair: -pair[0])[:MOST_NAMED]:
        yield f"{worse.earned:.3g} for {worse.name!r} and {better.earned:.3g} for {better.name!r}"


def _spread(paid: Sequence[Paid]) -> float:
    return max(motion.earned for motion in paid) - min(motion.earned for motion in paid)


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
