"""Problems of a reward's terms, from their values on recorded transitions and known motions."""

import math
from collections.abc import Iterator, Sequence

from p2p.analysis.paid import Paid
from p2p.analysis.reward_audit import term_line
from p2p.analysis.state_audit import remembers
from p2p.contracts.reward import RewardIssue, TermStatistics

DOMINANT_SHARE = 0.9
"""Share of the reward above which one term leaves the others without a say."""
ACTIVE = 1e-9
"""Smallest absolute value at which a term counts as active, and smallest difference between two values."""


def audit_terms(
    terms: Sequence[TermStatistics], source: str, paid: Sequence[Paid] = (), terminates: bool = False
) -> list[RewardIssue]:
    """Problematic terms: a dominating one, inactive ones, and constant ones.

    What transitions of a robot that has learnt nothing seem to show, the motions may refute.

    Args:
        terms: On transitions.
        source: Of the reward, for line numbers.
        paid: The motions it was tried on as well; none for robots that show none.
        terminates: Whether an unhealthy state ends an episode: a bonus for each step teaches not to fall then.
    """
    never = () if remembers(source) else _never_active(terms, paid)  # its turn may come later than what was tried
    found = [*_dominant(terms, paid), *never, *(() if terminates else _constant(terms, paid))]
    return [RewardIssue(severity="warning", message=message, line=term_line(source, name)) for name, message in found]


def _dominant(terms: Sequence[TermStatistics], paid: Sequence[Paid]) -> Iterator[tuple[str, str]]:
    sizes = {term.name: math.hypot(term.mean, term.std) for term in terms}
    shares = _shares(sizes)
    shown = _shares({name: sum(abs(motion.terms.get(name, 0.0)) for motion in paid) for name in sizes})
    # Without those that are never positive: such terms are meant to be small.
    meant = {term.name for term in terms if term.minimum >= -ACTIVE or term.maximum > ACTIVE}
    for term in terms:
        drowned = [name for name in sizes if name != term.name and name in meant and sizes[name] > ACTIVE]
        least = min(shares[term.name], shown[term.name]) if paid else shares[term.name]
        if drowned and least > DOMINANT_SHARE:
            yield (
                term.name,
                f"Term {term.name!r} makes up {least:.0%} of the reward; the other terms hardly count. Scale it down, "
                f"or {', '.join(drowned)} up.",
            )


def _never_active(terms: Sequence[TermStatistics], paid: Sequence[Paid]) -> Iterator[tuple[str, str]]:
    tried = " and in every known motion" if paid else ""
    for term in terms:
        if max(abs(term.minimum), abs(term.maximum)) < ACTIVE and not any(
            abs(motion.terms.get(term.name, 0.0)) >= ACTIVE for motion in paid
        ):
            yield (
                term.name,
                f"Term {term.name!r} was 0 at every step{tried}; what it rewards or punishes never happened. Check "
                "its condition and its factor, or pay for progress towards it.",
            )


def _constant(terms: Sequence[TermStatistics], paid: Sequence[Paid]) -> Iterator[tuple[str, str]]:
    tried = " and in every known motion" if paid else ""
    for term in terms:
        value = term.mean
        varies = term.maximum - term.minimum > ACTIVE * max(1.0, abs(value))
        elsewhere = any(abs(motion.terms.get(term.name, value) - value) > ACTIVE + 1e-6 * abs(value) for motion in paid)
        if abs(value) >= ACTIVE and not varies and not elsewhere:
            yield (
                term.name,
                f"Term {term.name!r} was {value:.3g} at every step{tried}, whatever the robot did: it teaches nothing. "
                "Leave it out, or make it depend on what was asked.",
            )


def _shares(sizes: dict[str, float]) -> dict[str, float]:
    total = sum(sizes.values())
    return {name: size / total if total > 0 else 0.0 for name, size in sizes.items()}
